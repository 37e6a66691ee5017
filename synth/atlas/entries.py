"""The atlas: discovered topologies with their exact costs, as a text file.

The first line names the format; each other line has tab-separated fields, one of

    point   nodes  degree  links  steps  bandwidth  steps  bandwidth  recipe  found
    labels  nodes  degree  links  steps  bandwidth  steps  bandwidth  within  recipe  found
    search  nodes  degree  links  seed   rounds
    sweep   nodes  degree  links  seed   rounds

The second pair of costs applies to the transpose.  A `point` has costs by breadth-first broadcast,
a `labels` line by slack schedules of at most ``within`` steps (`synth.slack`).  ``found`` names
the seed and the round of the search.  A `search` for points, or a `sweep` for slack schedules,
counts its finished rounds, so that it can resume.  Lines that begin with # are comments.
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
    """A discovered topology, its measured costs, and its origin.

    ``within`` is None for costs by breadth-first broadcast, else the limit on the steps of slack
    schedules, as in `synth.search.frontier.Point`.
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
        """Name of the family or outer operator of the recipe."""
        return self.recipe.partition("(")[0]

    @property
    def is_random(self) -> bool:
        """Whether the recipe has random links; a frontier samples such graphs at new sizes."""
        return self.family in _RANDOM

    @property
    def arguments(self) -> tuple[int, ...]:
        """Arguments of a base, not an operator; parsed on demand."""
        return tuple(map(int, self.recipe.partition("(")[2].rstrip(")").split(",")))

    def dominates(self, other: "Entry") -> bool:
        """Return whether steps and bandwidth are no worse than another's, in both directions."""
        return all(
            mine.steps <= theirs.steps and mine.bandwidth <= theirs.bandwidth
            for mine, theirs in ((self.cost, other.cost), (self.transpose, other.transpose))
        )

    @property
    def worse_cost(self) -> Cost:
        """The larger steps and the larger bandwidth of both directions."""
        return Cost(
            max(self.cost.steps, self.transpose.steps),
            max(self.cost.bandwidth, self.transpose.bandwidth),
        )

    @property
    def mean_cost(self) -> Cost:
        """The larger steps and the mean bandwidth of both directions."""
        return Cost(
            max(self.cost.steps, self.transpose.steps),
            (self.cost.bandwidth + self.transpose.bandwidth) / 2,
        )


@dataclass(frozen=True, slots=True, order=True)
class Search:
    """Identity of a search; the atlas counts its rounds."""

    nodes: int
    degree: int
    links: Links
    seed: int
    by_slack: bool = False


class Atlas:
    """Pareto-optimal entries by size, and the searches behind them.

    Costs by breadth-first broadcast and by slack schedules are compared separately.
    """

    def __init__(self) -> None:
        self._entries: dict[tuple[bool, int, int], list[Entry]] = {}
        self._by_recipe: dict[str, Entry] = {}
        self.rounds: dict[Search, int] = {}

    def __iter__(self) -> Iterator[Entry]:
        """Iterate over all entries by size, breadth-first broadcast first."""
        for size in sorted(self._entries):
            yield from sorted(
                self._entries[size], key=lambda e: (e.links, e.cost, e.transpose, e.recipe)
            )

    def __len__(self) -> int:
        return sum(map(len, self._entries.values()))

    def of_size(self, nodes: int, degree: int, *, by_slack: bool = False) -> tuple[Entry, ...]:
        """Return the entries of exactly this size, one-way and two-way."""
        return tuple(self._entries.get((by_slack, nodes, degree), ()))

    def searched(self, nodes: int, degree: int, links: Links, *, by_slack: bool = False) -> bool:
        """Return whether this size was searched, with or without results."""
        return any(
            (search.nodes, search.degree, search.links) == (nodes, degree, links)
            for search in self.rounds
            if search.by_slack == by_slack
        )

    def entry(self, recipe: str) -> Entry | None:
        """Return the breadth-first-broadcast entry of a recipe in canonical text, or None."""
        return self._by_recipe.get(recipe)

    def add(self, entry: Entry) -> bool:
        """Add an entry unless another of its size and links dominates it; return whether added.

        Removes the entries that it dominates.
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
        """Remove an entry."""
        self._entries[_place(entry)].remove(entry)
        if entry.within is None:
            del self._by_recipe[entry.recipe]

    def part(self, wanted: Callable[[int, int, Links], bool]) -> "Atlas":
        """Return the part of the atlas for which ``wanted(nodes, degree, links)`` holds."""
        chosen = Atlas()
        for entry in self:
            if wanted(entry.nodes, entry.degree, entry.links):
                chosen._keep(entry)
        for search, rounds in self.rounds.items():
            if wanted(search.nodes, search.degree, search.links):
                chosen.rounds[search] = rounds
        return chosen

    def known(self, search: Search) -> list[Entry]:
        """Return the entries of a search's size and kind of links.

        Two-way entries serve one-way searches.  Slack entries are included if ``by_slack``.
        """
        size = search.nodes, search.degree
        entries = [
            *self.of_size(*size),
            *(self.of_size(*size, by_slack=True) if search.by_slack else ()),
        ]
        return [entry for entry in entries if entry.links in (search.links, Links.BIDIRECTIONAL)]

    def text(self, remarks: Iterable[str] = ()) -> str:
        """Return the text of the file; the same atlas and remarks give the same text."""
        lines = [HEADER, *(f"# {remark}" for remark in remarks)]
        for search, rounds in sorted(self.rounds.items()):
            size = (search.nodes, search.degree, search.links)
            lines.append(
                _line("sweep" if search.by_slack else "search", *size, search.seed, rounds)
            )
        for entry in self:
            costs = [
                c for cost in (entry.cost, entry.transpose) for c in (cost.steps, cost.bandwidth)
            ]
            size = (entry.nodes, entry.degree, entry.links)
            within = () if entry.within is None else (entry.within,)
            kind = "labels" if within else "point"
            lines.append(_line(kind, *size, *costs, *within, entry.recipe, entry.found))
        return "\n".join(lines) + "\n"

    def save(self, path: Path) -> None:
        """Write the file atomically."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            file.write(self.text())
        Path(file.name).chmod(0o644)
        Path(file.name).replace(path)

    @classmethod
    def load(cls, path: Path) -> "Atlas":
        """Read a file.

        Raises:
            InvalidAtlas: The file is no atlas; the field names the file and the line.
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
        """Parse the text of a file; raises as `load`.

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
# Recipes stay unparsed until use: an atlas has thousands, a frontier needs a few.
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


def merge_atlases(atlases: Iterable[Atlas]) -> Atlas:
    """Return the union of several atlases without dominated entries."""
    whole = Atlas()
    for atlas in atlases:
        for entry in atlas:
            whole.add(entry)
        for search, rounds in atlas.rounds.items():
            whole.rounds[search] = max(rounds, whole.rounds.get(search, 0))
    return whole
