"""Texts of one pair or command a line, as devices print and take them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from topoloom.synth.errors import InvalidWiring
from topoloom.synth.formats.machines.console_text import console_lines
from topoloom.synth.wiring.devices.device_report import Entry, Report
from topoloom.synth.wiring.plant import Plant

HEADING = re.compile(r"# panel (.+?)((?:, stage [0-9]{1,6})?);?\s*")
"""Line above the text of one panel, as formats of commands have it."""
_NAMED = re.compile(
    r"\S*@([\w.-]+):\S*[#$] ?.*|\"?([\w.-]+)\"? [0-9]{2,4}-[0-9]{2}-[0-9]{2} [0-9:]{8}"
)
"""Lines in which a device states its name: a prompt of a shell, and the header of TL1."""
_NO_PAIR = re.compile(r"|#.*|\S*@[\w.-]+:\S*[#$] ?.*|[-+| ]+|[\w .-]*[>$] ?")
"""Lines without a pair: comments, prompts and rules of tables."""
_LONGEST = 500
"""Characters of the longest heading or prompt."""

Reader = Callable[[Plant, int, re.Match[str], str], Iterable[Entry]]
"""Takes the plant, the panel, a matched line and its place, and returns the entries."""


class Language(NamedTuple):
    """A language of lines.

    ``states`` tells whether a text states all pairs of its panel.  A line that matches ``sign``
    identifies the language.  ``lines`` maps patterns of whole lines to readers; None marks lines
    without pairs.  A line that matches the first pattern of ``frame`` opens an answer, and a line
    that matches the second closes the answer.  Where ``breaks`` is true, a last line without a line
    break may be cut off: a number that lost digits is another port.
    """

    name: str
    states: bool
    sign: re.Pattern[str]
    lines: Mapping[re.Pattern[str], Reader | None]
    frame: tuple[re.Pattern[str], re.Pattern[str]] | None = None
    breaks: bool = False

    def match(self, line: str) -> tuple[re.Match[str], Reader | None] | None:
        """Return the match of a line and its reader; None for lines of other languages."""
        for pattern, reader in self.lines.items():
            found = pattern.fullmatch(line)
            if found is not None:
                return found, reader
        return None


class Part(NamedTuple):
    """The text of one panel; ``above`` counts the lines above the text in the file."""

    text: str
    panel: int | None = None
    above: int = 0


def parts(text: str, plant: Plant) -> Iterator[Part]:
    r"""Yield the parts of a text below headings; without a heading the whole text.

    Raises:
        InvalidWiring: A heading names no panel of the plant.

    >>> from topoloom.synth.wiring.plant import uniform
    >>> plant = uniform("per-port", 2, 2)
    >>> [part[1:] for part in parts("# panel panel-0\nx\n# panel panel-1\ny", plant)]
    [(0, 1), (1, 3)]
    """
    lines = text.lstrip("\ufeff").split("\n")
    # In a file of one markup, a name may look like a heading.
    markup = re.match(r"\s*(?:<|digraph)", text.lstrip("\ufeff"))
    heads = [
        (number, found)
        for number, line in enumerate(() if markup else lines)
        if line.startswith("# panel ")
        and len(line) <= _LONGEST
        and (found := HEADING.fullmatch(line)) is not None
    ]
    first = heads[0][0] if heads else len(lines)
    if not heads or any(line.strip() for line in lines[:first]):
        yield _part(lines[:first], None, 0)
    ends = [number for number, _ in heads[1:]] + [len(lines)]
    for (number, found), end in zip(heads, ends, strict=False):
        names = found[1], found[1] + found[2]
        panel = next((plant.panel_index[name] for name in names if name in plant.panel_index), None)
        if panel is None:
            raise InvalidWiring(f"/line/{number + 1}", f"there is no panel {found[1][:80]!r}")
        rest = [""] if end < len(lines) else []
        yield _part(lines[number + 1 : end] + rest, panel, number + 1)


def _part(lines: list[str], panel: int | None, above: int) -> Part:
    """Return the part of some lines, which begins with the first line that is not blank."""
    blank = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
    return Part("\n".join(lines[blank:]), panel, above + blank)


def panel_of(plant: Plant, given: int | None, names: Iterable[str], where: str) -> int:
    """Return the panel of a device: the given one, one of the names, or the only panel.

    Raises:
        InvalidWiring: The plant has several panels, and none of the names is one of them.
    """
    if given is not None:
        return given
    named = [plant.panel_index[name] for name in names if name in plant.panel_index]
    candidates = named or [n for n, panel in enumerate(plant.panels) if not panel.bundles]
    if len(set(candidates)) != 1:
        raise InvalidWiring(
            where,
            "states no panel of the plant; write a line '# panel ID' above the text of each panel",
        )
    return candidates[0]


def read_lines(
    text: str, plant: Plant, panel: int | None, languages: Iterable[Language]
) -> Report | None:
    """Return the report of a text in one of some languages; None for a text in none of them.

    Raises:
        InvalidWiring: A line is not in the language of the lines above, or names ports that the
            panel lacks.
    """
    lines = [line.strip() for line in console_lines(text)]
    known = tuple(languages)
    language = next((one for line in lines for one in known if one.sign.fullmatch(line)), None)
    if language is None:
        return None
    names = [name for line in lines if (found := _named(line)) for name in found.groups() if name]
    first = next(number for number, line in enumerate(lines, start=1) if line)
    at = panel_of(plant, panel, names, f"/line/{first}")
    entries: list[Entry] = []
    for number, line in enumerate(lines, start=1):
        found, where = language.match(line), f"/line/{number}"
        if found is not None:
            entries += () if found[1] is None else found[1](plant, at, found[0], where)
        elif not (_named(line) or (len(line) <= _LONGEST and _NO_PAIR.fullmatch(line))):
            raise InvalidWiring(where, f"is no line of {language.name}: {line[:60]!r}")
    if language.breaks and lines[-1]:
        raise InvalidWiring(f"/line/{len(lines)}", "may be cut off: it has no line break")
    _require_closed(language, lines)
    told = frozenset([at])
    return Report(
        tuple(entries), *((told, frozenset()) if language.states else (frozenset(), told))
    )


def _named(line: str) -> re.Match[str] | None:
    return _NAMED.fullmatch(line) if len(line) <= _LONGEST else None


def _require_closed(language: Language, lines: list[str]) -> None:
    """Raise `InvalidWiring` if the last answer of a text has no end."""
    if language.frame is None:
        return
    opening, closing = language.frame
    opened = None
    for number, line in enumerate(lines, start=1):
        if opening.fullmatch(line):
            opened = number
        elif closing.fullmatch(line):
            opened = None
    if opened is not None:
        raise InvalidWiring(f"/line/{opened}", f"begins an answer of {language.name} without end")
