"""Ways for links on plants whose panels are joined by trunks: where light can be led.

Two ports on one panel are joined by one pair, ports on two by a pair on each and a trunk between,
and so on over several panels.  A link joins two *sites*, ports of hosts as they can be plugged;
each of its *strands*, one for every lane and, where the two directions have fibers of their own,
for each of them, takes a *path* over bundles of trunks.  Alike sites are of one *class*, and
links between two classes by the same paths are of one *kind*.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations_with_replacement, islice, product
from typing import NamedTuple

from topoloom.synth.wiring import limits
from topoloom.synth.wiring.assignment.channels import Site
from topoloom.synth.wiring.plant import Mode, Plant, Port, Side, Trunk


class Group(NamedTuple):
    """Ports of one side of a panel, interchangeable: all can be joined to the same ports."""

    panel: int
    side: Side


Bundle = tuple[Group, Group]
"""Trunks, by the ports that can be joined to their near and to their far ends."""

Path = tuple[Bundle, ...]
"""The bundles that a strand passes, one trunk of each; none where both ends are on one panel."""


class SiteClass(NamedTuple):
    """A class of equal sites: the port groups they send into and receive from, by lane."""

    tx: tuple[Group, ...]
    rx: tuple[Group, ...]
    one_fibre: bool


class Kind(NamedTuple):
    """A kind of way for links: the classes of both sites, and the path of every strand."""

    first: SiteClass
    second: SiteClass
    paths: tuple[Path, ...]

    @property
    def on(self) -> Counter[int]:
        """Number of pairs that such a link takes, by panel."""
        starts = strands(self.first, self.second)
        return Counter(
            group.panel
            for (start, _), path in zip(starts, self.paths, strict=True)
            for group in (start, *(far for _, far in path))
        )

    @property
    def pairs(self) -> int:
        """Number of pairs that such a link takes."""
        return len(self.paths) + sum(map(len, self.paths))


def class_of(site: Site) -> SiteClass:
    """Return the class of a site."""
    tx, rx = (tuple(Group(end.panel, end.side) for end in side) for side in (site.tx, site.rx))
    return SiteClass(tx, rx, site.tx == site.rx)


def strands(first: SiteClass, second: SiteClass) -> list[tuple[Group, Group]]:
    """Return where the strands of a link start and end; none if the sites do not match.

    Strands from the first site come first; a fiber that carries both ways has no others.
    """
    if first.one_fibre != second.one_fibre or len(first.tx) != len(second.rx):
        return []
    ahead = list(zip(first.tx, second.rx, strict=True))
    if first.one_fibre or not first.rx:
        return ahead
    if len(second.tx) != len(first.rx):
        return []
    return ahead + list(zip(second.tx, first.rx, strict=True))


@dataclass
class Ends:
    """The resources of links: sites by node and class, and trunks by bundle.

    With ``duplex`` links go both ways, and ``receivers`` is ``senders``.  ``way_in`` is the loss
    of light between hosts and a panel.  A path has at most ``most_trunks`` trunks; ``whole`` is
    true until a list of kinds or paths exceeds its limit.
    """

    plant: Plant
    duplex: bool
    hosts: tuple[int, ...]
    senders: dict[tuple[int, SiteClass], list[Site]]
    receivers: dict[tuple[int, SiteClass], list[Site]]
    trunks: dict[Bundle, list[Trunk]]
    way_in: Callable[[int], Fraction]
    most_trunks: int = limits.MAX_TRUNKS
    whole: bool = True
    _known: dict[tuple[SiteClass, SiteClass, bool], list[Kind]] = field(default_factory=dict)
    _paths: dict[tuple[Group, Group], list[Path]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._classes = _listed(self.senders), _listed(self.receivers)
        self._onward: dict[Group, list[Group]] = defaultdict(list)
        for near, far in sorted(self.trunks):
            self._onward[near].append(far)
            if near != far and self.both_ways(near.panel):
                self._onward[far].append(near)

    def limited(self, most_trunks: int) -> "Ends":
        """Return the same with shorter paths."""
        return Ends(
            self.plant, self.duplex, self.hosts, self.senders, self.receivers, self.trunks,
            self.way_in, most_trunks,
        )  # fmt: skip

    def bright(self, start: Group, path: Path) -> bool:
        """Whether the loss of a path is within the plant's budget, with the worst of its trunks.

        Paths over one trunk are always within the budget, without a check.
        """
        budget = self.plant.budget_db
        if budget is None or len(path) < 2:
            return True
        passed = [start.panel, *(far.panel for _, far in path)]
        lost = sum(self.plant.panels[panel].loss_db for panel in passed)
        lost += sum(max(t.loss_db for t in self.trunks[self.key(bundle)]) for bundle in path)
        return lost + self.way_in(passed[0]) + self.way_in(passed[-1]) <= budget

    def both_ways(self, panel: int) -> bool:
        """Whether light goes both ways through the pairs of a panel."""
        return self.plant.panels[panel].mode is Mode.BIDIRECTIONAL

    def key(self, bundle: Bundle) -> Bundle:
        """Return how a bundle is named, in whichever direction it is passed."""
        near, far = bundle
        return (far, near) if self.both_ways(near.panel) and far < near else bundle

    def facing(self, port: Port | Group) -> Group:
        """Return the ports that one can be joined to."""
        return Group(port.panel, self.plant.panels[port.panel].opposite(port.side))

    def kinds(self, u: int, v: int, everywhere: bool = False) -> list[Kind]:
        """Return the kinds of ways from one node to another, those of fewest pairs first.

        ``everywhere`` adds those over one trunk that is not there.
        """
        found = [
            kind
            for first in self._classes[0].get(u, ())
            for second in self._classes[1].get(v, ())
            for kind in self._between(first, second, everywhere)
        ]
        return sorted(found, key=lambda kind: (kind.pairs, kind))

    def _between(self, first: SiteClass, second: SiteClass, everywhere: bool) -> list[Kind]:
        at = (first, second, everywhere)
        if at not in self._known:
            found = list(
                islice(self._listed_kinds(first, second, everywhere), limits.MAX_KINDS + 1)
            )
            self.whole = self.whole and len(found) <= limits.MAX_KINDS
            found.sort(key=lambda kind: kind.pairs)
            self._known[at] = found[: limits.MAX_KINDS]
        return self._known[at]

    def _listed_kinds(
        self, first: SiteClass, second: SiteClass, everywhere: bool
    ) -> Iterator[Kind]:
        """Yield the kinds between two classes; of strands that are alike, no two orders."""
        led = strands(first, second)
        alike = Counter(led)
        ways = [
            combinations_with_replacement(self.paths(*ends, everywhere), count)
            for ends, count in alike.items()
        ]
        for chosen in product(*ways) if led else ():
            left = {ends: list(paths) for ends, paths in zip(alike, chosen, strict=True)}
            yield Kind(first, second, tuple(left[ends].pop(0) for ends in led))

    def paths(self, start: Group, end: Group, everywhere: bool = False) -> list[Path]:
        """Return the paths from ports of one side of a panel to another, the shortest first."""
        if (start, end) not in self._paths:
            found = list(islice(self._found(start, end), limits.MAX_PATHS + 1))
            self.whole = self.whole and len(found) <= limits.MAX_PATHS
            self._paths[start, end] = found[: limits.MAX_PATHS]
        known = self._paths[start, end]
        straight = ((start, end),)
        if everywhere and () not in known and straight not in known:
            same = self.both_ways(start.panel) == self.both_ways(end.panel)
            return [*known, straight] if same else known
        return known

    def _found(self, start: Group, end: Group) -> Iterator[Path]:
        if self.facing(start) == end:
            yield ()
        rows: list[tuple[Group, Path]] = [(start, ())]
        for _ in range(self.most_trunks):
            further: list[tuple[Group, Path]] = []
            for near, path in rows:
                passed = {start.panel, *(far.panel for _, far in path)}
                for far in self._onward.get(near, ()):
                    longer = (*path, (near, far))
                    if far == end and self.bright(start, longer):
                        yield longer
                    if far.panel not in passed:
                        further.append((self.facing(far), longer))
            rows = further


def _listed(sites: dict[tuple[int, SiteClass], list[Site]]) -> dict[int, list[SiteClass]]:
    found: dict[int, list[SiteClass]] = defaultdict(list)
    for node, kind in sorted(sites):
        found[node].append(kind)
    return found
