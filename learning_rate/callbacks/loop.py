"""A callback for a PyTorch training loop: it sets rates, saves, restores and evaluates."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from topoloom.learning_rate.callbacks import resume as files
from topoloom.learning_rate.callbacks.checkpoints import Checkpoints, own_folder
from topoloom.learning_rate.callbacks.divergence import WAYS, end
from topoloom.learning_rate.callbacks.forks import Branch, Forks, forks_of
from topoloom.learning_rate.callbacks.loader_replay import ReplayedLoader
from topoloom.learning_rate.callbacks.losses import Losses
from topoloom.learning_rate.callbacks.parts import batches_of, named_parts, optimizers_of
from topoloom.learning_rate.callbacks.progress import LOG, Progress, Writer
from topoloom.learning_rate.callbacks.ranks import Ranks, is_one_of_many, together
from topoloom.learning_rate.callbacks.rates import Rates
from topoloom.learning_rate.callbacks.snapshot import Stateful
from topoloom.learning_rate.callbacks.start_checks import (
    check_evaluate,
    check_room,
    require_same_options,
    settings_of,
    warn_without_search,
)
from topoloom.learning_rate.errors import InvalidOptions
from topoloom.learning_rate.state_machine.candidate_rounds import begins_round
from topoloom.learning_rate.state_machine.json_codec import encode
from topoloom.learning_rate.tuner import InProcess, Tuner, extended_to


class TuningCallback:
    """Carries out a tuner's actions around the steps of a training loop.

    The loop runs ``while callback.running``: one batch, one `step` with its loss.  With ``data``,
    ``for batch in callback`` is the same loop.  Between two steps the callback may restore an
    earlier state of everything it was given.

    Args:
        tuner: `learning_rate.InProcess`, or any other.
        model, optimizer: One optimizer or a list of optimizers.  Parameter groups keep the ratios
            of the rates they have now, but for `Options.group_ratios`.  No scheduler may set their
            rates.
        scheduler, scaler: An object with a state (a scheduler of something else than the rate), a
            gradient scaler.
        data: The source of the batches; without ``data`` candidates see different batches and are
            compared badly.  The batches of a DataLoader are taken from the callback.
        others: More parts that have a state: an average of weights, a generator.
        evaluate: Returns the validation loss of the model as it is; needed where the options ask
            for it.
        folder: Where checkpoints are written; without it they are in main memory.
        resume: A file that `save` wrote; training resumes from the file if it exists.
        processes: With `Options.side_by_side` above 1, the number of candidates run at once, each
            in a process forked from this one (`learning_rate.callbacks.forks`), fewer where memory
            does not hold them; 1: one after the other, to the same schedule bit for bit.
        loop_steps: The number of steps that the loop makes, where it is not a loop over the
            callback; a number below that of the longest run is refused.
        on_divergence: "raise" or "warn".  Where training diverges beyond recovery, or ends with
            parameters that are not finite, a sound checkpoint is restored, and `Diverged` is raised
            or said.
        writer: Where curves of rates and losses go, as of ``torch.utils.tensorboard``.

    Raises:
        InvalidOptions: An argument does not fit the others or the options; the error names the
            argument.
    """

    def __init__(
        self,
        tuner: Tuner,
        model: Stateful,
        optimizer: Any,
        *,
        scheduler: Stateful | None = None,
        scaler: Stateful | None = None,
        data: Stateful | Iterable[Any] | None = None,
        others: Mapping[str, Stateful] | None = None,
        evaluate: Callable[[], float] | None = None,
        folder: str | Path | None = None,
        resume: str | Path | None = None,
        processes: int = 1,
        loop_steps: int | None = None,
        on_divergence: str = "raise",
        writer: Writer | None = None,
    ) -> None:
        if is_one_of_many() and not isinstance(tuner, Ranks):
            raise InvalidOptions("/tuner", "must be Ranks(tuner) where several ranks train")
        if on_divergence not in WAYS:
            raise InvalidOptions("/on_divergence", f"must be {' or '.join(WAYS)}")
        self._forks = forks_of(processes, tuner)
        self._forked: int | None = None
        optimizers = optimizers_of(optimizer)
        self._data = batches_of(data)
        named = {"model": model, "scheduler": scheduler, "scaler": scaler, "data": self._data}
        self._parts = named_parts(named, optimizers, others or {})
        self._tuner, self._evaluate, self._on_divergence = tuner, evaluate, on_divergence
        self._ranks = tuner if isinstance(tuner, Ranks) else None
        self._checkpoints = Checkpoints(self._parts, own_folder(folder, self._ranks))
        self._losses = Losses()
        self._save: files.Save | None = None
        resumes = resume is not None and files.has_save(Path(resume), self._ranks)
        # A save states the options of the script, so the script resumes a run that was extended.
        self._options = settings = settings_of(tuner)
        self._rates = Rates(optimizers, () if settings is None else settings.group_ratios)
        if settings is not None:
            check_evaluate(settings, evaluate)
            warn_without_search(settings)
            if loop_steps is not None and not resumes:
                check_room(settings, loop_steps, "/loop_steps")
        self._compare_ranks()
        self._progress = Progress(tuner if self._ranks is None else self._ranks.local, writer)
        if resume is not None and resumes:
            self.load(resume)
        self._progress.begins()
        if not resumes:
            self._act()

    @property
    def running(self) -> bool:
        """Whether there are more steps to run."""
        return self._tuner.action.do != "stop"

    @property
    def tuner(self) -> Tuner:
        """The tuner whose actions are carried out."""
        return self._tuner

    @property
    def lr(self) -> float | None:
        """The rate that is set, of the group with the largest."""
        return self._rates.lr

    def __iter__(self) -> Iterator[Any]:
        """Yield batches of ``data`` to the end of the run; `step` must follow each of them."""
        if not hasattr(self._data, "__next__"):
            raise InvalidOptions("/data", "must be given, and yield batches")
        while self.running:
            yield next(self._data)

    def set_rate(self) -> None:
        """Set the rate once more, where something else may have set another one."""
        self._rates.set(self.lr, self._rates.scales)

    def step(self, loss: Any) -> None:
        """Report the loss of the batch whose step was just made; a tensor of one value does.

        A tensor stays on its device until the tuner needs the numbers.
        """
        if not self.running:
            raise InvalidOptions("/step", "the run has ended")
        self._rates.require_set()
        if isinstance(self._data, ReplayedLoader):
            self._data.require_read()
        self._losses.add(loss)
        if len(self._losses) < self._tuner.action.steps:
            return
        self._report(self._losses.taken())
        self._act()

    def extend(self, total_steps: int) -> None:
        """Give the run another length, more or fewer steps, between two calls of `step`.

        The same length again changes nothing, so a script that resumes may call this again.
        With `Ranks`, all ranks call.

        Raises:
            InvalidOptions: The run has ended, or its decay has begun; the error states the least
                length otherwise.
        """
        LOG.info("the run has %d steps", extended_to(self._tuner, total_steps))

    def decay(self) -> None:
        """Let the decay begin now, and shorten the run accordingly; during a search, do nothing."""
        LOG.info("the run has %d steps", extended_to(self._tuner, None))

    def _report(self, losses: list[float]) -> None:
        self._progress.reported(losses)
        self._tuner.observe(losses)

    def _act(self) -> None:
        """Carry out actions until one asks for steps of this process."""
        self._carry_out()
        while self._forks is not None and self._round_is_forked(self._forks):
            pass

    def _round_is_forked(self, forks: Forks) -> bool:
        """Run a round in forks and report its results; return False if no round begins."""
        tuner = self._tuner
        if not isinstance(tuner, InProcess) or not begins_round(tuner.state):
            return False
        if self._forked == tuner.state.spent:  # forks failed before
            return False
        self._forked = tuner.state.spent
        results = forks.round(tuner.state, self._parts)
        if isinstance(results, Branch):
            self._tuner, self._forks = results, None
            self._progress = Progress(results, None)  # a writer does not survive a fork
            self._rates.set(results.action.lr, results.action.scales)
            return False
        for result in results:
            for report in result["reports"]:
                self._report(report)
            self._carry_out()
        return True

    def _carry_out(self) -> None:
        while (action := self._tuner.action).do not in ("go_on", "set_lr", "stop"):
            self._progress.acts(action)
            if action.do == "evaluate":
                self._tuner.observe([self._validation_loss()])
                continue
            assert action.slot is not None, "save and restore name a checkpoint"
            if action.do == "save":
                self._checkpoints.keep_only(action.keep)
                self._checkpoints.save(action.slot)
            else:
                self._checkpoints.restore(action.slot)
                self._compare_ranks()
            self._tuner.observe()
            self._checkpoints.keep_only(action.keep)
        self._progress.acts(action)
        if action.do == "stop":
            end(
                self._tuner, self._checkpoints, self._rates.parameters(), self._ranks,
                self._on_divergence,
            )  # fmt: skip
        else:
            self._rates.set(action.lr, action.scales)

    def _validation_loss(self) -> float:
        if self._evaluate is None:
            raise InvalidOptions("/evaluate", "must be given, the tuner asks for validation")
        return float(self._evaluate())

    def _compare_ranks(self) -> None:
        if self._ranks is not None:
            self._ranks.require_same(self._rates.parameters())

    def save(self, path: str | Path) -> None:
        """Write the whole state to a file, at any step; `load` resumes bit for bit.

        Checkpoints that the tuner may go back to are in it, those of a ``folder`` too.  With
        `Ranks` all ranks call `save`, each with a path of its own, and the save counts when every
        rank has written it.  A fork writes nothing: the file is the trainer's.
        """
        if isinstance(self._tuner, Branch):
            return
        self._save = files.next_save(self._save, self._ranks)
        files.write_save(Path(path), self._save, self.document(), self._ranks)

    def document(self) -> dict[str, Any]:
        """Return the whole state, as `save` writes it."""
        return {
            "tuner": self._tuner.state_dict(), "losses": self._losses.numbers(), "lr": self.lr,
            "scales": list(self._rates.scales), "groups": self._rates.names,
            "ratios": list(self._rates.ratios), "settings": encode(self._options),
            **self._checkpoints.document(),
        }  # fmt: skip

    def load(self, path: str | Path) -> None:
        """Resume from a file that `save` wrote.

        Raises:
            CannotRestore: The file is missing, or does not fit the parts; the state is unchanged.
            InvalidOptions: The tuner has other options than the saved run; the state is unchanged.
            RanksDiffer: The ranks have no save in common, or other parameters after it.
        """
        saved, name = files.read_save(Path(path), self._ranks)
        self.load_document(saved)
        self._save = name

    def load_document(self, saved: Mapping[str, Any]) -> None:
        """Resume from what `document` returned; an error leaves the state unchanged."""
        before, told = self._checkpoints.present(), self._tuner.state_dict()
        try:
            together(self._ranks, lambda: self._checkpoints.load_present(saved))
            require_same_options(saved, self._options)
            self._compare_ranks()
            self._tuner.load_state_dict(saved["tuner"])
        except Exception:
            self._checkpoints.load_present(before)
            self._tuner.load_state_dict(told)
            raise
        self._checkpoints.load(saved)
        self._losses, self._rates.ratios = Losses(saved["losses"]), list(saved["ratios"])
        self._rates.name(saved.get("groups", ()))
        self._rates.set(saved["lr"], saved.get("scales", ()))
