"""The option class: one definition for a request field, a query parameter and a CLI option."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import Field, StrictInt

from topoloom.app.requests.base import Bytes, format_bytes, optional

REQUIRED: Any = ...
"""The default of a required option."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option of the REST service and of the command line.

    ``type`` is the type of the request field; the command line parses integers, texts and flags,
    and the request validates the rest.  ``default`` is `REQUIRED`, a value, or None for an
    optional field without a default.  ``least`` and ``most`` are inclusive; of a list they limit
    the number of entries.
    ``instead_of`` names the options whose defaults this option replaces.
    On the command line, ``flag`` is the spelling (default: the name with dashes), ``metavar``
    the placeholder of the value, and ``typed`` the syntax of the value.

    >>> steps = Option(name="max_steps", type=StrictInt, help="step limit", least=1, most=9)
    >>> steps.spelling, steps.limits, steps.field().default is None
    ('--max-steps', '1 to 9', True)
    """

    name: str
    type: Any
    help: str
    unit: str = ""
    default: Any = None
    least: int | Decimal | None = None
    most: int | None = None
    flag: str = ""
    metavar: str = ""
    typed: str = ""
    instead_of: tuple[str, ...] = ()

    @property
    def spelling(self) -> str:
        """The flag on the command line."""
        return self.flag or "--" + self.name.replace("_", "-")

    @property
    def text(self) -> str:
        """The help text, with the unit before the default.

        >>> Option(name="tau", type=float, help="pause; default: 0", unit="seconds").text
        'pause, seconds; default: 0'
        """
        meaning, default, value = self.help.partition("; default: ")
        return f"{meaning}, {self.unit}{default}{value}" if self.unit else self.help

    @property
    def limits(self) -> str:
        """The range of a number, or of the length of a list; empty for other types and sizes.

        >>> Option(name="ids", type=list[str], help="ids", least=1, most=9).limits
        '1 to 9 entries'
        """
        if self.least is None or self.type is Bytes:
            return ""
        return f"{self.least} to {self.most}{' entries' if self._listed else ''}"

    @property
    def shown(self) -> str:
        """The default as a user types it; empty without a default.

        >>> Option(name="bytes", type=Bytes, help="size", default=2**20).shown
        '1MiB'
        """
        if any(self.default is none for none in (REQUIRED, None, False)):
            return ""
        return format_bytes(self.default) if self.type is Bytes else str(self.default)

    def field(self, **more: Any) -> Any:
        """Return the field of a request; an optional field refuses null."""
        if self.default is None:
            return optional(self.text, **self._bounds(), **more)
        return Field(self.default, description=self.text, **self._bounds(), **more)

    def query(self, **more: Any) -> Any:
        """Return the query parameter."""
        from fastapi import Query

        return Query(description=self.text, **self._bounds(), **more)

    @property
    def _listed(self) -> bool:
        return self.type is list or get_origin(self.type) is list

    def _bounds(self) -> dict[str, Any]:
        if self._listed and self.least is not None:
            return {"min_length": self.least, "max_length": self.most}
        # Decimal types check their own limits, before rounding.
        bounded = self.type in (StrictInt, float) and self.least is not None
        return {"ge": self.least, "le": self.most} if bounded else {}


def choices(type_: Any) -> tuple[str, ...]:
    """Return the words of a literal type or union; empty if the type allows other values.

    >>> choices(Literal["json", "csv"]), choices(int)
    (('json', 'csv'), ())
    """
    if get_origin(type_) is Union:
        return tuple(word for part in get_args(type_) for word in choices(part))
    return get_args(type_) if get_origin(type_) is Literal else ()
