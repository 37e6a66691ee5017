"""The parts of a training whose states are saved and restored, by name."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from topoloom.learning_rate.callbacks.loader_replay import ReplayedLoader
from topoloom.learning_rate.callbacks.snapshot import Stateful, pytorch
from topoloom.learning_rate.errors import InvalidOptions


def optimizers_of(optimizer: Any) -> list[Any]:
    """Return one optimizer, or a sequence of optimizers, as a list."""
    optimizers = list(optimizer) if isinstance(optimizer, list | tuple) else [optimizer]
    if not optimizers:
        raise InvalidOptions("/optimizer", "must be an optimizer, or a list of optimizers")
    return optimizers


def batches_of(data: Any) -> Any:
    """Return data that has a position; a DataLoader, or another iterable, is read by a tape."""
    if data is None:
        return None
    loader = isinstance(data, pytorch().utils.data.DataLoader)
    if not loader and hasattr(data, "state_dict") and hasattr(data, "load_state_dict"):
        return data
    if not isinstance(data, Iterable):
        raise InvalidOptions("/data", "must be a DataLoader, or have state_dict")
    return ReplayedLoader(data)


def named_parts(
    named: Mapping[str, Stateful | None], optimizers: Sequence[Any], others: Mapping[str, Stateful]
) -> dict[str, Stateful]:
    """Return the parts that are given, by name; `InvalidOptions` for a name that is taken twice."""
    if isinstance(named["scheduler"], pytorch().optim.lr_scheduler.LRScheduler):
        raise InvalidOptions("/scheduler", "must be left out: the tuner sets the rates")
    names = [f"optimizer-{place}" for place in range(len(optimizers))]
    if len(optimizers) == 1:
        names = ["optimizer"]
    own = {**named, **dict(zip(names, optimizers, strict=True))}
    if taken := sorted(set(own) & set(others)):
        raise InvalidOptions(f"/others/{taken[0]}", "is the name of another part")
    return {name: part for name, part in {**own, **others}.items() if part is not None}
