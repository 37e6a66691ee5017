"""Base class and number types of requests: no unknown fields, no nulls, exact numbers."""

import re
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    PlainSerializer,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from topoloom.app.requests.field_errors import PlacedError
from topoloom.app.requests.renamed import (
    MEMBERS,
    both_names,
    current_names,
    former_names,
    without_removed,
)

FRACTION = re.compile(r"^[0-9]{1,9}(/[0-9]{0,8}[1-9][0-9]{0,8}|\.[0-9]{1,9})?$", re.ASCII)


class Request(BaseModel):
    """Base of all requests: immutable, without unknown fields.

    Texts hold neither NUL, which PostgreSQL refuses, nor surrogates, which UTF-8 cannot encode;
    JSON escapes can express both.  ``former`` lists the former names of members, which the request
    accepts, too; ``removed`` lists former members that it accepts without effect.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    former: ClassVar[tuple[str, ...]] = ()
    removed: ClassVar[tuple[str, ...]] = ()

    @model_validator(mode="before")
    @classmethod
    def _encodable(cls, value: Any) -> Any:
        for name, part in value.items() if isinstance(value, dict) else ():
            if (place := _unencodable(part, f"/{name}")) is not None:
                raise PlacedError(place, "must be text that UTF-8 can encode, without NUL")
        if cls.removed and isinstance(value, dict):
            value = without_removed(value, cls.removed)
        return current_names(value, cls.former) if cls._has_renamed(value) else value

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the schema with former members, as deprecated."""
        schema = handler(core_schema)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        for old in cls.former:
            described = {"deprecated": True, "description": f"former name of {MEMBERS[old]}"}
            properties[old] = properties[MEMBERS[old]] | described
        for old in cls.removed:
            properties[old] = {"deprecated": True, "description": "has no effect"}
        return schema

    def replace(self, **values: Any) -> None:
        """Set members during validation, as if the client had sent them; None removes a member."""
        for name, value in values.items():
            object.__setattr__(self, name, value)
            if value is None:
                self.__pydantic_fields_set__.discard(name)
            else:
                self.__pydantic_fields_set__.add(name)

    def canonical(self) -> dict[str, Any]:
        """Return the request as plain JSON values, with defaults and former names.

        The former names keep the ids of stored documents.
        """
        members = self.model_dump(mode="json", exclude_none=True)
        return former_names(members, self.former) if self._has_renamed(members) else members

    def shown(self) -> dict[str, Any]:
        """Return the canonical request with current and former names, for an answer."""
        members = self.canonical()
        return both_names(members, self.former) if self._has_renamed(members) else members

    @classmethod
    def _has_renamed(cls, members: Any) -> bool:
        return isinstance(members, dict) and any(
            old in members or MEMBERS[old] in members for old in cls.former
        )

    def canonical_part(self, names: Iterable[str]) -> dict[str, Any]:
        """Return the named members that are not null, as plain JSON values."""
        return self.model_dump(mode="json", exclude_none=True, include=set(names))


def _unencodable(value: Any, place: str) -> str | None:
    r"""Return the pointer to the first text, also in lists, with NUL or not encodable in UTF-8.

    >>> _unencodable(["a", "\ud800"], "/ids"), _unencodable("\0", "/id"), _unencodable("a", "/id")
    ('/ids/1', '/id', None)
    """
    if isinstance(value, list):
        pointers = (_unencodable(part, f"{place}/{at}") for at, part in enumerate(value))
        return next((inner for inner in pointers if inner is not None), None)
    if not isinstance(value, str):
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        return place
    return place if "\0" in value else None


def optional(description: str, **more: Any) -> Any:
    """Return an optional member: absent or set, never null; ``more`` holds its limits."""
    return Field(default=None, description=description, json_schema_extra=_without_default, **more)


def _without_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


def parse_fraction(value: Any) -> Fraction:
    """Return an exact nonnegative number from an integer or a text.

    >>> parse_fraction("1/100"), parse_fraction("0.02"), parse_fraction(0)
    (Fraction(1, 100), Fraction(1, 50), Fraction(0, 1))

    Raises:
        ValueError: The value is no such number, or has a part of more than nine digits.
    """
    if isinstance(value, Fraction):
        value = str(value)
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or FRACTION.fullmatch(text) is None:
        raise ValueError(
            'must be a nonnegative integer or a text such as "1/100" or "0.01", '
            "with at most nine digits in each part"
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
"""Range of rates and latencies; values that may be 0 have no lower limit except 0."""
_SIZE = re.compile(r"^([1-9][0-9]{0,11}) ?([KMGTkmgt]|(?:[KMGTkmgt][Ii]?)?[Bb])?$", re.ASCII)
_SUFFIXES = {"B": 1} | {
    f"{letter}{mark}": base ** (index + 1)
    for mark, base in (("", 1024), ("B", 1000), ("IB", 1024))
    for index, letter in enumerate("KMGT")
}


def parse_bytes(value: Any) -> int:
    """Return a size in bytes; a text may have a binary or decimal suffix.

    Suffixes: B; KB, MB, GB, TB (powers of 1000); KiB, MiB, GiB, TiB (powers of
    1024); K, M, G, T (powers of 1024, as in nccl-tests).  Case does not matter.

    >>> parse_bytes("1MiB"), parse_bytes("1 KB"), parse_bytes("64"), parse_bytes(7)
    (1048576, 1000, 64, 7)
    >>> parse_bytes("1K"), parse_bytes("1g")
    (1024, 1073741824)

    Raises:
        ValueError: The value is no size, or not in 1 … 10**24.
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
            "must be a positive integer number of bytes, with no suffix or one of "
            "B, KB, MB, GB, TB, KiB, MiB, GiB, TiB, K, M, G, T"
        )
    return int(match[1]) * _SUFFIXES[(match[2] or "B").upper()]


def format_bytes(size: int) -> str:
    """Return a size as a text for `parse_bytes`, with the largest exact binary suffix.

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
    """Return a float as the decimal of its shortest text, such as 0.1, not its binary value."""
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
    # Round to a JSON number, so that the stored request equals the computed request.
    AfterValidator(lambda value: Decimal(repr(float(value)))),
    PlainSerializer(_plain_number, when_used="unless-none"),
    WithJsonSchema({"type": "number", "minimum": float(LEAST_POSITIVE), "maximum": MOST}),
]
Share = Annotated[
    Positive,
    Field(le=1),
    WithJsonSchema({"type": "number", "minimum": float(LEAST_POSITIVE), "maximum": 1}),
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
