"""A callback for Lightning's Trainer, which makes the steps itself.

The module has one optimizer, stepped automatically, and no schedule of its own; the trainer's
``max_steps`` has to have room for the steps that are thrown away (`Settings.most_steps`).
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from topoloom.learning_rate.callbacks.batch_replay import Tape
from topoloom.learning_rate.callbacks.device_transfer import on_cpu, on_device
from topoloom.learning_rate.callbacks.loop import TuningCallback
from topoloom.learning_rate.errors import InvalidObservation, InvalidOptions, MissingExtra
from topoloom.learning_rate.tuner import Tuner


def lightning_callback(
    tuner: Tuner,
    *,
    evaluate: Callable[[], float] | None = None,
    folder: str | Path | None = None,
    remembered: int = 1024,
) -> Any:
    """Return a ``lightning.pytorch.Callback`` that tunes the rate of a Trainer's module.

    Parameters are those of `hugging_face_callback`.  The loss is what ``training_step``
    returns, the mean over a step's micro-batches.

    Raises
    ------
    MissingExtra
        lightning is not installed.
    """
    try:
        from lightning.pytorch import Callback  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise MissingExtra(
            "/lightning", "is not installed: pip install 'topoloom[lightning]'"
        ) from None
    kind = type("TuningLightningCallback", (_Batches, Callback), {})
    return kind(tuner, evaluate, folder, remembered)


class _Batches:
    """The events of a Lightning Trainer that matter."""

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
        self._loop: TuningCallback | None = None
        self._steps = 0

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Save the first checkpoint, and stand where batches come in."""
        if len(trainer.optimizers) != 1:
            raise InvalidOptions("/optimizers", "must be one")
        if trainer.lr_scheduler_configs:
            raise InvalidOptions("/lr_schedulers", "must be left out: the tuner sets the rate")
        self._steps = trainer.global_step
        self._loop = TuningCallback(
            self._tuner,
            pl_module,
            trainer.optimizers[0],
            data=self._tape,
            evaluate=self._evaluate,
            folder=self._folder,
        )
        given = pl_module.on_after_batch_transfer

        def exchanged(batch: Any, dataloader_idx: int) -> Any:
            batch = given(batch, dataloader_idx)
            if not trainer.training:
                return batch
            return on_device(self._tape.exchanged(on_cpu(batch)), pl_module.device)

        pl_module.on_after_batch_transfer = exchanged

    def on_train_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Report the loss once the optimizer has made its step, and do what the tuner asks."""
        if self._loop is None or not self._loop.running:
            return
        loss = outputs.get("loss") if hasattr(outputs, "get") else outputs
        if loss is None:
            raise InvalidObservation("/losses", "training_step must return the loss")
        self._losses.append(float(loss.detach()))
        if trainer.global_step == self._steps:
            return
        self._steps = trainer.global_step
        losses, self._losses = self._losses, []
        self._loop.step(sum(losses) / len(losses))
        if not self._loop.running:
            trainer.should_stop = True

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        """Leave the module alone."""
        vars(pl_module).pop("on_after_batch_transfer", None)
