"""Trees of limited height, grown one by one along links that carry little so far.

A rank that is j hops from a root (a hop leads from rank to rank, through nodes that only forward)
may be at most j + slack deep in the trees of that root.  No tree gets stuck so: of the ranks that
are missing, the nearest has one before it that is a hop nearer, and not too deep.  The way that
costs least is taken next, where a link costs the more the busier it is.  Then trees are taken
out and grown anew, one after another, at the prices of the others.
"""

from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise

from topoloom.schedules.trees.flow.network import Network
from topoloom.synth.progress import tell

MOST_GROWTH = 40_000_000
"""Limit on trees * arcs * rounds: some half a minute."""

ROUNDS = 6
_POWER = 2

Path = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Grown:
    """``edges`` of one tree in the order in which they can be taken, each a path of nodes."""

    root: int
    edges: tuple[Path, ...]


class _Growing:
    """The arcs of a network by node, and how many trees each carries."""

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
        """Return how many hops every rank is from a root."""
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
        """Return what a tree more on an arc costs."""
        return ((self.load[arc] + 1) / self.capacity[arc]) ** _POWER

    def grow(self, root: int, most: dict[int, int]) -> Grown:
        """Grow a tree in which no rank is deeper than ``most`` says, and load its arcs.

        The cheapest way to a missing rank is taken next.  A node that forwards is passed again
        from a rank that is higher up.
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
        tree = Grown(root, tuple(edges))
        self.add(tree, 1)
        return tree

    def add(self, tree: Grown, times: int) -> None:
        """Load the arcs of a tree so many times, or with -1 take it off them."""
        for path in tree.edges:
            for ends in pairwise(path):
                self.load[self.arc[ends]] += times

    def busiest(self) -> Fraction:
        """Return the trees per capacity of the busiest arc."""
        both = zip(self.load, self.capacity, strict=True)
        return max(Fraction(load, room) for load, room in both)


def grown(network: Network, trees_per_root: int, slack: int) -> tuple[list[Grown], Fraction] | None:
    """Return trees of every root that brings data, and U: the trees per capacity they need.

    Parameters
    ----------
    network : Network
    trees_per_root : int
        How many per unit of size of a shard.
    slack : int
        From 0: by how much a rank may be deeper than its distance.

    Returns
    -------
    list of Grown, Fraction
        None if it would take more than `MOST_GROWTH`.

    Notes
    -----
    The best of `ROUNDS` rounds, in each of which all trees are grown anew.  Deterministic.

    Examples
    --------
    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.synth.topology.topology import Topology
    >>> ring = network_of(Topology(range(4), [(i, (i + s) % 4) for i in range(4) for s in (1, 3)]))
    >>> trees, scale = grown(ring, 2, 0)
    >>> len(trees), scale
    (8, Fraction(3, 1))
    """
    sizes = network.sizes.tolist()
    ranks = network.terminals.tolist()
    wanted = [root for root in ranks for _ in range(trees_per_root * sizes[root])]
    if len(wanted) * len(network.tail) * ROUNDS > MOST_GROWTH:
        return None
    growing = _Growing(network)
    hops = {root: growing.hops(root) for root in dict.fromkeys(wanted)}
    ecc = max(max(found.values()) for found in hops.values())
    # A root from which all are near may have higher trees than its own distances ask for.
    most = {
        root: {rank: steps + ecc - max(found.values()) + slack for rank, steps in found.items()}
        for root, found in hops.items()
    }
    trees = [growing.grow(root, most[root]) for root in _dealt(wanted)]
    best, least = list(trees), growing.busiest()
    for number in range(1, ROUNDS):
        tell("growing low trees", number, ROUNDS)
        for place, tree in enumerate(trees):
            growing.add(tree, -1)
            trees[place] = growing.grow(tree.root, most[tree.root])
        if (busiest := growing.busiest()) < least:
            best, least = list(trees), busiest
    return best, least


def _dealt(roots: list[int]) -> list[int]:
    """Return the roots in turns, so that the trees of one are far apart."""
    turns: dict[int, int] = {}
    keyed = []
    for root in roots:
        turns[root] = turns.get(root, -1) + 1
        keyed.append((turns[root], root))
    return [root for _, root in sorted(keyed)]
