"""What all request shapes share: no unknown fields, no nulls, exact numbers."""

import re
from fractions import Fraction
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, WithJsonSchema

__all__ = ["Rational", "Request", "optional"]

_RATIONAL = re.compile(r"^[0-9]{1,18}(\.[0-9]{1,18}|/[1-9][0-9]{0,17})?$", re.ASCII)


class Request(BaseModel):
    """Base of all requests: unknown fields are refused, nothing is changed later."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def canonical(self) -> dict[str, Any]:
        """Return the request as plain JSON values, defaults filled in."""
        return self.model_dump(mode="json", exclude_none=True)


def optional(description: str) -> Any:
    """Return a field that may be left out, but not be null."""
    return Field(default=None, description=description, json_schema_extra=_without_default)


def _without_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


def _rational(value: Any) -> Fraction:
    """Read 0.1 as the decimal that was written, not as the nearest binary fraction."""
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        text = value if isinstance(value, str) else repr(value)
        if _RATIONAL.fullmatch(text) and (found := Fraction(text)) > 0:
            return found
    raise ValueError('must be a positive number, or a text such as "1/2"')


Rational = Annotated[
    Fraction,
    PlainValidator(_rational),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "exclusiveMinimum": 0},
                {"type": "string", "pattern": _RATIONAL.pattern},
            ]
        }
    ),
]
"""A positive number, kept exactly: 25, 12.5, "12.5" or "25/2"."""
