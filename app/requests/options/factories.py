"""Constructors of options: integers, decimal numbers, durations, flags, sizes."""

from typing import Any

from pydantic import StrictBool, StrictInt

from topoloom.app.requests.base import LEAST_POSITIVE, MAX_BYTES, MOST, Bytes, NotNegative, Positive
from topoloom.app.requests.options.option import Option

SIZE = (
    "bytes, or with a suffix: KB, MB, GB, TB (powers of 1000), K, M, G, T or KiB, MiB, GiB, TiB "
    "(powers of 1024)"
)
MANY = "repeatable"


def whole(name: str, help: str, least: int, most: int, **more: Any) -> Option:
    """Return an integer option with inclusive limits."""
    return Option(name=name, type=StrictInt, help=help, least=least, most=most, **more)


def number(name: str, help: str, unit: str, **more: Any) -> Option:
    """Return a positive decimal option."""
    limits = {"least": LEAST_POSITIVE, "most": MOST}
    return Option(name=name, type=Positive, help=help, unit=unit, **limits, **more)


def duration(name: str, help: str, unit: str, **more: Any) -> Option:
    """Return a decimal option of at least 0."""
    limits = {"least": 0, "most": MOST}
    return Option(name=name, type=NotNegative, help=help, unit=unit, **limits, **more)


def switch(name: str, help: str, default: bool | None = False, **more: Any) -> Option:
    """Return a flag."""
    return Option(name=name, type=StrictBool, help=help, default=default, **more)


def several(name: str, type_: Any, help: str, most: int, **more: Any) -> Option:
    """Return an option with 1 to ``most`` values, which the command line repeats."""
    facts = {"type": type_, "least": 1, "most": most, "typed": MANY}
    return Option(name=name, help=help, **facts | more)


def size(help: str, **more: Any) -> Option:
    """Return an option for a size of data in bytes."""
    facts = {"name": "bytes", "type": Bytes, "least": 1, "most": MAX_BYTES, "typed": SIZE}
    return Option(help=help, **facts | more)
