"""Kinds of files that Topoloom recognizes and does not read as a topology."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from topoloom.synth.formats.machines.console_text import console_lines

HEAD = 2**16
"""Characters that are examined."""


class Foreign(NamedTuple):
    """A kind of file that is recognized but not read.

    Args:
        name: A short name, unique.
        sign: A regular expression to search in the head of such a file.
        what: Description of the file, after "is".
        instead: Alternative for the user, as an imperative.
    """

    name: str
    sign: str
    what: str
    instead: str

    def matches(self, head: str) -> bool:
        """Whether the head of a text is of this kind."""
        return re.search(self.sign, head) is not None

    @property
    def refusal(self) -> str:
        """The rule of the error that refuses the file.

        >>> Foreign("html", "<html", "an HTML page", "save the raw file").refusal
        'is an HTML page, not read as a topology: save the raw file'
        """
        return f"is {self.what}, not read as a topology: {self.instead}"


_PROLOG = re.compile(
    r"\A(?:\s|<\?.*?\?>|<!--.*?-->|/\*.*?\*/|//[^\n]*\n|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>)+",
    re.S | re.I,
)


def head_of(text: str) -> str:
    r"""Return the beginning of a text, without marks of pasting, comments and declarations.

    >>> head_of('\ufeff<?xml version="1.0"?>\n<!-- mine -->\n<graphs version="1">')
    '<graphs version="1">'
    """
    plain = "\n".join(console_lines(text[:HEAD].lstrip("\ufeff")))
    return _PROLOG.sub("", plain, count=1)


def recognise(head: str, kinds: Iterable[Foreign]) -> Foreign | None:
    """Return the first kind of file that a head matches, or None."""
    return next((kind for kind in kinds if kind.matches(head)), None)
