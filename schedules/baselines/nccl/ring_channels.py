"""Rings over all ranks of a fabric, each with reserved link capacity: NCCL's channels.

References
----------
NCCL, ``src/graph/search.cc`` (rings by depth-first search, nearest first, widths taken from links).
"""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from topoloom.synth.topology.topology import NodeId, Topology

MAX_CHANNELS = 32
"""NCCL's maximum number of channels."""

TRIES = 40
"""Maximum search steps for a ring, per rank and start; then another start is tried."""


class Ring(NamedTuple):
    """Ranks in order, the path from each to the next, and the capacity taken of every link."""

    order: tuple[NodeId, ...]
    paths: tuple[tuple[NodeId, ...], ...]
    width: Fraction


class Residual:
    """The residual capacity from node to node, with parallel links merged."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.left: dict[tuple[NodeId, NodeId], Fraction] = {}
        self.after: dict[NodeId, list[NodeId]] = {node: [] for node in topology.nodes}
        for link in topology.links:
            pair = (link.source, link.target)
            if pair not in self.left:
                self.left[pair] = Fraction(0)
                self.after[link.source].append(link.target)
            self.left[pair] += Fraction(link.capacity)
        self._ways: dict[NodeId, dict[NodeId, tuple[NodeId, ...]]] = {}

    def ways(self, source: NodeId) -> dict[NodeId, tuple[NodeId, ...]]:
        """Return a shortest path to every rank that is reachable over switches alone.

        Ties go to the widest path.
        """
        if source not in self._ways:
            self._ways[source] = self._searched(source)
        return self._ways[source]

    def width(self, path: tuple[NodeId, ...]) -> Fraction:
        """Return the residual capacity of a path."""
        return min(self.left[hop] for hop in pairwise(path))

    def taken(self, crossings: Counter[tuple[NodeId, NodeId]]) -> Fraction:
        """Take the largest capacity for a ring with these link crossings, and return it."""
        width = min(self.left[hop] / times for hop, times in crossings.items())
        for hop, times in crossings.items():
            self.left[hop] -= width * times
        self._ways.clear()
        return width

    def _searched(self, source: NodeId) -> dict[NodeId, tuple[NodeId, ...]]:
        switches = self.topology.switches
        found: dict[NodeId, tuple[NodeId, ...]] = {}
        ahead: dict[NodeId, tuple[NodeId, ...]] = {source: (source,)}
        seen = {source}
        while ahead:
            wider: dict[NodeId, tuple[Fraction, tuple[NodeId, ...]]] = {}
            for path in ahead.values():
                for node in self.after[path[-1]]:
                    if node in seen or self.left[path[-1], node] <= 0:
                        continue
                    longer = (*path, node)
                    width = self.width(longer)
                    if node not in wider or width > wider[node][0]:
                        wider[node] = width, longer
            seen |= wider.keys()
            found |= {node: path for node, (_, path) in wider.items() if node not in switches}
            ahead = {node: path for node, (_, path) in wider.items() if node in switches}
        return found


def rings(topology: Topology, most: int = MAX_CHANNELS) -> tuple[Ring, ...]:
    """Return rings over all ranks, at most ``most``, until no further ring is found.

    Each ring prefers the neighbors with the most residual capacity, so it covers a box before it
    leaves the box.  It takes the residual capacity of its narrowest link.  Rings start at different
    ranks, so that they leave boxes by different ranks.

    Examples
    --------
    >>> from topoloom.synth.fabrics import fabric
    >>> [str(ring.width) for ring in rings(fabric("dgx-a100-2"))]
    ['25', '25', '25', '25', '25', '25', '25', '25']
    >>> [len(rings(fabric(name))) for name in ("dgx-h100-1", "mi300x")]
    [1, 7]
    """
    left = Residual(topology)
    ranks = topology.compute_nodes
    found: list[Ring] = []
    while len(found) < most:
        starts = ranks[len(found) % len(ranks) :] + ranks[: len(found) % len(ranks)]
        order = next((one for one in (_ring(left, start) for start in starts) if one), None)
        if order is None:
            break
        paths = tuple(left.ways(a)[b] for a, b in pairwise((*order, order[0])))
        crossings = Counter(hop for path in paths for hop in pairwise(path))
        found.append(Ring(order, paths, left.taken(crossings)))
    return tuple(found)


def _ring(left: Residual, start: NodeId) -> tuple[NodeId, ...] | None:
    """Return a ring that starts at a rank, by depth-first search with a limit on steps."""
    ranks = left.topology.compute_nodes
    if len(ranks) < 2:
        return None
    tries = TRIES * len(ranks)
    order, visited = [start], {start}
    stack = [_next(left, start, visited)]
    while stack and tries:
        tries -= 1
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
            visited.discard(order.pop())
            continue
        order.append(node)
        visited.add(node)
        if len(order) == len(ranks) and start in left.ways(node):
            return tuple(order)
        stack.append(_next(left, node, visited))
    return None


def _next(left: Residual, node: NodeId, visited: set[NodeId]) -> Iterator[NodeId]:
    """Yield unvisited ranks: the widest path first, then those with the fewest continuations."""
    ways = {to: path for to, path in left.ways(node).items() if to not in visited}
    position = left.topology.position

    def key(to: NodeId) -> tuple[Fraction, int, int]:
        onward = sum(1 for far in left.ways(to) if far not in visited)
        ahead = (position[to] - position[node]) % len(position)
        return -left.width(ways[to]), onward, ahead

    yield from sorted(ways, key=key)
