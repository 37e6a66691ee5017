"""The atlas: topologies that were discovered, with their exact costs, as a file of text.

One line says what the file is; every other has fields separated by tabs, one of

    point   nodes  degree  links  steps  bandwidth  steps  bandwidth  recipe  found
    labels  nodes  degree  links  steps  bandwidth  steps  bandwidth  within  recipe  found
    search  nodes  degree  links  seed   rounds
    sweep   nodes  degree  links  seed   rounds

The second pair of costs is that on the transpose.  A `point` costs so much by breadth-first
broadcast, `labels` by labels within so many steps (`synth.slack`).  `found` says by which seed and
round of the search; a `search` for points, or a `sweep` for labels, says how many rounds are done,
so that they can go on.  Lines that begin with # are for people.
"""

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from topoloom.synth.errors import InvalidAtlas, SynthError
from topoloom.synth.evaluation.cost import Cost, Links

HEADER = "topoloom atlas 1"
"""The first line of every file."""
MAX_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Entry:
    """A discovered topology, its measured costs, and how it was found.

    ``within`` as in `synth.search.frontier.Point`: None for costs by breadth-first broadcast, else
    by labels within so many steps.
    """

    nodes: int
    degree: int
    links: Links
    cost: Cost
    transpose: Cost
    recipe: str
    found: str
    within: int | None = None

    @property
    def family(self) -> str:
        """The family that the recipe names."""
        return self.recipe.partition("(")[0]

    @property
    def is_random(self) -> bool:
        """Whether it is of random links or places, which a frontier draws where no sweep was."""
        return self.family in _RANDOM

    @property
    def arguments(self) -> tuple[int, ...]:
        """The arguments of a base (not an operator): an atlas has thousands and needs few."""
        return tuple(map(int, self.recipe.partition("(")[2].rstrip(")").split(",")))

    def dominates(self, other: "Entry") -> bool:
        """Return whether this is no worse in steps and bandwidth, both ways."""
        return all(
            mine.steps <= theirs.steps and mine.bandwidth <= theirs.bandwidth
            for mine, theirs in ((self.cost, other.cost), (self.transpose, other.transpose))
        )

    @property
    def worse(self) -> Cost:
        """The larger steps, and the larger bandwidth, of both directions."""
        return Cost(
            max(self.cost.steps, self.transpose.steps),
            max(self.cost.bandwidth, self.transpose.bandwidth),
        )

    @property
    def worst(self) -> Cost:
        """The larger steps, and the mean of the bandwidths, of both directions."""
        return Cost(
            max(self.cost.steps, self.transpose.steps),
            (self.cost.bandwidth + self.transpose.bandwidth) / 2,
        )


@dataclass(frozen=True, slots=True, order=True)
class Search:
    """What a search is about; the number of its rounds is kept in the atlas."""

    nodes: int
    degree: int
    links: Links
    seed: int
    by_labels: bool = False


class Atlas:
    """Entries by size, none of which dominates another, and the searches they come from.

    Costs by breadth-first broadcast and by labels are kept apart.
    """

    def __init__(self) -> None:
        self._entries: dict[tuple[bool, int, int], list[Entry]] = {}
        self._by_recipe: dict[str, Entry] = {}
        self.rounds: dict[Search, int] = {}

    def __iter__(self) -> Iterator[Entry]:
        """Go through all entries by size, those of breadth-first broadcast first."""
        for size in sorted(self._entries):
            yield from sorted(
                self._entries[size], key=lambda e: (e.links, e.cost, e.transpose, e.recipe)
            )

    def __len__(self) -> int:
        return sum(map(len, self._entries.values()))

    def of_size(self, nodes: int, degree: int, *, by_labels: bool = False) -> tuple[Entry, ...]:
        """Return the entries of exactly this size, one-way and two-way."""
        return tuple(self._entries.get((by_labels, nodes, degree), ()))

    def searched(self, nodes: int, degree: int, links: Links, *, by_labels: bool = False) -> bool:
        """Return whether this size was searched, with or without finds worth keeping."""
        return any(
            (search.nodes, search.degree, search.links) == (nodes, degree, links)
            for search in self.rounds
            if search.by_labels == by_labels
        )

    def entry(self, recipe: str) -> Entry | None:
        """Return the entry by breadth-first broadcast of this very recipe, in canonical text."""
        return self._by_recipe.get(recipe)

    def add(self, entry: Entry) -> bool:
        """Keep an entry unless one of its size and links dominates it; return whether kept.

        Entries that it dominates are dropped.
        """
        alike = self._entries.get(_place(entry), [])
        rivals = [other for other in alike if other.links is entry.links]
        if any(other.dominates(entry) for other in rivals):
            return False
        for other in rivals:
            if entry.dominates(other):
                self.discard(other)
        self._keep(entry)
        return True

    def _keep(self, entry: Entry) -> None:
        self._entries.setdefault(_place(entry), []).append(entry)
        if entry.within is None:
            self._by_recipe[entry.recipe] = entry

    def discard(self, entry: Entry) -> None:
        """Drop an entry."""
        self._entries[_place(entry)].remove(entry)
        if entry.within is None:
            del self._by_recipe[entry.recipe]

    def part(self, wanted: Callable[[int, int, Links], bool]) -> "Atlas":
        """Return the entries, and the searches, of the sizes and kinds of links that are wanted."""
        chosen = Atlas()
        for entry in self:
            if wanted(entry.nodes, entry.degree, entry.links):
                chosen._keep(entry)
        for search, rounds in self.rounds.items():
            if wanted(search.nodes, search.degree, search.links):
                chosen.rounds[search] = rounds
        return chosen

    def known(self, search: Search) -> list[Entry]:
        """Return what a search begins with: the entries of its size whose links serve it.

        Of one that is by labels, entries by labels beside the others.
        """
        size = search.nodes, search.degree
        found = [
            *self.of_size(*size),
            *(self.of_size(*size, by_labels=True) if search.by_labels else ()),
        ]
        return [entry for entry in found if entry.links in (search.links, Links.BIDIRECTIONAL)]

    def text(self, remarks: Iterable[str] = ()) -> str:
        """Return the text of the file; the same atlas and remarks give the same text."""
        lines = [HEADER, *(f"# {remark}" for remark in remarks)]
        for search, rounds in sorted(self.rounds.items()):
            size = (search.nodes, search.degree, search.links)
            lines.append(
                _line("sweep" if search.by_labels else "search", *size, search.seed, rounds)
            )
        for one in self:
            costs = [c for cost in (one.cost, one.transpose) for c in (cost.steps, cost.bandwidth)]
            size = (one.nodes, one.degree, one.links)
            within = () if one.within is None else (one.within,)
            kind = "labels" if within else "point"
            lines.append(_line(kind, *size, *costs, *within, one.recipe, one.found))
        return "\n".join(lines) + "\n"

    def save(self, path: Path) -> None:
        """Write the file, whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            file.write(self.text())
        Path(file.name).chmod(0o644)
        Path(file.name).replace(path)

    @classmethod
    def load(cls, path: Path) -> "Atlas":
        """Read a file.

        Raises
        ------
        InvalidAtlas
            It is not an atlas; the field is the file and the line.
        """
        try:
            if path.stat().st_size > MAX_BYTES:
                raise InvalidAtlas(str(path), f"must have at most {MAX_BYTES} bytes")
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            raise InvalidAtlas(str(path), "must be text in UTF-8") from None
        except OSError as error:
            raise InvalidAtlas(str(path), error.strerror or "cannot be read") from None
        return cls.read(text, str(path))

    @classmethod
    def read(cls, text: str, name: str = "atlas") -> "Atlas":
        """Read the text of a file; raises as `load`.

        >>> Atlas.read("point")
        Traceback (most recent call last):
        ...
        topoloom.synth.errors.InvalidAtlas: atlas, line 1: must be 'topoloom atlas 1'
        """
        atlas = cls()
        for number, line in enumerate(text.splitlines(), 1):
            try:
                atlas._take(line, number)
            except (ValueError, IndexError, ZeroDivisionError, SynthError) as error:
                rule = str(error) if isinstance(error, InvalidAtlas) else _SHAPES
                raise InvalidAtlas(f"{name}, line {number}", rule.partition(": ")[2]) from None
        if not text:
            raise InvalidAtlas(f"{name}, line 1", f"must be {HEADER!r}")
        return atlas

    def _take(self, line: str, number: int) -> None:
        if number == 1:
            if line != HEADER:
                raise InvalidAtlas("header", f"must be {HEADER!r}")
            return
        if line.startswith("#"):
            return
        kind, *fields = line.split("\t")
        size = int(fields[0]), int(fields[1]), Links(fields[2])
        match kind, fields[3:]:
            case "search" | "sweep", [seed, rounds]:
                self.rounds[Search(*size, int(seed), kind == "sweep")] = int(rounds)
            case "point", [*costs, recipe, found] if len(costs) == 4:
                self.add(_entry(size, costs, recipe, found, None))
            case "labels", [*costs, within, recipe, found] if len(costs) == 4:
                self.add(_entry(size, costs, recipe, found, int(within)))
            case _:
                raise ValueError


_RANDOM = ("RandomRegular", "RandomRegularTwoWay", "Inserted", "Removed", "Shortened")
# Parsed where it is used: an atlas has thousands of recipes, a question needs a few.
_RECIPE = re.compile(r"[A-Za-z]+\([A-Za-z0-9(), ]*\)")
_SHAPES = (
    "line: must be a point of 9 fields, labels of 10, or a search or sweep of 5, separated by tabs"
)


def _entry(
    size: tuple[int, int, Links], costs: list[str], recipe: str, found: str, within: int | None
) -> Entry:
    if not _RECIPE.fullmatch(recipe):
        raise ValueError
    there = Cost(int(costs[0]), Fraction(costs[1]))
    back = Cost(int(costs[2]), Fraction(costs[3]))
    return Entry(*size, there, back, recipe, found, within)


def _place(entry: Entry) -> tuple[bool, int, int]:
    return entry.within is not None, entry.nodes, entry.degree


def _line(*fields: object) -> str:
    return "\t".join(map(str, fields))


def merged(atlases: Iterable[Atlas]) -> Atlas:
    """Return one atlas of the best of several."""
    whole = Atlas()
    for atlas in atlases:
        for entry in atlas:
            whole.add(entry)
        for search, rounds in atlas.rounds.items():
            whole.rounds[search] = max(rounds, whole.rounds.get(search, 0))
    return whole
