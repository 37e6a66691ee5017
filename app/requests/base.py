"""What all request shapes share: no unknown fields, no nulls, exact numbers."""

import re
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
    model_validator,
)

from topoloom.app.requests.field_errors import PlacedError

FRACTION = re.compile(r"^[0-9]{1,9}(/[0-9]{0,8}[1-9][0-9]{0,8}|\.[0-9]{1,9})?$", re.ASCII)


class Request(BaseModel):
    """Base of all requests: unknown fields are refused, nothing is changed later.

    Texts are those that every database takes: JSON escapes may stand for NUL, which PostgreSQL
    refuses, and for halves of characters, which UTF-8 cannot write.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _writable(cls, value: Any) -> Any:
        for name, part in value.items() if isinstance(value, dict) else ():
            if (place := _unwritable(part, f"/{name}")) is not None:
                raise PlacedError(place, "must be a text that UTF-8 can write, without NUL")
        return value

    def replace(self, **values: Any) -> None:
        """Set members during validation, as if the client had sent them; None removes a member."""
        for name, value in values.items():
            object.__setattr__(self, name, value)
            if value is None:
                self.__pydantic_fields_set__.discard(name)
            else:
                self.__pydantic_fields_set__.add(name)

    def canonical(self) -> dict[str, Any]:
        """Return the request as plain JSON values, defaults filled in."""
        return self.model_dump(mode="json", exclude_none=True)

    def canonical_part(self, names: Iterable[str]) -> dict[str, Any]:
        """Return those of the named members that were given, as plain JSON values."""
        return self.model_dump(mode="json", exclude_none=True, include=set(names))


def _unwritable(value: Any, place: str) -> str | None:
    r"""Return where a text, or one in lists, cannot be written in UTF-8 or holds NUL.

    >>> _unwritable(["a", "\ud800"], "/ids"), _unwritable("\0", "/id"), _unwritable("a", "/id")
    ('/ids/1', '/id', None)
    """
    if isinstance(value, list):
        found = (_unwritable(part, f"{place}/{at}") for at, part in enumerate(value))
        return next((inner for inner in found if inner is not None), None)
    if not isinstance(value, str):
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        return place
    return place if "\0" in value else None


def optional(description: str, **more: Any) -> Any:
    """Return a field that may be left out, but not be null; ``more`` are its limits."""
    return Field(default=None, description=description, json_schema_extra=_without_default, **more)


def _without_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


def parse_fraction(value: Any) -> Fraction:
    """Return an exact number that is not negative: an integer, or a text of a fraction.

    >>> parse_fraction("1/100"), parse_fraction("0.02"), parse_fraction(0)
    (Fraction(1, 100), Fraction(1, 50), Fraction(0, 1))

    Raises
    ------
    ValueError
        It is none, or has more than nine digits above, below or behind the point.
    """
    if isinstance(value, Fraction):
        value = str(value)
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or FRACTION.fullmatch(text) is None:
        raise ValueError(
            'must be an integer from 0 or a text such as "1/100" or "0.01", '
            "of at most nine digits each"
        )
    return Fraction(text)


def _positive(value: Fraction) -> Fraction:
    if value <= 0:
        raise ValueError("must be positive")
    return value


Rational = Annotated[
    Fraction,
    BeforeValidator(parse_fraction),
    AfterValidator(_positive),
    PlainSerializer(str, when_used="unless-none"),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": 10**9 - 1},
                {"type": "string", "pattern": FRACTION.pattern},
            ]
        }
    ),
]
"""A positive number, kept exactly: 25, "12.5" or "25/2"."""

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
