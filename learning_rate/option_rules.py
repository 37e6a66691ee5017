"""Rules on the values of options; each raises `InvalidOptions`, which names the option."""

import math
from typing import Any

from topoloom.learning_rate.errors import InvalidOptions

MAX_GROUPS = 8
MAX_GROUP_NAME = 80  # characters


def check_groups(names: tuple[str, ...]) -> None:
    """Check the names of `Options.group_ratios`."""
    require("group_ratios", len(names) <= MAX_GROUPS, f"must name at most {MAX_GROUPS} groups")
    for place, name in enumerate(names):
        field = f"group_ratios/{place}"
        fits = 0 < len(name) <= MAX_GROUP_NAME and name.isprintable()
        require(field, fits, f"must have 1 to {MAX_GROUP_NAME} printable characters")
        require(field, name not in names[:place], "must be another group than those before it")


def names_of(groups: Any) -> tuple[str, ...]:
    """Return the names of groups, of which some may be indices."""
    require("group_ratios", isinstance(groups, list | tuple), "must be a list of groups")
    for place, group in enumerate(groups):
        known = isinstance(group, str | int) and not isinstance(group, bool)
        require(f"group_ratios/{place}", known, "must be the name or the index of a group")
    return tuple(map(str, groups))


def require(name: str, holds: bool, rule: str) -> None:
    """Check a rule on an option."""
    if not holds:
        raise InvalidOptions(f"/{name}", rule)


def whole(name: str, value: Any, least: int, most: int) -> None:
    """Check a whole number."""
    fits = isinstance(value, int) and not isinstance(value, bool)
    require(name, fits and least <= value <= most, f"must be a whole number, {least} to {most}")


def number(name: str, value: Any, above: float | None = None) -> None:
    """Check a finite number, which is positive or above a bound."""
    fits = isinstance(value, int | float) and not isinstance(value, bool)
    require(name, fits and math.isfinite(value), "must be a finite number")
    if above is None:
        require(name, value >= 0, "must not be negative")
    else:
        require(name, value > above, f"must be greater than {above:g}")
