"""Command texts: headings by stage and panel, and ports by their places on a side, from 1."""

import re
from collections.abc import Callable, Iterable

from topoloom.synth.errors import DoesNotFit, InvalidWiring
from topoloom.synth.wiring.plans.panel_actions import Script, Step
from topoloom.synth.wiring.plant import Pair, Plant, Side


def command_text(
    script: Script, commands: Callable[[int, Step], Iterable[str]], end: str = ""
) -> str:
    """Return the commands of every block below its heading, all panels of a stage first.

    Args:
        commands: Takes a panel and its moves in one stage, and returns a line for every command.
        end: Terminator of a command.  A heading ends with the terminator, too: a device without
            comments then refuses only the heading, not the command below.
    """
    lines: list[str] = []
    for stage, panel, step in script.blocks:
        lines.append(f"# panel {script.plant.panels[panel].id}, stage {stage}{end}")
        lines += commands(panel, step)
    return "".join(f"{line}\n" for line in lines)


def require_two_sides(script: Script, what: str) -> None:
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


def device_port(plant: Plant, panel: int, side: Side, text: str, where: str) -> int:
    """Return the index of a port that a device names by its position on a side, or by its name.

    >>> from topoloom.synth.wiring.plant import uniform
    >>> device_port(uniform("single", 8, 1), 0, Side.B, "3", ""), device_port(
    ...     uniform("single", 8, 1), 0, Side.A, "3A", "")
    (2, 3)
    """
    known = plant.port_index[panel, side]
    if re.fullmatch("[0-9]{1,7}", text) and 1 <= int(text) <= len(known):
        return int(text) - 1
    if text not in known:
        raise InvalidWiring(where, f"{plant.panels[panel].id} has no port {text[:40]!r} there")
    return known[text]
