"""Command texts: headings by stage and panel, and ports by their places on a side, from 1."""

import re
from collections.abc import Callable, Iterable, Iterator

from topoloom.synth.errors import DoesNotFit, InvalidWiring
from topoloom.synth.wiring.plans.panel_actions import Script, Step
from topoloom.synth.wiring.plant import Pair, Plant

_BLOCK = re.compile(r"# panel (.*), stage ([0-9]{1,6});?")


def command_text(
    script: Script, commands: Callable[[int, Step], Iterable[str]], end: str = ""
) -> str:
    """Return the commands of every block below its heading, all panels of a stage first.

    Parameters
    ----------
    script : Script
    commands : callable
        Takes a panel and its moves in one stage, and returns a line for every command.
    end : str
        Terminator of a command.  A heading ends with the terminator, too: a device without
        comments then refuses only the heading, not the command below.
    """
    lines: list[str] = []
    for stage, panel, step in script.blocks:
        lines.append(f"# panel {script.plant.panels[panel].id}, stage {stage}{end}")
        lines += commands(panel, step)
    return "".join(f"{line}\n" for line in lines)


def sided(script: Script, what: str) -> None:
    """Raise `DoesNotFit` unless every panel that moves joins an A side to a B side."""
    for panel in script.panels:
        if script.plant.panels[panel].one_sided:
            name = script.plant.panels[panel].id
            raise DoesNotFit("/format", f"{what} needs panels with two sides; {name} has one")


def across(plant: Plant, pair: Pair) -> tuple[int, int]:
    """Return the numbers of a pair where B ports are counted on after the A ports.

    >>> from topoloom.synth.wiring.plant import uniform
    >>> across(uniform("single", 8, 1), Pair(0, 2, 0))
    (3, 9)
    """
    panel = plant.panels[pair.panel]
    return pair.a + 1, pair.b + 1 + (0 if panel.one_sided else len(panel.a))


def pair_across(plant: Plant, panel: int, one: int, other: int, where: str) -> Pair:
    """Return the pair of two such numbers."""
    row = plant.panels[panel]
    ports = len(row.a)
    a, b = one - 1, other - 1 - (0 if row.one_sided else ports)
    if not (0 <= a < ports and 0 <= b < len(row.names("B"))) or (row.one_sided and a >= b):
        raise InvalidWiring(where, f"{row.id} has no pair of {one} and {other}")
    return Pair(panel, a, b)


def panel_blocks(text: str, plant: Plant) -> Iterator[tuple[int, int, str, str]]:
    """Yield (panel, stage, line, where it is) of a text whose comments say panel and stage."""
    at: tuple[int, int] | None = None
    for number, line in enumerate(text.splitlines()):
        where = f"/lines/{number}"
        head = _BLOCK.fullmatch(line)
        if head is not None:
            if head[1] not in plant.panel_index:
                raise InvalidWiring(where, f"there is no panel {head[1]!r}")
            at = plant.panel_index[head[1]], int(head[2])
        elif line and not line.startswith("#"):
            if at is None:
                raise InvalidWiring(where, "must stand below a comment that names panel and stage")
            yield *at, line, where
