"""XML from strangers: a small tree with line numbers; no DOCTYPE, so no entities."""

from dataclasses import dataclass, field
from xml.parsers import expat

from topoloom.synth.formats.topology_draft import line, wrong

MAX_DEPTH = 64
MAX_ELEMENTS = 1_000_000
MAX_TEXT = 1_000


@dataclass(slots=True)
class Element:
    """An element; ``tag`` is without a namespace prefix, ``text`` its beginning."""

    tag: str
    attributes: dict[str, str]
    place: str
    children: "list[Element]" = field(default_factory=list)
    text: str = ""

    def all(self, *tags: str) -> "list[Element]":
        """Return the children of these tags, in order."""
        return [child for child in self.children if child.tag in tags]

    def get(self, name: str) -> str:
        """Return an attribute that must be there."""
        value = self.attributes.get(name)
        if value is None:
            raise wrong(self.place, f"<{self.tag}> must have an attribute {name}")
        return value

    def number(self, name: str, most: int, default: int | None = None) -> int:
        """Return an attribute that must be a whole number from 0 to ``most``."""
        if default is not None and name not in self.attributes:
            return default
        text = self.get(name)
        if not (text.isascii() and text.isdigit() and len(text) <= 18 and int(text) <= most):
            raise wrong(
                self.place,
                f"{name} of <{self.tag}> must be a whole number, at most {most}; "
                f"{text[:50]!r} is not",
            )
        return int(text)


def parse(text: str, root: str) -> Element:
    """Return the root element, which must have this tag.

    Raises:
        InvalidTopology: It is not well-formed, has a DOCTYPE, nests deeper than 64, holds more than
            a million elements, or has another root.

    >>> parse("<a><b c='1'/></a>", "a").all("b")[0].number("c", 9)
    1
    >>> parse("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "a")
    Traceback (most recent call last):
    ...
    topoloom.synth.errors.InvalidTopology: /line/1: must have no DOCTYPE
    """
    builder = _Builder()
    try:
        builder.parser.Parse(text, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise wrong(line(error.lineno), f"must be well-formed XML: {reason}") from None
    except UnicodeError:
        raise wrong("", "must be text that UTF-8 can write") from None
    found = builder.top.children[0]
    if found.tag != root:
        raise wrong(found.place, f"the root must be <{root}>, not <{found.tag[:50]}>")
    return found


class _Builder:
    """Expat's events, made into a tree."""

    def __init__(self) -> None:
        self.parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._doctype
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        self.top = Element("", {}, "")
        self._open = [self.top]
        self._count = 0

    def _here(self) -> str:
        return line(self.parser.CurrentLineNumber)

    def _doctype(self, *_: object) -> None:
        raise wrong(self._here(), "must have no DOCTYPE")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if len(self._open) > MAX_DEPTH:
            raise wrong(self._here(), f"must nest at most {MAX_DEPTH} deep")
        if self._count > MAX_ELEMENTS:
            raise wrong(self._here(), f"must have at most {MAX_ELEMENTS} elements")
        element = Element(tag.rpartition(":")[2], attributes, self._here())
        self._open[-1].children.append(element)
        self._open.append(element)

    def _end(self, _: str) -> None:
        self._open.pop()

    def _text(self, text: str) -> None:
        # Whitespace between a million elements must not be copied a million times.
        if len(self._open[-1].text) < MAX_TEXT:
            self._open[-1].text += text
