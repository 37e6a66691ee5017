"""Paths between ranks that a program leaves open: the widest of the shortest over switches.

GPUs of one machine communicate over NVLink, not over their NICs and a switch between machines.
"""

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from topoloom.schedules.errors import InvalidProgram
from topoloom.synth.topology.topology import Capacity, NodeId, Topology

MAX_PATHS = 64
"""Maximum number of shortest paths between two ranks that are compared, in order of discovery."""


class Paths:
    """Paths between ranks over one link or over switches, and the current load of their links.

    Parallel links are one link of their joint capacity: ``pairs`` are the ends of each link,
    ``capacities`` its rate.  A path is a tuple of indices of such links.
    """

    def __init__(self, topology: Topology) -> None:
        capacity: dict[tuple[NodeId, NodeId], Capacity] = defaultdict(int)
        for link in topology.links:
            capacity[link.source, link.target] += link.capacity
        self.pairs = list(capacity)
        self.switches = topology.switches
        self.index = {pair: at for at, pair in enumerate(capacity)}
        self.after: dict[NodeId, list[NodeId]] = defaultdict(list)
        for source, target in capacity:
            self.after[source].append(target)
        self.capacities = list(capacity.values())
        self.loads = [Fraction(0)] * len(self.capacities)
        self.known: dict[tuple[NodeId, NodeId], list[tuple[int, ...]]] = {}

    def between(self, source: NodeId, target: NodeId) -> list[tuple[int, ...]]:
        """Return the widest of the shortest paths, at most `MAX_PATHS` of them."""
        if (source, target) not in self.known:
            self.known[source, target] = self._shortest(source, target)
        return self.known[source, target]

    def least_loaded(self, source: NodeId, target: NodeId, units: int) -> tuple[int, ...]:
        """Return the links of the chosen path, and add its load."""
        paths = self.between(source, target)
        best = paths[0]
        if len(paths) > 1:
            best = min(paths, key=lambda path: max(self.loads[link] for link in path))
            for link in best:
                self.loads[link] += units / Fraction(self.capacities[link])
        return best

    def _shortest(self, source: NodeId, target: NodeId) -> list[tuple[int, ...]]:
        found: list[tuple[NodeId, ...]] = []
        reached, ahead = {source}, [(source,)]
        while ahead and not found:
            found = [(*path, target) for path in ahead if target in self.after[path[-1]]]
            ahead = list(self._longer(ahead, reached))
            reached |= {path[-1] for path in ahead}
        if not found:
            rule = f"no link or way over switches leads from {source!r} to {target!r}"
            raise InvalidProgram("/ranks", rule)
        paths = [tuple(self.index[hop] for hop in pairwise(path)) for path in found]
        widths = [min(self.capacities[link] for link in path) for path in paths]
        widest = max(widths)
        wide = [path for path, width in zip(paths, widths, strict=True) if width == widest]
        return wide[:MAX_PATHS]

    def _longer(
        self, paths: list[tuple[NodeId, ...]], reached: set[NodeId]
    ) -> Iterator[tuple[NodeId, ...]]:
        """Yield paths extended by one switch; at most `MAX_PATHS` to each switch."""
        count: dict[NodeId, int] = defaultdict(int)
        for path in paths:
            for node in self.after[path[-1]]:
                if node in self.switches and node not in reached and count[node] < MAX_PATHS:
                    count[node] += 1
                    yield (*path, node)
