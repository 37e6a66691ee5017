"""Readers of members of plant/1 documents; errors name the member by JSON pointer."""

import re
from collections.abc import Callable, Iterable
from enum import StrEnum
from fractions import Fraction
from typing import Any, TypeVar

from topoloom.synth.errors import InvalidPlant

MOST_ROWS = 1 << 18
"""Most entries of one list of a document."""

_E = TypeVar("_E", bound=StrEnum)
_T = TypeVar("_T")


def read_object(value: Any, field: str, members: set[str]) -> dict[str, Any]:
    """Return a value that must be an object without other members than these."""
    if not isinstance(value, dict):
        raise InvalidPlant(field, f"must be an object with {', '.join(sorted(members))}")
    for name in value:
        if name not in members:
            raise InvalidPlant(
                f"{field}/{name}", f"is unknown; there are {', '.join(sorted(members))}"
            )
    return value


def read_each(
    row: dict[str, Any], member: str, field: str, read: Callable[[Any, str], _T]
) -> Iterable[_T]:
    """Yield what ``read`` makes of every entry of a list; nothing of a list that is left out."""
    value = row.get(member, [])
    if not isinstance(value, list) or len(value) > MOST_ROWS:
        raise InvalidPlant(f"{field}/{member}", f"must be a list of at most {MOST_ROWS}")
    return (read(entry, f"{field}/{member}/{number}") for number, entry in enumerate(value))


def read_text(row: dict[str, Any], member: str, field: str, default: str | None = None) -> str:
    """Return a text of at most 200 characters."""
    value = row.get(member, default)
    # YAML reads a bare 7 as a number; as a name it is meant as it is written.
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or len(value) > 200:
        raise InvalidPlant(f"{field}/{member}", "must be a text of at most 200 characters")
    return value


def read_word(row: dict[str, Any], member: str, field: str, words: type[_E], default: _E) -> _E:
    """Return one of a few words."""
    value = row.get(member, default.value)
    if value not in [word.value for word in words]:
        raise InvalidPlant(f"{field}/{member}", f"must be one of {', '.join(words)}")
    return words(value)


def read_number(row: dict[str, Any], member: str, field: str) -> Fraction:
    """Return a decimal number that is not negative, exactly as it is written."""
    value = row.get(member, 0)
    text = str(value)
    if isinstance(value, bool) or not re.fullmatch(
        r"[0-9]{1,9}(\.[0-9]{1,9})?(e-?[0-9]{1,2})?", text
    ):
        raise InvalidPlant(f"{field}/{member}", "must be a number, not negative")
    return Fraction(text)
