"""Names of parameter groups: the ``name`` key, the index, or one optimizer of several."""

from collections.abc import Sequence
from typing import Any

from topoloom.learning_rate.errors import InvalidOptions

FIELD = "/group_ratios"


def named_groups(optimizers: Sequence[Any], names: Sequence[str]) -> list[list[int]]:
    """Return, for each name, the indices of its groups among those of all optimizers.

    Raises:
        InvalidOptions: No group has a name, or a group has two.

    >>> class Two:
    ...     param_groups = [{"name": "embedding"}, {}]
    >>> named_groups([Two()], ["embedding", "1"]), named_groups([Two(), Two()], ["optimizer-1"])
    ([[0], [1]], [[2, 3]])
    """
    known = _known(optimizers)
    found = list[list[int]]()
    for place, name in enumerate(names):
        if name not in known:
            raise InvalidOptions(f"{FIELD}/{place}", f"must be one of {', '.join(known)}")
        if any(set(known[name]) & set(earlier) for earlier in found):
            raise InvalidOptions(f"{FIELD}/{place}", "has a parameter group of another name")
        found.append(known[name])
    return found


def all_names(optimizers: Sequence[Any]) -> list[str]:
    """Return a name for each optimizer or, of a single one, for each parameter group.

    `InvalidOptions` where there is one group only.
    """
    if len(optimizers) > 1:
        return [f"optimizer-{place}" for place in range(len(optimizers))]
    groups = optimizers[0].param_groups
    if len(groups) < 2:
        raise InvalidOptions(FIELD, "must be left out: the optimizer has one parameter group")
    told = [str(group.get("name", place)) for place, group in enumerate(groups)]
    return told if len(set(told)) == len(told) else list(map(str, range(len(told))))


def _known(optimizers: Sequence[Any]) -> dict[str, list[int]]:
    """Return the groups of each name; groups of one name are one."""
    known: dict[str, list[int]] = {}
    indices: dict[str, list[int]] = {}
    first = 0
    for number, optimizer in enumerate(optimizers):
        groups = optimizer.param_groups
        for place, group in enumerate(groups, start=first):
            indices[str(place)] = [place]
            if "name" in group:
                known.setdefault(str(group["name"]), []).append(place)
        if len(optimizers) > 1:
            indices[f"optimizer-{number}"] = list(range(first, first + len(groups)))
        first += len(groups)
    return {**indices, **known}
