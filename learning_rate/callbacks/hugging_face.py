"""A TrainerCallback for Hugging Face's Trainer, which makes the steps itself.

The trainer's own schedule must leave rates alone (``lr_scheduler_type="constant"``), and its
``max_steps`` must have room for the steps that are thrown away (`Settings.most_steps`).  Both are
checked when training begins.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from topoloom.learning_rate.callbacks.batch_replay import Tape
from topoloom.learning_rate.callbacks.device_transfer import on_cpu, on_device
from topoloom.learning_rate.callbacks.loop import TuningCallback
from topoloom.learning_rate.callbacks.start_checks import check_room, settings_of
from topoloom.learning_rate.errors import (
    CannotRestore,
    InvalidObservation,
    InvalidOptions,
    MissingExtra,
)
from topoloom.learning_rate.tuner import Tuner


def hugging_face_callback(
    tuner: Tuner,
    *,
    evaluate: Callable[[], float] | None = None,
    folder: str | Path | None = None,
    remembered: int = 1024,
    resume: str | Path | None = None,
    on_divergence: str = "raise",
) -> Any:
    """Return a ``transformers.TrainerCallback`` that tunes the rate of a Trainer.

    Args:
        tuner: In process, of a service, or of many ranks.
        evaluate: Returns the validation loss of the model as it is.
        folder: Where checkpoints are written; without it they are in main memory.
        remembered: Batches that may wait for their turn in main memory, and at most 1 GiB of them.
            The trainer prefetches, and cannot go back: a batch that arrives during a replay waits,
            or is dropped where the limit is reached.
        resume: The checkpoint folder that `Trainer.train` resumes from, where that is not
            ``output_dir/checkpoint-N``.
        on_divergence: "raise" or "warn", as in `TuningCallback`.

    Raises:
        MissingExtra: transformers is not installed.

    The loss is that of the model's own output, the mean over a step's micro-batches.  Batches
    are exchanged where the model takes them, so that a loss that the trainer computes outside
    of it (label smoothing) would be of another batch than the output.

    Each checkpoint of the trainer has a file of the tuner, from which
    ``Trainer.train(resume_from_checkpoint=...)`` resumes it.
    """
    try:
        from transformers import TrainerCallback  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise MissingExtra(
            "/transformers", "is not installed: pip install transformers accelerate"
        ) from None
    kind = type("TuningTrainerCallback", (_Steps, TrainerCallback), {})
    given = {"evaluate": evaluate, "folder": folder, "on_divergence": on_divergence}
    return kind(tuner, given, Tape(remembered), resume)


class _Steps:
    """The events of a Trainer that matter, whatever else a TrainerCallback has."""

    def __init__(
        self, tuner: Tuner, given: dict[str, Any], tape: Tape[Any], resume: str | Path | None
    ) -> None:
        self._tuner, self._given, self._tape, self._resume = tuner, given, tape, resume
        self._losses: list[Any] = []
        self._hooks: list[Any] = []
        self._loop: TuningCallback | None = None

    def on_train_begin(
        self, args: Any, state: Any, control: Any, model: Any, optimizer: Any, **_: Any
    ) -> None:
        """Save the first checkpoint, or resume, and listen to the model."""
        kind = getattr(args.lr_scheduler_type, "value", args.lr_scheduler_type)
        if kind != "constant":
            raise InvalidOptions("/lr_scheduler_type", f"must be constant; is {kind}")
        if (settings := settings_of(self._tuner)) is not None:
            check_room(settings, state.max_steps, "/max_steps")
        resume = None
        if state.global_step:
            folder = self._resume or _folder(args, state)
            resume = self._file(Path(folder), args)
            if not resume.exists():
                raise CannotRestore(
                    "/resume",
                    f"must name the folder that training resumes from: {resume} does not exist",
                )
        self._loop = TuningCallback(
            self._tuner, model, optimizer, data=self._tape, resume=resume, **self._given
        )
        self._hooks = [
            model.register_forward_pre_hook(self._exchange, with_kwargs=True),
            model.register_forward_hook(self._listen),
        ]

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Set the rate, which the trainer's own schedule has set meanwhile."""
        if self._loop is not None:
            self._loop.set_rate()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Report the loss of the step, and do what the tuner asks for."""
        if self._loop is None or not self._loop.running:
            return
        losses, self._losses = self._losses, []
        if not losses:
            raise InvalidObservation("/losses", "the model's output must have a loss")
        self._loop.set_rate()
        self._loop.step(sum(losses) / len(losses))
        if not self._loop.running:
            control.should_training_stop = True

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Write the tuner's file into the checkpoint folder of the trainer."""
        if self._loop is not None:
            self._loop.save(self._file(_folder(args, state), args))

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Leave the model alone."""
        for hook in self._hooks:
            hook.remove()

    @staticmethod
    def _file(folder: Path, args: Any) -> Path:
        return folder / f"topoloom-{args.process_index}.pt"

    def _exchange(self, model: Any, args: Any, kwargs: Any) -> Any:
        """Give the model the batch that is due in place of the one that came."""
        if not model.training:
            return None
        due = self._tape.exchanged(on_cpu((args, kwargs)))
        return on_device(due, next(model.parameters()).device)

    def _listen(self, model: Any, args: Any, output: Any) -> None:
        if not model.training:
            return
        loss = output.get("loss") if hasattr(output, "get") else getattr(output, "loss", None)
        if loss is None and isinstance(output, tuple) and output and output[0].ndim == 0:
            loss = output[0]
        if loss is not None:
            self._losses.append(loss.detach().clone())


def _folder(args: Any, state: Any) -> Path:
    """Return the folder in which the trainer saves the present step."""
    return Path(args.output_dir) / f"checkpoint-{state.global_step}"
