"""Values of model files: objects, exact numbers, texts, and groups of dimensions."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.groups.process_groups import DIMENSIONS
from topoloom.schedules.iterations.communications import Traffic
from topoloom.synth.naming.suggestions import one_of

COLLECTIVES = tuple(one for one in Traffic if not one.startswith("send"))
_MAX = 10**18
_DIMENSIONS = tuple(name for name in DIMENSIONS if name != "pipeline")


def object_of(value: Any, place: str, known: tuple[str, ...]) -> Mapping[str, Any]:
    """Return the members of an object; raise for a member that is not known."""
    if not isinstance(value, dict):
        raise NoSchedule(place, "must be an object")
    for name in value:
        if name not in known:
            raise NoSchedule(f"{place}/{name}", one_of(name, known))
    return value


def whole_number(value: Any, place: str, least: int = 0, most: int = _MAX) -> int:
    """Return an integer between bounds."""
    if type(value) is not int or not least <= value <= most:
        raise NoSchedule(place, f"must be an integer from {least} to {most}")
    return value


def text_of(value: Any, place: str) -> str:
    """Return a text of at most 1000 characters."""
    if not isinstance(value, str) or len(value) > 1000:
        raise NoSchedule(place, "must be a text of at most 1000 characters")
    return value


def exact_number(value: Any, place: str) -> Fraction:
    """Return a number as written: 0.1 is one tenth."""
    try:
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float | str)
            or (isinstance(value, str) and len(value) > 40)
        ):
            raise ValueError
        found = Fraction(repr(value) if isinstance(value, float) else value)
    except (ValueError, ZeroDivisionError):
        raise NoSchedule(place, 'must be a number, or a text such as "1/100"') from None
    if not 0 <= found <= _MAX * 1000:
        raise NoSchedule(place, f"must be from 0 to {_MAX * 1000}")
    return found


def dimensions_of(value: Any, place: str) -> tuple[str, ...]:
    """Return the dimensions of groups within a pipeline stage.

    >>> dimensions_of("expert+data", "/group")
    ('expert', 'data')
    """
    found = tuple(text_of(value, place).split("+"))
    for name in found:
        if name not in _DIMENSIONS:
            raise NoSchedule(place, one_of(name, _DIMENSIONS))
    return found
