"""The atlas: bases that were discovered, with their exact costs, as a file of text.

One line says what the file is; every other has fields separated by tabs, either

    point   nodes  degree  links  steps  bandwidth  steps  bandwidth  recipe  found
    search  nodes  degree  links  seed   rounds

The second pair of costs is that on the transpose.  `found` says by which seed and round of
the search; a `search` line says how many rounds are done, so that they can go on.
"""

import re
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

from synth.cost import Cost, Links
from synth.errors import InvalidAtlas, SynthError

__all__ = ["Atlas", "Entry", "Search", "bundled"]

HEADER = "topoloom atlas 1"
MAX_BYTES = 64 * 2**20
BUNDLED = Path(__file__).with_name("atlas.tsv")
"""The atlas that comes with the package."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A discovered base, its measured costs, and how it was found."""

    nodes: int
    degree: int
    links: Links
    cost: Cost
    transpose: Cost
    recipe: str
    found: str

    @property
    def family(self) -> str:
        """The family that the recipe names."""
        return self.recipe.partition("(")[0]

    @property
    def arguments(self) -> tuple[int, ...]:
        """The arguments in the recipe: an atlas has thousands and needs few at a time."""
        return tuple(map(int, self.recipe.partition("(")[2].rstrip(")").split(",")))

    def dominates(self, other: "Entry") -> bool:
        """Return whether this is no worse in steps and bandwidth, both ways."""
        return all(
            mine.steps <= theirs.steps and mine.bandwidth <= theirs.bandwidth
            for mine, theirs in ((self.cost, other.cost), (self.transpose, other.transpose))
        )

    @property
    def worst(self) -> Cost:
        """The larger of the steps, and the mean of the bandwidths, of both directions."""
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


class Atlas:
    """Entries by size, none of which dominates another, and the searches they come from."""

    def __init__(self) -> None:
        self._entries: dict[tuple[int, int], list[Entry]] = {}
        self._by_recipe: dict[str, Entry] = {}
        self.rounds: dict[Search, int] = {}

    def __iter__(self) -> Iterator[Entry]:
        """Go through all entries by size."""
        for size in sorted(self._entries):
            yield from sorted(
                self._entries[size], key=lambda e: (e.links, e.cost, e.transpose, e.recipe)
            )

    def __len__(self) -> int:
        return len(self._by_recipe)

    def of_size(self, nodes: int, degree: int) -> tuple[Entry, ...]:
        """Return the entries of exactly this size, one-way and two-way."""
        return tuple(self._entries.get((nodes, degree), ()))

    def searched(self, nodes: int, degree: int, links: Links) -> bool:
        """Return whether this size was searched, with or without finds worth keeping."""
        return any(
            (search.nodes, search.degree, search.links) == (nodes, degree, links)
            for search in self.rounds
        )

    def entry(self, recipe: str) -> Entry | None:
        """Return the entry of this very recipe, in canonical text."""
        return self._by_recipe.get(recipe)

    def add(self, entry: Entry) -> bool:
        """Keep an entry unless one of its size and links dominates it; return whether kept.

        Entries that it dominates are dropped.
        """
        alike = self._entries.setdefault((entry.nodes, entry.degree), [])
        rivals = [other for other in alike if other.links is entry.links]
        if any(other.dominates(entry) for other in rivals):
            return False
        for other in rivals:
            if entry.dominates(other):
                self.discard(other)
        alike.append(entry)
        self._by_recipe[entry.recipe] = entry
        return True

    def discard(self, entry: Entry) -> None:
        """Drop an entry."""
        self._entries[entry.nodes, entry.degree].remove(entry)
        del self._by_recipe[entry.recipe]

    def text(self) -> str:
        """Return the text of the file; the same atlas gives the same text."""
        lines = [HEADER]
        for search, rounds in sorted(self.rounds.items()):
            size = (search.nodes, search.degree, search.links)
            lines.append(_line("search", *size, search.seed, rounds))
        for one in self:
            costs = (c for cost in (one.cost, one.transpose) for c in (cost.steps, cost.bandwidth))
            size = (one.nodes, one.degree, one.links)
            lines.append(_line("point", *size, *costs, one.recipe, one.found))
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
        synth.errors.InvalidAtlas: atlas, line 1: must be 'topoloom atlas 1'
        """
        atlas = cls()
        for number, line in enumerate(text.splitlines(), 1):
            try:
                atlas._take(line, number)
            except (ValueError, ZeroDivisionError, SynthError) as error:
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
        kind, *fields = line.split("\t")
        match kind, fields:
            case "search", [nodes, degree, links, seed, rounds]:
                search = Search(int(nodes), int(degree), Links(links), int(seed))
                self.rounds[search] = int(rounds)
            case "point", [nodes, degree, links, *costs, recipe, found] if len(costs) == 4:
                if not _BASE.fullmatch(recipe):
                    raise ValueError
                there = Cost(int(costs[0]), Fraction(costs[1]))
                back = Cost(int(costs[2]), Fraction(costs[3]))
                size = (int(nodes), int(degree), Links(links))
                self.add(Entry(*size, there, back, recipe, found))
            case _:
                raise ValueError


_BASE = re.compile(r"[A-Za-z]+\(\d+(, \d+)*\)")
_SHAPES = "line: must be a point of 9 fields or a search of 5, separated by tabs"


def _line(*fields: object) -> str:
    return "\t".join(map(str, fields))


@lru_cache(maxsize=1)
def bundled() -> Atlas:
    """Return the atlas that comes with the package; it is read once."""
    return Atlas.load(BUNDLED)


def merged(atlases: Iterable[Atlas]) -> Atlas:
    """Return one atlas of the best of several."""
    whole = Atlas()
    for atlas in atlases:
        for entry in atlas:
            whole.add(entry)
        for search, rounds in atlas.rounds.items():
            whole.rounds[search] = max(rounds, whole.rounds.get(search, 0))
    return whole
