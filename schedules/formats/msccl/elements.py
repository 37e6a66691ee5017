"""The XML of MSCCL as elements: the grammar of readers written by hand.

Elements, attributes in double quotes separated by single spaces, comments; no
declaration, no entities, no text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from schedules.errors import InvalidProgram
from schedules.formats.msccl.program import MAX_CHILDREN

__all__ = ["MAX_ATTRIBUTES", "MAX_CHARACTERS", "Element", "read_elements"]

MAX_CHARACTERS = 1 << 28
MAX_ATTRIBUTES = 16

_TOKEN = re.compile(
    r"\s*(?:<!--.*?-->|<(?P<close>/?)(?P<name>[a-z]+)"
    r'(?P<attributes>(?: [A-Za-z_]+="[^"<>&]*")*)(?P<single>/?)>)',
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r' ([A-Za-z_]+)="([^"]*)"')
_NUMBER = re.compile(r"-1|0|[1-9][0-9]{0,14}")


@dataclass(slots=True)
class Element:
    """One element; the methods read it, or say which rule it breaks at ``place``."""

    name: str
    attributes: dict[str, str]
    inner: "list[Element]"

    def children(self, name: str, place: str) -> "Iterator[Element]":
        """Yield what it holds, all of which must have that name."""
        for child in self.inner:
            if child.name != name:
                raise InvalidProgram(place, f"may hold {name} only, not {child.name}")
            if name == "step" and child.inner:
                raise InvalidProgram(place, "a step must be empty")
            yield child

    def text(self, key: str, place: str) -> str:
        """Return an attribute that must be there."""
        if key not in self.attributes:
            raise InvalidProgram(f"{place}/{key}", "is missing")
        return self.attributes[key]

    def choice(self, key: str, place: str, choices: tuple[str, ...]) -> str:
        """Return an attribute that must be one of the choices."""
        value = self.text(key, place)
        if value not in choices:
            raise InvalidProgram(f"{place}/{key}", f"must be one of {', '.join(choices)}")
        return value

    def number(self, key: str, place: str, least: int, most: int = 10**15) -> int:
        """Return an attribute that must be an integer from ``least`` to ``most``."""
        value = self.text(key, place)
        if not _NUMBER.fullmatch(value) or not least <= int(value) <= most:
            raise InvalidProgram(f"{place}/{key}", f"must be an integer from {least} to {most}")
        return int(value)


def read_elements(text: str) -> Element:
    """Return the one outermost element of a file.

    Raises
    ------
    InvalidProgram
        The text does not follow the grammar, or is too large.

    Examples
    --------
    >>> read_elements('<algo name="a"><gpu id="0"/></algo>').inner[0].number("id", "/gpu", 0)
    0
    """
    if len(text) > MAX_CHARACTERS:
        raise InvalidProgram("", f"must have at most {MAX_CHARACTERS} characters")
    top = Element("", {}, [])
    open_elements = [top]
    position, end = 0, len(text.rstrip())
    while position < end:
        token = _TOKEN.match(text, position)
        if token is None:
            line = text.count("\n", 0, position) + 1
            raise InvalidProgram(f"/line/{line}", "must go on with an element of the format")
        position = token.end()
        name = token["name"]
        if name is None:
            continue
        if token["close"]:
            if open_elements[-1].name != name or token["attributes"] or token["single"]:
                raise InvalidProgram(f"/{name}", "must be closed where it was opened")
            open_elements.pop()
            continue
        element = Element(name, _attributes(token["attributes"], name), [])
        open_elements[-1].inner.append(element)
        if len(open_elements[-1].inner) > MAX_CHILDREN:
            raise InvalidProgram(f"/{name}", f"at most {MAX_CHILDREN} may follow one another")
        if not token["single"]:
            open_elements.append(element)
    if len(open_elements) > 1 or len(top.inner) != 1:
        raise InvalidProgram("", "must be one element, closed at the end")
    return top.inner[0]


def _attributes(text: str, name: str) -> dict[str, str]:
    pairs = _ATTRIBUTE.findall(text)
    if len(pairs) > MAX_ATTRIBUTES or len(dict(pairs)) < len(pairs):
        raise InvalidProgram(f"/{name}", f"must have at most {MAX_ATTRIBUTES} different attributes")
    return dict(pairs)
