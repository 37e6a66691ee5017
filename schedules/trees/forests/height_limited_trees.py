"""Trees of limited height, grown one by one along lightly loaded links.

A rank j hops from a root (a hop leads from rank to rank, through forwarding nodes) may have depth
at most j + slack in the trees of that root.  Growth never gets stuck: the nearest missing rank has
a predecessor that is one hop closer to the root and within its own limit.  The cheapest path is
added next; the price of a link increases with its load.  Trees are then removed and regrown, one
after another, at the prices caused by the others.
"""

from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise

from topoloom.schedules.trees import limits
from topoloom.schedules.trees.flow.network import Network
from topoloom.synth.progress import report_progress

_POWER = 2

Path = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GrownTree:
    """``edges`` of one tree in an order of growth, each a path of nodes."""

    root: int
    edges: tuple[Path, ...]


class _Growing:
    """The arcs of a network by node, and the number of trees on each."""

    def __init__(self, network: Network) -> None:
        self.ranks = set(network.terminals.tolist())
        self.leaving: list[list[tuple[int, int]]] = [[] for _ in range(network.node_count)]
        ends = zip(network.tail.tolist(), network.head.tolist(), strict=True)
        self.arc: dict[tuple[int, int], int] = {}
        for number, (tail, head) in enumerate(ends):
            self.leaving[tail].append((number, head))
            self.arc[tail, head] = number
        self.capacity = network.capacity.tolist()
        self.load = [0] * len(self.capacity)

    def hops(self, root: int) -> dict[int, int]:
        """Return the distance of every rank from a root, in hops."""
        found, front = {root: 0}, [root]
        while front:
            ahead: list[int] = []
            for rank in front:
                queue, seen = [rank], {rank}
                for node in queue:
                    for _, other in self.leaving[node]:
                        if other in seen:
                            continue
                        seen.add(other)
                        if other not in self.ranks:
                            queue.append(other)
                        elif other not in found:
                            found[other] = found[rank] + 1
                            ahead.append(other)
            front = ahead
        return found

    def price(self, arc: int) -> float:
        """Return the price of one more tree on an arc."""
        return ((self.load[arc] + 1) / self.capacity[arc]) ** _POWER

    def grow(self, root: int, most: dict[int, int]) -> GrownTree:
        """Grow a tree with depths at most ``most``, and load its arcs.

        The cheapest path to a missing rank is added next.  A forwarding node is visited again from
        a rank closer to the root.
        """
        depth, edges = {root: 0}, list[Path]()
        missing = set(most) - {root}
        heap: list[tuple[float, int, int, Path]] = [(0.0, 0, root, (root,))]
        passed: dict[int, int] = {}
        turn = 1
        while missing:
            cost, _, node, path = heappop(heap)
            level = depth[path[0]]
            if node in self.ranks and len(path) > 1:
                if node not in missing or level >= most[node]:
                    continue
                missing.discard(node)
                level += 1
                depth[node] = level
                edges.append(path)
                cost, path = 0.0, (node,)
            elif passed.get(node, level + 1) <= level:
                continue
            passed[node] = level
            for arc, other in self.leaving[node]:
                if other in missing or other not in self.ranks:
                    heappush(heap, (cost + self.price(arc), turn, other, (*path, other)))
                    turn += 1
        tree = GrownTree(root, tuple(edges))
        self.add(tree, 1)
        return tree

    def add(self, tree: GrownTree, times: int) -> None:
        """Add a number of copies of a tree to the loads of its arcs; -1 removes the tree."""
        for path in tree.edges:
            for ends in pairwise(path):
                self.load[self.arc[ends]] += times

    def busiest(self) -> Fraction:
        """Return the trees per unit of capacity of the busiest arc."""
        both = zip(self.load, self.capacity, strict=True)
        return max(Fraction(load, room) for load, room in both)


def height_limited_trees(
    network: Network, trees_per_root: int, slack: int
) -> tuple[list[GrownTree], Fraction] | None:
    """Return trees of every root with data, and U: the trees per unit of capacity that they need.

    Args:
        trees_per_root: Trees per unit of size of a shard.
        slack: Maximum excess of a rank's depth over its distance, at least 0.

    Returns:
        None if growth would exceed `limits.MAX_GROWTH`.

    The best of `limits.GROWTH_ROUNDS` rounds, each of which regrows all trees.  Deterministic.

    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.synth.topology.topology import Topology
    >>> ring = network_of(Topology(range(4), [(i, (i + s) % 4) for i in range(4) for s in (1, 3)]))
    >>> trees, scale = height_limited_trees(ring, 2, 0)
    >>> len(trees), scale
    (8, Fraction(3, 1))
    """
    sizes = network.sizes.tolist()
    ranks = network.terminals.tolist()
    wanted = [root for root in ranks for _ in range(trees_per_root * sizes[root])]
    if len(wanted) * len(network.tail) * limits.GROWTH_ROUNDS > limits.MAX_GROWTH:
        return None
    growing = _Growing(network)
    hops = {root: growing.hops(root) for root in dict.fromkeys(wanted)}
    ecc = max(max(found.values()) for found in hops.values())
    # A root close to all ranks may have higher trees than its own distances require.
    most = {
        root: {rank: steps + ecc - max(found.values()) + slack for rank, steps in found.items()}
        for root, found in hops.items()
    }
    trees = [growing.grow(root, most[root]) for root in _dealt(wanted)]
    best, least = list(trees), growing.busiest()
    for number in range(1, limits.GROWTH_ROUNDS):
        report_progress("growing low trees", number, limits.GROWTH_ROUNDS)
        for place, tree in enumerate(trees):
            growing.add(tree, -1)
            trees[place] = growing.grow(tree.root, most[tree.root])
        if (busiest := growing.busiest()) < least:
            best, least = list(trees), busiest
    return best, least


def _dealt(roots: list[int]) -> list[int]:
    """Return the roots interleaved, so that the trees of one root are far apart."""
    turns: dict[int, int] = {}
    keyed = []
    for root in roots:
        turns[root] = turns.get(root, -1) + 1
        keyed.append((turns[root], root))
    return [root for _, root in sorted(keyed)]
