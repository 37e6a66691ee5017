"""Sizes, rates and gaps as people write them, exact from the text on."""

import re
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, WithJsonSchema

from topoloom.app.requests.base import FRACTION, parse_fraction

__all__ = [
    "LEAST_POSITIVE",
    "MAX_BYTES",
    "MOST",
    "Bytes",
    "Gap",
    "NotNegative",
    "Positive",
    "format_bytes",
    "parse_bytes",
]

MAX_BYTES = 10**24
LEAST_POSITIVE, MOST = Decimal("0.000001"), 10**9
"""Between these lie rates and latencies; what may be 0 may also be less than the least."""
_SIZE = re.compile(r"^([1-9][0-9]{0,11}) ?([KMGTkmgt]|(?:[KMGTkmgt][Ii]?)?[Bb])?$", re.ASCII)
_SUFFIXES = {"B": 1} | {
    f"{letter}{mark}": base ** (index + 1)
    for mark, base in (("", 1024), ("B", 1000), ("IB", 1024))
    for index, letter in enumerate("KMGT")
}


def parse_bytes(value: Any) -> int:
    """Return a size in bytes; texts may carry a binary or a decimal suffix.

    Suffixes: B; KB, MB, GB, TB (powers of 1000); KiB, MiB, GiB, TiB (powers of
    1024); K, M, G, T (powers of 1024, as nccl-tests reads them).  Case does not matter.

    >>> parse_bytes("1MiB"), parse_bytes("1 KB"), parse_bytes("64"), parse_bytes(7)
    (1048576, 1000, 64, 7)
    >>> parse_bytes("1K"), parse_bytes("1g")
    (1024, 1073741824)

    Raises
    ------
    ValueError
        It is no size, or not in 1 … 10**24.
    """
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError('must be a positive integer or a text such as "1MiB"')
    if isinstance(value, int):
        if not 1 <= value <= MAX_BYTES:
            raise ValueError("must be a positive number of bytes, at most 10**24")
        return value
    match = _SIZE.fullmatch(value)
    if match is None:
        raise ValueError(
            "must be a positive whole number of bytes, with one of the suffixes "
            "B, KB, MB, GB, TB, KiB, MiB, GiB, TiB, K, M, G, T or none"
        )
    return int(match[1]) * _SUFFIXES[(match[2] or "B").upper()]


def format_bytes(size: int) -> str:
    """Return a size as `parse_bytes` reads it, with the largest binary suffix that is exact.

    >>> format_bytes(1 << 20), format_bytes(1500), format_bytes(3 << 10)
    ('1MiB', '1500', '3KiB')
    """
    for power, suffix in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size and size % (1 << power) == 0:
            return f"{size >> power}{suffix}"
    return str(size)


def _plain_number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


def _decimal(value: Any) -> Any:
    """Read 0.1 as the decimal that was written, not as the nearest binary fraction."""
    if isinstance(value, bool):
        raise ValueError("must be a number")
    return Decimal(repr(value)) if isinstance(value, float) else value


Bytes = Annotated[
    int,
    BeforeValidator(parse_bytes),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": MAX_BYTES},
                {"type": "string", "pattern": _SIZE.pattern},
            ]
        }
    ),
]
Positive = Annotated[
    Decimal,
    BeforeValidator(_decimal),
    Field(ge=LEAST_POSITIVE, le=MOST, allow_inf_nan=False),
    # No more digits than a JSON number has: what is computed with is what is stored.
    AfterValidator(lambda value: Decimal(repr(float(value)))),
    PlainSerializer(_plain_number, when_used="unless-none"),
    WithJsonSchema({"type": "number", "minimum": float(LEAST_POSITIVE), "maximum": MOST}),
]
NotNegative = Annotated[
    Decimal,
    BeforeValidator(_decimal),
    Field(ge=0, le=MOST, allow_inf_nan=False),
    AfterValidator(lambda value: Decimal(repr(float(value)))),
    PlainSerializer(_plain_number, when_used="unless-none"),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": MOST}),
]
Gap = Annotated[
    Fraction,
    BeforeValidator(parse_fraction),
    PlainSerializer(str, when_used="unless-none"),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": 10**9 - 1},
                {"type": "string", "pattern": FRACTION.pattern},
            ]
        }
    ),
]
