"""Parse the XML of MSCCL into elements, by the grammar of its hand-written readers.

The grammar is that of ``xmlGetNode``, ``xmlGetToken`` and ``xmlLoadSub`` in microsoft/msccl
src/graph/xml.cc, which Azure/msccl-executor-nccl and ROCm/rccl copy into
src/misc/msccl/msccl_parser.cc.  The readers skip unknown elements and attributes.  They refuse a
declaration, text, and tabs between elements, and have no entities.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from topoloom.schedules.errors import InvalidProgram
from topoloom.schedules.formats.msccl.program import MAX_CHILDREN

MAX_CHARACTERS = 1 << 28
MAX_ATTRIBUTES = 16
"""``MAX_ATTR_COUNT`` of xml.h and msccl_parser.h: attributes after these are skipped."""
MAX_VALUE_BYTES = 255
"""``MAX_STR_LEN`` there: a longer value writes past the end of its array."""

# A comment whose first word holds "=" is refused, as the readers take the word for an attribute.
_TOKEN = re.compile(
    r"[ \n\r]*(?:<!--(?=[^= >/\n\r]*[ >/\n\r]).*?-->|<(?P<close>/?)(?P<name>[^\s<>/=\"!?]+)"
    r'(?P<attributes>(?: (?:[^\s<>/="]+="[^"]*")?)*)(?P<single>/?)>)',
    re.DOTALL,
)
# The readers parse a space without an attribute after it as an attribute without a name.
_ATTRIBUTE = re.compile(r' (?:([^\s<>/="]+)="([^"]*)")?')
_NUMBER = re.compile(r"-1|0|[1-9][0-9]{0,14}")


@dataclass(slots=True)
class Element:
    """One element; the methods read it, or raise the rule that it breaks at ``place``."""

    name: str
    attributes: dict[str, str]
    inner: "list[Element]"

    def children(self, name: str, place: str) -> "Iterator[Element]":
        """Yield its child elements with that name; the readers skip all others."""
        found = [child for child in self.inner if child.name == name]
        if len(found) > MAX_CHILDREN:
            raise InvalidProgram(place, f"may hold at most {MAX_CHILDREN} elements {name}")
        for child in found:
            # The readers look for a handler of the children of a step, find none, and crash.
            if name == "step" and child.inner:
                raise InvalidProgram(place, "a step must be empty")
            yield child

    def text(self, key: str, place: str) -> str:
        """Return a required attribute."""
        if key not in self.attributes:
            raise InvalidProgram(f"{place}/{key}", "is missing")
        return self.attributes[key]

    def choice(self, key: str, place: str, choices: tuple[str, ...]) -> str:
        """Return a required attribute that is one of the choices."""
        value = self.text(key, place)
        if value not in choices:
            raise InvalidProgram(f"{place}/{key}", f"must be one of {', '.join(choices)}")
        return value

    def number(self, key: str, place: str, least: int, most: int = 10**15) -> int:
        """Return a required attribute that is an integer from ``least`` to ``most``."""
        value = self.text(key, place)
        if not _NUMBER.fullmatch(value) or not least <= int(value) <= most:
            raise InvalidProgram(f"{place}/{key}", f"must be an integer from {least} to {most}")
        return int(value)


def read_elements(text: str) -> Element:
    """Return a nameless element that holds the outermost elements of a file.

    Raises:
        InvalidProgram: The text does not follow the grammar, or is too large.

    >>> read_elements('<copy/><algo name="a"><gpu id="0" /></algo>').inner[1].inner
    [Element(name='gpu', attributes={'id': '0'}, inner=[])]
    """
    if len(text) > MAX_CHARACTERS:
        raise InvalidProgram("", f"must have at most {MAX_CHARACTERS} characters")
    top = Element("", {}, [])
    open_elements = [top]
    position, end = 0, len(text.rstrip(" \n\r"))
    while position < end:
        token = _TOKEN.match(text, position)
        if token is None:
            rule = "must go on with an element; the run-times read no text, tab or declaration here"
            raise _wrong(text, position, rule)
        position = token.end()
        name = token["name"]
        if name is None:
            continue
        if token["close"]:
            if open_elements[-1].name != name or token["attributes"] or token["single"]:
                raise _wrong(text, token.end(), f"{name} must be closed where it was opened")
            open_elements.pop()
            continue
        element = Element(name, _attributes(token["attributes"], name), [])
        open_elements[-1].inner.append(element)
        if not token["single"]:
            open_elements.append(element)
    if len(open_elements) > 1:
        raise _wrong(text, end, f"must not end here: {open_elements[-1].name} must be closed")
    return top


def _wrong(text: str, position: int, rule: str) -> InvalidProgram:
    """Return the error of the line that ends or begins at a position."""
    return InvalidProgram(f"/line/{text.count(chr(10), 0, position) + 1}", rule)


def _attributes(text: str, name: str) -> dict[str, str]:
    pairs = _ATTRIBUTE.findall(text)[:MAX_ATTRIBUTES]
    named = [(key, value) for key, value in pairs if key]
    for key, value in named:
        if max(len(key.encode()), len(value.encode())) > MAX_VALUE_BYTES:
            rule = f"must have a name and a value of at most {MAX_VALUE_BYTES} bytes"
            raise InvalidProgram(f"/{name}/{key[:40]}", rule)
    if len(dict(named)) < len(named):
        raise InvalidProgram(f"/{name}", "must have each attribute once")
    return dict(named)
