"""A callback for a PyTorch training loop: it sets rates, saves, goes back and evaluates."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from topoloom.learning_rate.callbacks.forks import Branch, Forks, checked_processes
from topoloom.learning_rate.callbacks.snapshot import (
    Disk,
    Memory,
    Stateful,
    Storage,
    put_back,
    pytorch,
    read,
    take,
    write,
)
from topoloom.learning_rate.errors import CannotRestore, InvalidOptions
from topoloom.learning_rate.state_machine.candidate_rounds import begins_round
from topoloom.learning_rate.tuner import InProcess, Tuner


class TuningCallback:
    """Carries out a tuner's actions around the steps of a training loop.

    The loop runs ``while callback.running``: one batch, one `step` with its loss.  Between
    two steps the callback may go back to an earlier state of everything it was given.

    Parameters
    ----------
    tuner : Tuner
        `learning_rate.InProcess`, or any other.
    model, optimizer
        Parameter groups keep the ratios of the rates they have now.
    scheduler, scaler, data : Stateful, optional
        A scheduler (which must not set rates), a gradient scaler, and what yields the
        batches; without ``data`` candidates see different batches and are compared badly.
    others : mapping of Stateful, optional
        More that has a state: an average of weights, a generator.
    evaluate : callable, optional
        Returns the validation loss of the model as it is; needed where the tuner asks.
    folder : path, optional
        Where checkpoints are written; without it they are in memory.
    resume : path, optional
        A file that `save` wrote; training resumes from the file if it exists.
    processes : int
        With `Options.side_by_side` above 1, the number of candidates run at once, each in a
        process forked from this one (`learning_rate.callbacks.forks`), fewer where
        memory does not hold them; 1: one after the other, to the same schedule bit for bit.
    """

    def __init__(
        self,
        tuner: Tuner,
        model: Stateful,
        optimizer: Any,
        *,
        scheduler: Stateful | None = None,
        scaler: Stateful | None = None,
        data: Stateful | None = None,
        others: Mapping[str, Stateful] | None = None,
        evaluate: Callable[[], float] | None = None,
        folder: str | Path | None = None,
        resume: str | Path | None = None,
        processes: int = 1,
    ) -> None:
        pytorch()
        many = checked_processes(processes, tuner)
        self._forks = Forks(many) if many > 1 else None
        self._forked: int | None = None
        named = {"model": model, "optimizer": optimizer, "scheduler": scheduler,
                 "scaler": scaler, "data": data}  # fmt: skip
        if taken := sorted(set(named) & set(others or {})):
            raise InvalidOptions(f"/others/{taken[0]}", "is the name of another part")
        parts = {**named, **(others or {})}
        self._parts: dict[str, Stateful] = {k: v for k, v in parts.items() if v is not None}
        self._tuner, self._optimizer, self._evaluate = tuner, optimizer, evaluate
        self._storage: Storage = Memory() if folder is None else Disk(Path(folder))
        self._ratios = _ratios(optimizer)
        self._losses: list[float] = []
        self._lr: float | None = None
        if resume is not None and Path(resume).exists():
            self.load(resume)
        else:
            self._act()

    @property
    def running(self) -> bool:
        """Whether there are more steps to run."""
        return self._tuner.action.do != "stop"

    @property
    def lr(self) -> float | None:
        """The rate that is set, of the group with the largest."""
        return self._lr

    def set_rate(self) -> None:
        """Set the rate once more, where something else may have set another one."""
        self._set(self._lr)

    def step(self, loss: Any) -> None:
        """Report the loss of the batch whose step was just made; a tensor of one value does."""
        if not self.running:
            raise InvalidOptions("/step", "the run has ended")
        self._losses.append(float(loss.detach() if hasattr(loss, "detach") else loss))
        if len(self._losses) < self._tuner.action.steps:
            return
        losses, self._losses = self._losses, []
        self._tuner.observe(losses)
        self._act()

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
            self._set(results.action.lr)
            return False
        for result in results:
            put_back(result["now"], self._parts)
            for report in result["reports"]:
                tuner.observe(report)
            self._carry_out()
        return True

    def _carry_out(self) -> None:
        while (action := self._tuner.action).do not in ("go_on", "set_lr", "stop"):
            if action.do == "evaluate":
                self._tuner.observe([self._validation_loss()])
                continue
            assert action.slot is not None, "save and restore name a checkpoint"
            if action.do == "save":
                self._storage.put(action.slot, take(self._parts))
            else:
                put_back(self._storage.get(action.slot), self._parts)
            # In this order: a process that dies in between still has its checkpoints.
            self._tuner.observe()
            self._storage.keep_only(action.keep)
        if action.do != "stop":
            self._set(action.lr)

    def _validation_loss(self) -> float:
        if self._evaluate is None:
            raise InvalidOptions("/evaluate", "must be given, the tuner asks for validation")
        return float(self._evaluate())

    def _set(self, lr: float | None) -> None:
        self._lr = lr
        for group, ratio in zip(self._optimizer.param_groups, self._ratios, strict=True):
            value = (lr or 0.0) * ratio
            if hasattr(group["lr"], "fill_"):
                group["lr"].fill_(value)
            else:
                group["lr"] = value

    def save(self, path: str | Path) -> None:
        """Write the whole state to a file, at any step; `load` resumes bit for bit.

        Checkpoints that the tuner may go back to are in it, those of a ``folder`` too.  A fork
        writes nothing: the file is the trainer's.
        """
        if isinstance(self._tuner, Branch):
            return
        slots = {slot: self._storage.get(slot) for slot in self._storage.slots()}
        write(Path(path), {
            "tuner": self._tuner.state_dict(), "losses": list(self._losses), "lr": self._lr,
            "ratios": list(self._ratios), "now": take(self._parts), "slots": slots,
        })  # fmt: skip

    def load(self, path: str | Path) -> None:
        """Resume from a file that `save` wrote; `CannotRestore` leaves the state unchanged."""
        saved = read(Path(path))
        if not isinstance(saved, dict) or "tuner" not in saved or "now" not in saved:
            raise CannotRestore(f"/{Path(path).stem}", "was not written by this callback")
        before = self._tuner.state_dict()
        self._tuner.load_state_dict(saved["tuner"])
        try:
            put_back(saved["now"], self._parts)
        except CannotRestore:
            self._tuner.load_state_dict(before)
            raise
        self._storage.keep_only(())
        for slot, snapshot in saved["slots"].items():
            self._storage.put(slot, snapshot)
        self._losses, self._ratios = list(saved["losses"]), list(saved["ratios"])
        self._set(saved["lr"])


def _ratios(optimizer: Any) -> list[float]:
    rates = [float(group["lr"]) for group in optimizer.param_groups]
    if not rates or not max(rates) > 0:
        raise InvalidOptions("/optimizer", "must have a parameter group with a rate above 0")
    return [rate / max(rates) for rate in rates]
