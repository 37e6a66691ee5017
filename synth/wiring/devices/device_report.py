"""Contents of a text about the wiring of panels: stated pairs, and commands that change pairs."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from topoloom.synth.errors import InvalidWiring
from topoloom.synth.wiring.plant import Pair, Plant, Port, Present, Side
from topoloom.synth.wiring.plant.validation import check_pairs


class Verb(Enum):
    """Meaning of an entry: a pair is plugged, or a command adds or removes a pair."""

    PLUGGED = "plugged"
    ADD = "add"
    REMOVE = "remove"


class Entry(NamedTuple):
    """One pair in a text.

    ``where`` is a JSON pointer, ``/line/N`` in texts of lines.  A pair with ``b`` -1 stands for the
    pair at the port ``a``.  A ``dark`` pair carries no light.
    """

    where: str
    verb: Verb
    pair: Pair
    dark: bool = False
    foreign: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """Entries of a text.

    ``stated`` are the panels of which the text states all pairs, ``commanded`` those that its
    commands change.
    """

    entries: tuple[Entry, ...] = ()
    stated: frozenset[int] = frozenset()
    commanded: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()

    def below(self, lines: int) -> "Report":
        """Return the report of the same text with more lines above."""
        moved = tuple(one._replace(where=place_below(one.where, lines)) for one in self.entries)
        return Report(moved, self.stated, self.commanded, self.notes)


@dataclass(frozen=True, slots=True)
class Observed:
    """The wiring that a text describes.

    Attributes:
        present: The pairs of all panels; panels outside ``panels`` keep their former pairs.
        panels: Panels that the text describes.
        dark: Plugged pairs that carry no light.
        commanded: Panels of which the text holds commands.
        notes: Sentences about what the text does not state.
    """

    present: Present
    panels: frozenset[int]
    dark: frozenset[Pair] = frozenset()
    commanded: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()


def place_below(place: str, lines: int) -> str:
    """Return the place of a line below more lines; other places stay.

    >>> place_below("/line/3/a", 10), place_below("/cables/3", 10)
    ('/line/13/a', '/cables/3')
    """
    root, word, *rest = place.split("/") if place.startswith("/line/") else ("", "")
    return "/".join([root, word, str(int(rest[0]) + lines), *rest[1:]]) if rest else place


def whole_report(pairs: Iterable[tuple[str, Pair]], panels: Iterable[int]) -> Report:
    """Return the report of a text that states all pairs of some panels."""
    entries = tuple(Entry(where, Verb.PLUGGED, pair) for where, pair in pairs)
    return Report(entries, frozenset(panels))


def commands(entries: Iterable[Entry]) -> Report:
    """Return the report of a text that holds commands only."""
    found = tuple(entries)
    return Report(found, commanded=frozenset(one.pair.panel for one in found))


def movable(plant: Plant) -> frozenset[int]:
    """Return the panels that have cross-connects."""
    return frozenset(n for n, panel in enumerate(plant.panels) if not panel.bundles)


def wiring_after(plant: Plant, base: Present, reports: Iterable[Report]) -> Observed:
    """Return the wiring after all entries of some reports.

    Args:
        base: Start of the commands, and the pairs of panels without entries.

    Raises:
        InvalidWiring: A port is in two stated pairs, a command adds a pair at a busy port, or a
            command removes a pair that is not plugged; with the place of the entry.

    >>> from topoloom.synth.wiring.plant import uniform
    >>> plant = uniform("single", 3, 1)
    >>> base = Present.of([(0, 0, 1)])
    >>> turn = [Entry("", Verb.REMOVE, Pair(0, 0, -1)), Entry("", Verb.ADD, Pair(0, 0, 2))]
    >>> wiring_after(plant, base, [commands(turn)]).present.pairs
    (Pair(panel=0, a=0, b=2),)
    """
    read = list(reports)
    entries = [one for report in read for one in report.entries]
    told = frozenset().union(*(report.stated for report in read))
    plugged = [one for one in entries if one.verb is Verb.PLUGGED]
    given = Present(tuple(one.pair for one in plugged))
    check_pairs(plant, given, [one.where for one in plugged], InvalidWiring)
    kept = [pair for pair in base.pairs if pair.panel not in told]
    at = {port: pair for pair in (*kept, *given.pairs) for port in plant.ends(pair)}
    for one in entries:
        if one.verb is not Verb.PLUGGED:
            _carry_out(plant, at, one)
    pairs = frozenset(at.values())
    foreign = plant.present.foreign | base.foreign | {one.pair for one in plugged if one.foreign}
    commanded = frozenset[int]().union(*(report.commanded for report in read))
    panels = told | commanded
    notes = dict.fromkeys(note for report in read for note in report.notes)
    return Observed(
        Present.of(pairs, foreign & pairs),
        panels,
        frozenset(one.pair for one in plugged if one.dark) & pairs,
        commanded,
        (*notes, *_assumptions(plant, base, panels, len(entries) - len(plugged))),
    )


def _carry_out(plant: Plant, at: dict[Port, Pair], one: Entry) -> None:
    panel = plant.panels[one.pair.panel]
    if one.verb is Verb.ADD:
        for port in plant.ends(one.pair):
            if port in at:
                raise InvalidWiring(
                    one.where,
                    f"adds {plant.pair_name(one.pair)} to {panel.id}, where "
                    f"{plant.pair_name(at[port])} is plugged",
                )
        at.update(dict.fromkeys(plant.ends(one.pair), one.pair))
        return
    here = at.get(Port(one.pair.panel, Side.A, one.pair.a))
    if here is None or one.pair.b not in (-1, here.b):
        what = panel.a[one.pair.a] if one.pair.b < 0 else plant.pair_name(one.pair)
        raise InvalidWiring(one.where, f"removes {what} from {panel.id}, which is not plugged")
    for port in plant.ends(here):
        del at[port]


def _assumptions(
    plant: Plant, base: Present, panels: frozenset[int], count: int
) -> tuple[str, ...]:
    """Return sentences about the pairs that are taken from the base."""
    said = []
    if count:
        said.append(f"The text holds {count} commands: the wiring is read as after all of them.")
    others = [plant.panels[panel].id for panel in sorted(movable(plant) - panels)]
    if others:
        left = sum(pair.panel not in panels for pair in base.pairs)
        names = ", ".join(others[:5]) + (", ..." if len(others) > 5 else "")
        said.append(f"The text does not describe {names}: their {left} known pairs are kept.")
    return tuple(said)
