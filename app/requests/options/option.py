"""What an option is, and how a field of a request and a parameter of a query come of it."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import Field, StrictInt

from topoloom.app.requests.base import Bytes, format_bytes, optional

__all__ = ["REQUIRED", "Option", "choices"]

REQUIRED: Any = ...
"""The default of what must be given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One thing that may be said, wherever it is said.

    ``type`` is what a request takes; the command line takes whole numbers, texts and flags,
    and leaves the rest to the request.  ``default`` is `REQUIRED`, None for what may be left
    out, or the value that is then meant.  ``least`` and ``most`` are themselves allowed; of a
    list they limit how many entries it has.
    ``instead_of`` names the options whose defaults do not count where this one is given.
    ``flag`` is the spelling on the command line where it is not the name with dashes,
    ``metavar`` what stands for its value there, and ``typed`` how that is written.

    >>> hosts = Option(name="max_steps", type=StrictInt, help="at most so many", least=1, most=9)
    >>> hosts.spelling, hosts.limits, hosts.field().default is None
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
        """The option as it is written on the command line."""
        return self.flag or "--" + self.name.replace("_", "-")

    @property
    def text(self) -> str:
        """The help text, with the unit before the default.

        >>> Option(name="tau", type=float, help="pause; default: 0", unit="seconds").text
        'pause, seconds; default: 0'
        """
        what, default, value = self.help.partition("; default: ")
        return f"{what}, {self.unit}{default}{value}" if self.unit else self.help

    @property
    def limits(self) -> str:
        """What numbers, or how many entries, are allowed; empty where it is neither, or a size.

        >>> Option(name="ids", type=list[str], help="ids", least=1, most=9).limits
        '1 to 9 of them'
        """
        if self.least is None or self.type is Bytes:
            return ""
        return f"{self.least} to {self.most}{' of them' if self._listed else ''}"

    @property
    def shown(self) -> str:
        """The default as people write it; empty where there is none.

        >>> Option(name="bytes", type=Bytes, help="size", default=2**20).shown
        '1MiB'
        """
        if any(self.default is none for none in (REQUIRED, None, False)):
            return ""
        return format_bytes(self.default) if self.type is Bytes else str(self.default)

    def field(self, **more: Any) -> Any:
        """Return the field of a request; what may be left out may not be null."""
        if self.default is None:
            return optional(self.text, **self._bounds(), **more)
        return Field(self.default, description=self.text, **self._bounds(), **more)

    def query(self, **more: Any) -> Any:
        """Return the parameter of a query that says the same."""
        from fastapi import Query

        return Query(description=self.text, **self._bounds(), **more)

    @property
    def _listed(self) -> bool:
        return self.type is list or get_origin(self.type) is list

    def _bounds(self) -> dict[str, Any]:
        if self._listed and self.least is not None:
            return {"min_length": self.least, "max_length": self.most}
        # Decimals carry theirs in their type: they are checked before they are rounded.
        bounded = self.type in (StrictInt, float) and self.least is not None
        return {"ge": self.least, "le": self.most} if bounded else {}


def choices(type_: Any) -> tuple[str, ...]:
    """Return the words that a type allows; none if it allows more than words.

    >>> choices(Literal["json", "csv"]), choices(int)
    (('json', 'csv'), ())
    """
    if get_origin(type_) is Union:
        return tuple(word for part in get_args(type_) for word in choices(part))
    return get_args(type_) if get_origin(type_) is Literal else ()
