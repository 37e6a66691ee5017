"""Paths of light over panels and trunks, and the pairs of today that each path keeps.

A path takes any trunk of a bundle, or a certain trunk.  A certain trunk is taken only where a pair
of today at it stays: all other trunks of a bundle are interchangeable.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from topoloom.synth.wiring import limits
from topoloom.synth.wiring.plant import Pair, Port
from topoloom.synth.wiring.routes.resources import Bundle, End, Group, Resources, Tip, strands


class Hop(NamedTuple):
    """A trunk on a path: any of the bundle, or the trunk that is entered at port ``near``."""

    bundle: Bundle
    near: Port | None = None


class Path(NamedTuple):
    """The trunks of a path in order, and the pairs of today that stay on the path."""

    hops: tuple[Hop, ...] = ()
    kept: tuple[Pair, ...] = ()

    @property
    def pairs(self) -> int:
        """Number of pairs of the path."""
        return len(self.hops) + 1


class Led(NamedTuple):
    """A link between two nodes: its ends, and the path of every strand."""

    nodes: tuple[int, int]
    first: End
    second: End
    paths: tuple[Path, ...]


class _Row(NamedTuple):
    """A path so far: the group that light comes from, and the port if that is certain.

    ``passed`` are the groups of the path.  With ``owes`` the next pair must be a pair of today.
    """

    group: Group
    at: Port | None
    path: Path
    passed: tuple[Group, ...] = ()
    owes: bool = False


@dataclass
class PathFinder:
    """Finds the paths of strands of at most ``most_trunks`` trunks.

    With ``keeping`` false, paths keep no pairs.  ``complete`` is true until a list of paths
    exceeds its limit.
    """

    resources: Resources
    most_trunks: int = limits.MAX_TRUNKS
    keeping: bool = True
    complete: bool = True
    _known: dict[tuple[Tip, Tip], list[Path]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # By group, the bundles that it leads into, and the group that light comes from beyond.
        self._onward: dict[Group, list[tuple[Hop, Group]]] = defaultdict(list)
        for near, far in sorted(self.resources.trunks):
            both = near != far and self.resources.both_ways(near.panel)
            for bundle in ((near, far), (far, near)) if both else ((near, far),):
                beyond = self.resources.facing(bundle[1])
                self._onward[bundle[0]].append((Hop(bundle), beyond))
        # Trunks by the group that leads into them, where a pair of today leads on to a trunk.
        self._joined: dict[Group, list[Port]] = defaultdict(list)
        for near, passage in sorted(self.resources.passages.items()):
            if self.keeping and self._next(passage.far):
                self._joined[passage.bundle[0]].append(near)

    def paths(self, start: Tip, end: Tip) -> list[Path]:
        """Return the paths of a strand, those of fewest trunks first."""
        at, to = start.port, end.port
        if not self.keeping or not (self._next(at) or self._joins(at, to)):
            at = None
        if not self.keeping or not (self._last(to) or self._joins(start.port, to)):
            to = None
        tips = Tip(start.group, at), Tip(end.group, to)
        if tips not in self._known:
            found = list(islice(self._found(*tips), limits.MAX_PATHS + 1))
            self.complete = self.complete and len(found) <= limits.MAX_PATHS
            plugged = self.kept_path(*tips)
            # A plugged path may stay whatever its length.
            self._known[tips] = list(dict.fromkeys([*found[: limits.MAX_PATHS], *plugged]))
        return self._known[tips]

    def kept_path(self, start: Tip, end: Tip) -> list[Path]:
        """Return the path of a strand as it is plugged today, if it is."""
        if start.port is None or end.port is None:
            return []
        joined = self._followed(start.port)
        near = [ports[1] for ports in joined[:-1]]
        hops = tuple(Hop(self.resources.passages[port].bundle, port) for port in near)
        if not joined or joined[-1][1] != end.port or not self._bright(start.group, hops):
            return []
        return [Path(hops, tuple(self._pair(*ports) for ports in joined))]

    def _followed(self, port: Port) -> list[tuple[Port, Port]]:
        """Return the two ports of each pair of today that light from a port passes."""
        found: list[tuple[Port, Port]] = []
        while (other := self.resources.partner.get(port)) and len(found) < len(self.resources.mine):
            found.append((port, other))
            if other not in self.resources.passages:
                break
            port = self.resources.passages[other].far
        return found

    @cached_property
    def plugged(self) -> dict[tuple[int, int], list[Led]]:
        """The links that are plugged as a whole today, by their nodes; duplex links once."""
        found: dict[tuple[int, int], list[Led]] = defaultdict(list)
        hears = {
            port: End(kind, site)
            for (_, kind), row in self.resources.receivers.items()
            for site in row
            for port in site.rx[:1]
        }
        for (_, kind), row in sorted(self.resources.senders.items()):
            for site in row:
                reached = self._followed(site.tx[0])
                first, second = End(kind, site), hears.get(reached[-1][1]) if reached else None
                if second is None or second.site is None or second.site.host == site.host:
                    continue
                if self.resources.duplex and second.site.host < site.host:
                    continue
                paths = [self.kept_path(*tips) for tips in strands(first, second)]
                if paths and all(paths):
                    nodes = site.host, second.site.host
                    whole = tuple(path for row in paths for path in row)
                    found[nodes].append(Led(nodes, first, second, whole))
        return dict(found)

    def kept_ports(self, path: Path) -> frozenset[Port]:
        """Return the ports of the pairs that stay on a path."""
        return frozenset(port for pair in path.kept for port in self.resources.plant.ends(pair))

    def may_keep(self, first: End, second: End) -> bool:
        """Whether a pair of today may stay at every certain site of a link."""
        for end, other in ((first, second), (second, first)):
            theirs = () if other.site is None else (*other.site.tx, *other.site.rx)
            if end.site is not None and not any(
                self._next(port) or self._last(port) or self.resources.partner.get(port) in theirs
                for port in (*end.site.tx, *end.site.rx)
            ):
                return False
        return True

    def _joins(self, one: Port | None, other: Port | None) -> bool:
        """Whether a pair of today joins two ports."""
        return one is not None and other is not None and self.resources.partner.get(one) == other

    def _next(self, port: Port | None) -> Port | None:
        """Return where light enters the trunk that a pair of today leads to from a port."""
        near = None if port is None else self.resources.partner.get(port)
        return near if near in self.resources.passages else None

    def _last(self, port: Port | None) -> Port | None:
        """Return where light enters the trunk that a pair of today joins to a port at its end."""
        other = None if port is None else self.resources.partner.get(port)
        near = None if other is None else self.resources.plant.trunk_ends.get(other)
        return near if near in self.resources.passages else None

    def _found(self, start: Tip, end: Tip) -> Iterator[Path]:
        rows = [_Row(start.group, start.port, Path())]
        # Light comes to the end from this group.
        last = self.resources.facing(end.group)
        for left in reversed(range(self.most_trunks + 1)):
            further: list[_Row] = []
            for row in rows:
                if row.group == last:
                    yield from self._ended(start.group, row, end)
                if left:
                    more = self._extended(start.group, row, end)
                    further += (new for new in more if left > 1 or new.group == last)
            rows = further

    def _ended(self, start: Group, row: _Row, end: Tip) -> Iterator[Path]:
        if not self._bright(start, row.path.hops):
            return
        if row.at and end.port and self._joins(row.at, end.port):
            kept = (*row.path.kept, self._pair(row.at, end.port))
            yield Path(row.path.hops, kept)
        elif not row.owes:
            yield row.path

    def _extended(self, start: Group, row: _Row, end: Tip) -> Iterator[_Row]:
        """Yield a path with one more trunk."""
        found, path = self.resources, row.path
        taken = {port for hop in path.hops if hop.near for port in self._ports(hop.near)}
        entered = self._next(row.at)
        if row.at and entered and entered not in taken:
            yield self._through(row, entered, (self._pair(row.at, entered),), owes=False)
        if row.owes:
            return
        # A path comes back to a group only where that keeps a pair.
        passed = {start, *row.passed}
        for hop, beyond in self._onward.get(row.group, ()):
            if beyond not in passed:
                yield _Row(beyond, None, Path((*path.hops, hop), path.kept), (*row.passed, beyond))
        last = self._last(end.port)
        worth = list(self._joined.get(row.group, ()))
        if last is not None and found.passages[last].bundle[0] == row.group and last not in worth:
            worth.append(last)
        for near in worth:
            if near != entered and near not in taken:
                yield self._through(row, near, (), owes=True)

    def _through(self, row: _Row, near: Port, kept: tuple[Pair, ...], owes: bool) -> _Row:
        bundle, far = self.resources.passages[near]
        longer = Path((*row.path.hops, Hop(bundle, near)), row.path.kept + kept)
        beyond = Group(far.panel, far.side)
        return _Row(beyond, far, longer, (*row.passed, beyond), owes)

    def _ports(self, near: Port) -> tuple[Port, Port]:
        return near, self.resources.passages[near].far

    def _pair(self, one: Port, other: Port) -> Pair:
        return self.resources.plant.panels[one.panel].join(one, other)

    def _bright(self, start: Group, hops: tuple[Hop, ...]) -> bool:
        """Whether the loss of a path is within the plant's budget, with the worst of its trunks.

        Paths over one trunk are always within the budget, without a check.
        """
        found = self.resources
        budget = found.plant.budget_db
        if budget is None or len(hops) < 2:
            return True
        passed = [start.panel, *(hop.bundle[1].panel for hop in hops)]
        lost = sum(found.plant.panels[panel].loss_db for panel in passed)
        lost += sum(max(t.loss_db for t in found.trunks[found.key(hop.bundle)]) for hop in hops)
        return lost + found.way_in(passed[0]) + found.way_in(passed[-1]) <= budget
