"""A TrainerCallback for Hugging Face's Trainer, which makes the steps itself.

The trainer's own schedule must leave rates alone (``lr_scheduler_type="constant"``), and its
``max_steps`` has to have room for the steps that are thrown away (`Settings.most_steps`).
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from topoloom.learning_rate.callbacks.batch_replay import Tape
from topoloom.learning_rate.callbacks.device_transfer import on_cpu, on_device
from topoloom.learning_rate.callbacks.loop import TuningCallback
from topoloom.learning_rate.errors import InvalidObservation, MissingExtra
from topoloom.learning_rate.tuner import Tuner


def hugging_face_callback(
    tuner: Tuner,
    *,
    evaluate: Callable[[], float] | None = None,
    folder: str | Path | None = None,
    remembered: int = 1024,
) -> Any:
    """Return a ``transformers.TrainerCallback`` that tunes the rate of a Trainer.

    Parameters
    ----------
    tuner : Tuner
        In process, of a service, or of many ranks.
    evaluate : callable, optional
        Returns the validation loss of the model as it is.
    folder : path, optional
        Where checkpoints are written; without it they are in memory.
    remembered : int
        Batches, in main memory, that candidates can be given once more.

    Raises
    ------
    MissingExtra
        transformers is not installed.

    Notes
    -----
    The loss is that of the model's own output, the mean over a step's micro-batches.  Batches
    are exchanged where the model takes them, so that a loss that the trainer computes outside
    of it (label smoothing) would be of another batch than the output.
    """
    try:
        from transformers import TrainerCallback  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise MissingExtra(
            "/transformers", "is not installed: pip install 'topoloom[huggingface]'"
        ) from None
    kind = type("TuningTrainerCallback", (_Steps, TrainerCallback), {})
    return kind(tuner, evaluate, folder, remembered)


class _Steps:
    """The events of a Trainer that matter, whatever else a TrainerCallback has."""

    def __init__(
        self,
        tuner: Tuner,
        evaluate: Callable[[], float] | None,
        folder: str | Path | None,
        remembered: int,
    ) -> None:
        self._tuner, self._evaluate, self._folder = tuner, evaluate, folder
        self._tape: Tape[Any] = Tape(remembered)
        self._losses: list[float] = []
        self._hooks: list[Any] = []
        self._loop: TuningCallback | None = None

    def on_train_begin(
        self, args: Any, state: Any, control: Any, model: Any, optimizer: Any, **_: Any
    ) -> None:
        """Save the first checkpoint, and listen to the model."""
        self._loop = TuningCallback(
            self._tuner,
            model,
            optimizer,
            data=self._tape,
            evaluate=self._evaluate,
            folder=self._folder,
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
        self._loop.step(sum(losses) / len(losses))
        if not self._loop.running:
            control.should_training_stop = True

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Leave the model alone."""
        for hook in self._hooks:
            hook.remove()

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
            self._losses.append(float(loss.detach()))
