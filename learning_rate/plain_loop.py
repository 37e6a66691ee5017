"""Tune the rate of a plain training loop, by one call before the loop and one call in the loop."""

import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topoloom.learning_rate.errors import InvalidOptions
from topoloom.learning_rate.options import Options
from topoloom.learning_rate.tuner import InProcess

if TYPE_CHECKING:
    from topoloom.learning_rate.callbacks.loop import TuningCallback
    from topoloom.learning_rate.callbacks.progress import Writer
    from topoloom.learning_rate.callbacks.snapshot import Stateful

DECADES = 1.5  # that an interval reaches to each side of the optimizer's own rate
LOG = logging.getLogger("topoloom.learning_rate")


def tune(
    model: "Stateful",
    optimizer: Any,
    data: "Stateful | Iterable[Any]",
    total_steps: int,
    *,
    min_lr: float | None = None,
    max_lr: float | None = None,
    evaluate: Callable[[], float] | None = None,
    scaler: "Stateful | None" = None,
    others: "Mapping[str, Stateful] | None" = None,
    folder: str | Path | None = None,
    resume: str | Path | None = None,
    writer: "Writer | None" = None,
    on_divergence: str = "raise",
    **options: Any,
) -> "TuningCallback":
    """Return a callback whose iteration yields the batches of a tuned run.

    Parameters
    ----------
    model, optimizer
        A PyTorch model, and one optimizer or a list of optimizers.
    data : DataLoader or Stateful
        The source of the batches, epoch after epoch.
    total_steps : int
        Steps of the run that is kept; the search discards up to a tenth of their number.
    min_lr, max_lr : float, optional
        The interval that rates are searched in; default: 1.5 decades to each side of the
        optimizer's own rate, which a log line says.  The run warms up to the middle.
    evaluate, scaler, others, folder, resume, writer, on_divergence
        As in `TuningCallback`.
    options
        Further fields of `Options`.

    Raises
    ------
    InvalidOptions
        An argument does not fit; the error names the argument.

    Notes
    -----
    Where torch.distributed is initialized, all ranks share one tuner (`callbacks.Ranks`).

    Examples
    --------
    The loop has the lines of a loop with a scheduler::

        tuned = tune(model, optimizer, loader, total_steps=10_000)
        for inputs, targets in tuned:
            loss = loss_function(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            tuned.step(loss)
    """
    from topoloom.learning_rate.callbacks.loop import TuningCallback
    from topoloom.learning_rate.callbacks.parts import optimizers_of
    from topoloom.learning_rate.callbacks.ranks import Ranks, is_one_of_many

    if unknown := sorted(set(options) - set(Options.__dataclass_fields__)):
        raise InvalidOptions(f"/{unknown[0]}", "is not known")
    if min_lr is None or max_lr is None:
        groups = [group for one in optimizers_of(optimizer) for group in one.param_groups]
        low, high = interval_around(max(float(group["lr"]) for group in groups))
        min_lr, max_lr = min_lr or low, max_lr or high
        LOG.info("rates from %.3g to %.3g: min_lr and max_lr set other ones", min_lr, max_lr)
    tuner = InProcess(Options(min_lr, max_lr, total_steps, **options))
    return TuningCallback(
        Ranks(tuner) if is_one_of_many() else tuner, model, optimizer, data=data,
        evaluate=evaluate, scaler=scaler, others=others, folder=folder, resume=resume,
        writer=writer, on_divergence=on_divergence,
    )  # fmt: skip


def interval_around(rate: float) -> tuple[float, float]:
    """Return the interval that is searched where none is given.

    >>> low, high = interval_around(0.01)
    >>> round(low, 6), round(high, 6)
    (0.000316, 0.316228)
    """
    if not rate > 0:
        raise InvalidOptions("/optimizer", "must have a parameter group with a rate above 0")
    return rate / 10**DECADES, rate * 10**DECADES
