"""How entries of the table are made: whole numbers, decimal numbers, switches, sizes."""

from typing import Any

from pydantic import StrictBool, StrictInt

from topoloom.app.requests.base import LEAST_POSITIVE, MAX_BYTES, MOST, Bytes, NotNegative, Positive
from topoloom.app.requests.options.option import Option

__all__ = ["MANY", "SIZE", "duration", "number", "size", "switch", "whole"]

SIZE = (
    "an integer, alone or with KB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB "
    "(powers of 1024; K, M, G, T mean the same, as in nccl-tests)"
)
MANY = "may be given several times"


def whole(name: str, help: str, least: int, most: int, **more: Any) -> Option:
    """Return an option that is a whole number within limits."""
    return Option(name=name, type=StrictInt, help=help, least=least, most=most, **more)


def number(name: str, help: str, unit: str, **more: Any) -> Option:
    """Return a decimal number that is more than 0."""
    limits = {"least": LEAST_POSITIVE, "most": MOST}
    return Option(name=name, type=Positive, help=help, unit=unit, **limits, **more)


def duration(name: str, help: str, unit: str, **more: Any) -> Option:
    """Return a time that may be 0."""
    limits = {"least": 0, "most": MOST}
    return Option(name=name, type=NotNegative, help=help, unit=unit, **limits, **more)


def switch(name: str, help: str, default: bool | None = False, **more: Any) -> Option:
    """Return an option that is on or off."""
    return Option(name=name, type=StrictBool, help=help, default=default, **more)


def size(help: str, **more: Any) -> Option:
    """Return an option that is a size of data in bytes."""
    facts = {"name": "bytes", "type": Bytes, "least": 1, "most": MAX_BYTES, "typed": SIZE}
    return Option(help=help, **facts | more)
