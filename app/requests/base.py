"""What all request shapes share: no unknown fields, no nulls, exact numbers."""

import re
from collections.abc import Iterable
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

__all__ = ["FRACTION", "Rational", "Request", "optional", "parse_fraction"]

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
