"""Tune the rate of a plain training loop, by one call before the loop and one call in the loop."""

import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topoloom.learning_rate.errors import InvalidOptions
from topoloom.learning_rate.options import Options
from topoloom.learning_rate.state_machine.range_trials import DECADES
from topoloom.learning_rate.tuner import InProcess

if TYPE_CHECKING:
    from topoloom.learning_rate.callbacks.loop import TuningCallback
    from topoloom.learning_rate.callbacks.progress import Writer
    from topoloom.learning_rate.callbacks.snapshot import Stateful

REACH = 6.0  # decades that a range test may go to each side of the optimizer's own rate
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

    Args:
        model, optimizer: A PyTorch model, and one optimizer or a list of optimizers.
        data: The source of the batches, epoch after epoch.
        total_steps: Steps of the run that is kept; the search discards up to a tenth of their
            number.
        min_lr, max_lr: The interval that rates are searched in; the run warms up to the middle.
            Where neither is given, a range test that begins at the optimizer's own rate finds the
            interval, within ``max_overhead`` (`learning_rate.state_machine.range_trials`).  Where
            one is missing, or with ``range_test=False``, it is 1.5 decades from the optimizer's own
            rate.  A log line says so.
        evaluate, scaler, others, folder, resume, writer, on_divergence: As in `TuningCallback`.
        options: Further fields of `Options`.  ``group_ratios=True`` names every optimizer or, of a
            single one, every parameter group.

    Raises:
        InvalidOptions: An argument does not fit; the error names the argument.

    Where torch.distributed is initialized, all ranks share one tuner (`callbacks.Ranks`).

    The loop has the lines of a loop with a scheduler::

        tuned = tune(model, optimizer, loader, total_steps=10_000)
        for inputs, targets in tuned:
            loss = loss_function(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            tuned.step(loss)
    """
    from topoloom.learning_rate.callbacks.group_names import all_names
    from topoloom.learning_rate.callbacks.loop import TuningCallback
    from topoloom.learning_rate.callbacks.parts import optimizers_of
    from topoloom.learning_rate.callbacks.ranks import Ranks, is_one_of_many

    if unknown := sorted(set(options) - set(Options.__dataclass_fields__)):
        raise InvalidOptions(f"/{unknown[0]}", "is not known")
    optimizers = optimizers_of(optimizer)
    if options.get("group_ratios") is True:
        options["group_ratios"] = all_names(optimizers)
    tuner = InProcess(_options(optimizers, min_lr, max_lr, total_steps, options))
    return TuningCallback(
        Ranks(tuner) if is_one_of_many() else tuner, model, optimizer, data=data,
        evaluate=evaluate, scaler=scaler, others=others, folder=folder, resume=resume,
        writer=writer, on_divergence=on_divergence,
    )  # fmt: skip


def _options(
    optimizers: list[Any],
    min_lr: float | None,
    max_lr: float | None,
    total_steps: int,
    options: dict[str, Any],
) -> Options:
    """Return the options of a run; without an interval, with a range test where one can be paid."""
    rate = max(float(group["lr"]) for one in optimizers for group in one.param_groups)
    low, high = interval_around(rate)
    if min_lr is not None or max_lr is not None:
        if min_lr is None or max_lr is None:
            min_lr, max_lr = min_lr or low, max_lr or high
            LOG.info("rates from %.3g to %.3g: min_lr and max_lr set other ones", min_lr, max_lr)
        return Options(min_lr, max_lr, total_steps, **options)
    near = Options(low, high, total_steps, **options)
    if options.get("range_test") is False or near.settled().allowance is None:
        LOG.info("rates from %.3g to %.3g: min_lr and max_lr set other ones", low, high)
        return near
    LOG.info(
        "a range test begins at the optimizer's rate, %.3g: min_lr and max_lr set an interval, "
        "range_test=False takes %.3g to %.3g", rate, low, high,
    )  # fmt: skip
    low, high = interval_around(rate, REACH)
    return Options(low, high, total_steps, **{**options, "range_test": True})


def interval_around(rate: float, decades: float = DECADES) -> tuple[float, float]:
    """Return the interval that reaches to each side of a rate.

    >>> low, high = interval_around(0.01)
    >>> round(low, 6), round(high, 6)
    (0.000316, 0.316228)
    """
    if not rate > 0:
        raise InvalidOptions("/optimizer", "must have a parameter group with a rate above 0")
    return rate / 10**decades, rate * 10**decades
