"""A callback for Lightning's Trainer, which makes the steps itself.

The module has one optimizer, stepped automatically, and no schedule of its own; the trainer's
``max_steps`` must have room for the steps that are thrown away (`Settings.most_steps`).  Both are
checked when training begins.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from topoloom.learning_rate.callbacks.batch_replay import Tape
from topoloom.learning_rate.callbacks.loop import TuningCallback
from topoloom.learning_rate.callbacks.start_checks import check_room, settings_of
from topoloom.learning_rate.errors import InvalidObservation, InvalidOptions, MissingExtra
from topoloom.learning_rate.tuner import Tuner


def lightning_callback(
    tuner: Tuner,
    *,
    evaluate: Callable[[], float] | None = None,
    folder: str | Path | None = None,
    remembered: int = 1024,
    on_divergence: str = "raise",
) -> Any:
    """Return a ``lightning.pytorch.Callback`` that tunes the rate of a Trainer's module.

    Parameters are those of `hugging_face_callback`.  The loss is what ``training_step``
    returns, the mean over a step's micro-batches.  The state of the tuner is a part of the
    trainer's checkpoints, and ``Trainer.fit(ckpt_path=...)`` resumes it.  Such a checkpoint has
    the batches and the random generators of rank 0 only, so several ranks cannot resume from it.

    Raises:
        MissingExtra: lightning is not installed.
    """
    try:
        from lightning.pytorch import Callback  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise MissingExtra("/lightning", "is not installed: pip install lightning") from None
    kind = type("TuningLightningCallback", (_Batches, Callback), {})
    given = {"evaluate": evaluate, "folder": folder, "on_divergence": on_divergence}
    return kind(tuner, given, Tape(remembered))


class _Batches:
    """The events of a Lightning Trainer that matter."""

    def __init__(self, tuner: Tuner, given: dict[str, Any], tape: Tape[Any]) -> None:
        self._tuner, self._given, self._tape = tuner, given, tape
        self._losses: list[Any] = []
        self._loop: TuningCallback | None = None
        self._saved: dict[str, Any] | None = None
        self._source: Any = None
        self._steps = 0

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Save the first checkpoint, or resume, and stand where batches come in."""
        if len(trainer.optimizers) != 1:
            raise InvalidOptions("/optimizers", "must be one")
        if trainer.lr_scheduler_configs:
            raise InvalidOptions("/lr_schedulers", "must be left out: the tuner sets the rate")
        if self._saved is not None and trainer.world_size > 1:
            raise InvalidOptions("/ckpt_path", "has the batches of rank 0 only; use one process")
        if (settings := settings_of(self._tuner)) is not None:
            check_room(settings, trainer.estimated_stepping_batches, "/max_steps")
        self._steps = trainer.global_step
        self._loop = TuningCallback(
            self._tuner, pl_module, trainer.optimizers[0], data=self._tape, **self._given
        )
        if self._saved is not None:
            self._loop.load_document(self._saved)
            self._saved = None
        self._source = _source_of_batches(trainer, pl_module)
        given = self._source.on_before_batch_transfer

        def exchanged(batch: Any, dataloader_idx: int) -> Any:
            """Exchange a batch before it is moved to the device."""
            batch = given(batch, dataloader_idx)
            return self._tape.exchanged(batch) if trainer.training else batch

        self._source.on_before_batch_transfer = exchanged

    def on_train_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Report the loss once the optimizer has made its step, and do what the tuner asks."""
        if self._loop is None or not self._loop.running:
            return
        loss = outputs.get("loss") if hasattr(outputs, "get") else outputs
        if loss is None:
            raise InvalidObservation("/losses", "training_step must return the loss")
        self._losses.append(loss.detach().clone())
        if trainer.global_step == self._steps:
            return
        self._steps = trainer.global_step
        losses, self._losses = self._losses, []
        self._loop.step(sum(losses) / len(losses))
        if not self._loop.running:
            trainer.should_stop = True

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the tuner, for the trainer's checkpoint."""
        return {} if self._loop is None else self._loop.document()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Remember the state of a checkpoint, to resume from when training begins."""
        self._saved = state or None

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        """Leave the module alone."""
        vars(self._source).pop("on_before_batch_transfer", None)


def _source_of_batches(trainer: Any, pl_module: Any) -> Any:
    """Return the data module where it has a hook of its own before the transfer, or the module."""
    from lightning.pytorch.utilities.model_helpers import (  # pyright: ignore[reportMissingImports]
        is_overridden,
    )

    source = trainer.datamodule
    has_hook = source is not None and is_overridden("on_before_batch_transfer", source)
    return source if has_hook else pl_module
