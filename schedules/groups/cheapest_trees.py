"""The cheapest trees of a group under given lengths of the arcs.

A tree joins the members of a group by paths over other nodes.  Data is copied, or added up, at
members only; so a tree of least length is an arborescence of least cost over the shortest paths
between members.

References:
    Edmonds, "Optimum branchings", 1967: every node takes its cheapest arc; cycles are contracted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from topoloom.schedules.trees.flow.network import Network

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class GroupTree:
    """A tree: for every member except the root, the arcs of the path from its parent to it.

    With ``inward`` the paths lead against the arcs: data flows to the root.  ``root`` and members
    are positions in the network; ``paths`` are pairs of the parent and the arcs in order.
    """

    root: int
    inward: bool
    paths: tuple[tuple[int, int, tuple[int, ...]], ...]

    @property
    def arcs(self) -> list[int]:
        """All arcs, once for every path."""
        return [arc for _, _, path in self.paths for arc in path]


class GroupPaths:
    """Shortest paths between the members of a group.

    Args:
        arc_of: The arc from each node to each neighbor.
        members: Positions.
        inward: Paths run against the arcs.
        direct: Every member sends its own data to each other member, as in an all-to-all.  Paths
            pass other members, and trees are stars.  Otherwise members copy data, and no path
            passes a member.
    """

    def __init__(
        self,
        network: Network,
        arc_of: Mapping[tuple[int, int], int],
        members: Sequence[int],
        *,
        inward: bool = False,
        direct: bool = False,
    ) -> None:
        self.members, self.inward, self.direct = list(members), inward, direct
        tail, head = (network.head, network.tail) if inward else (network.tail, network.head)
        nodes, count = network.node_count, len(self.members)
        copy = np.arange(nodes)
        if not direct:
            # A member's arcs leave a copy of it, so that no path passes a member.
            copy[self.members] = nodes + np.arange(count)
        numbered = (np.arange(1, len(tail) + 1), (copy[tail], head))
        index = csr_array(numbered, shape=(nodes + count, nodes + count))
        self._arcs = np.asarray(index.data, np.int64) - 1
        self._graph = csr_array(
            (np.zeros(len(tail)), index.indices, index.indptr), shape=index.shape
        )
        self._sources = copy[self.members]
        self._arc_of, self._nodes = arc_of, nodes

    def under(self, lengths: Ints) -> "MemberDistances":
        """Return the distances between members under lengths of the arcs, integers from 0."""
        self._graph.data[:] = lengths[self._arcs]
        distance, before = dijkstra(self._graph, indices=self._sources, return_predecessors=True)
        near = distance[:, self.members]
        cost = np.where(np.isfinite(near), near, FORBIDDEN).astype(np.int64)
        return MemberDistances(self, cost, before)

    def path(self, before: NDArray[np.int32], source: int, target: int) -> tuple[int, ...]:
        """Return the arcs from the source to the target, both by place among the members."""
        arcs, node, start = list[int](), self.members[target], int(self._sources[source])
        while node != start:
            previous = int(before[source, node])
            tail = previous if previous < self._nodes else self.members[source]
            arcs.append(self._arc_of[(node, tail) if self.inward else (tail, node)])
            node = previous
        return tuple(arcs[::-1])


@dataclass(frozen=True, eq=False)
class MemberDistances:
    """``cost[a, b]`` is the distance from member a to member b; ``before`` has the paths."""

    paths: GroupPaths
    cost: Ints
    before: NDArray[np.int32]

    def parents(self, root: int) -> Ints:
        """Return the tree of least length from a root, a place among the members."""
        if self.paths.direct:
            return np.full(len(self.cost), root)
        return least_arborescence(self.cost, root)

    def length(self, parents: Ints) -> int:
        """Return the total length of a tree."""
        below = np.flatnonzero(parents != np.arange(len(parents)))
        return int(self.cost[parents[below], below].sum())

    def tree(self, root: int, parents: Ints) -> GroupTree:
        """Return a tree with its paths."""
        members = self.paths.members
        below = [place for place in range(len(parents)) if place != root]
        steps = tuple(
            (members[parent], members[place], self.paths.path(self.before, parent, place))
            for place in below
            for parent in [int(parents[place])]
        )
        return GroupTree(members[root], self.paths.inward, steps)

    @property
    def connected(self) -> bool:
        """Whether every member reaches every other, also through members."""
        joined = csr_array(self.cost < FORBIDDEN)
        return connected_components(joined, connection="strong", return_labels=False) == 1


FORBIDDEN = 1 << 61
"""The cost of an arc that no arborescence uses."""


def least_arborescence(cost: Ints, root: int) -> Ints:
    """Return the parent of every node in an arborescence of least cost; the root is its own.

    Args:
        cost (int64 array, shape (nodes, nodes)): ``cost[u, v]`` from 0 to `FORBIDDEN`, of the arc
            from u to v; the diagonal is ignored.

    O(nodes^2) for each round of contractions.

    >>> least_arborescence(np.array([[0, 5, 9], [9, 0, 1], [9, 1, 0]]), 0).tolist()
    [0, 0, 1]
    """
    nodes = len(cost)
    cost = cost.copy()
    np.fill_diagonal(cost, FORBIDDEN)
    into = cost.argmin(axis=0)
    into[root] = root
    far, label = into, np.arange(nodes)
    for _ in range(nodes.bit_length()):
        label = np.minimum(label, label[far])
        far = far[far]
    on_cycle = np.zeros(nodes, np.bool_)
    on_cycle[far] = True
    on_cycle[root] = False
    if not on_cycle.any():
        return into
    # Cycles become one node each: the least position on it.
    part = np.where(on_cycle, label, np.arange(nodes))
    kept = np.unique(part)
    number = np.searchsorted(kept, part)
    lower = cost - cost[into, np.arange(nodes)]
    rows, tails = _contracted(lower, number, len(kept))
    small, heads = _contracted(rows.T, number, len(kept))
    small, heads = small.T, heads.T
    parent = least_arborescence(small, int(number[root]))
    found = into
    for head in range(len(kept)):
        if head != number[root]:
            node = heads[parent[head], head]
            found[node] = tails[parent[head], node]
    return found


def _contracted(values: Ints, number: Ints, count: int) -> tuple[Ints, Ints]:
    """Return the least of the rows with each number, and from which row it is."""
    order = np.argsort(number, kind="stable")
    starts = np.searchsorted(number[order], np.arange(count))
    least = np.minimum.reduceat(values[order], starts, axis=0)
    which = np.broadcast_to(order[starts][:, None], least.shape).copy()
    sizes = np.diff(np.append(starts, len(order)))
    for at in np.flatnonzero(sizes > 1).tolist():
        members = order[starts[at] : starts[at] + sizes[at]]
        which[at] = members[values[members].argmin(axis=0)]
    return least, which
