"""The slack-schedule problem of a graph as flat arrays, one root for every orbit of its symmetry.

A *cell* is a pair of a node and a piece of a root's shard.  Its *arrival step* is the step after
which the node holds all of the piece.  The piece may arrive over any link whose tail has an
earlier arrival step; the set of these links, one bit each, is the cell's *mask*.  Nodes of one
*group* (an orbit) have the same links into them: a semiregular automorphism group maps each link
of the representative to one link of every other member, and maps the shard of a root to the
shards of the root's orbit.  So the loads of the links into one node are those of all cells of
its group together.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.errors import NotMeasurable
from topoloom.synth.evaluation.measure import whole_capacities, widest_node
from topoloom.synth.topology.topology import Topology

MAX_DEGREE = 8
"""Most links into one node; the tables have an entry for every set of these links."""

MAX_CELLS = 1 << 28
"""Most cells, and most entries of the table of link sets by group and step."""

Integers = NDArray[np.int64]


class Problem(NamedTuple):
    """A graph of N nodes, at most d links into each; R cells at every node; G groups."""

    images: Integers
    """(order, N): the group of automorphisms; row 0 is the identity."""
    roots: Integers
    """(R,): the node that owns the shard of each cell row; each root occurs q times."""
    tail: Integers
    """(N, d): the tail of link k into a node; -1 without a link k.  Equal up to symmetry."""
    link: Integers
    """(N, d): the index of that link in the topology."""
    group: Integers
    """(N,): the orbit of every node."""
    members: Integers
    """(G, N / G): the nodes of every orbit."""
    start: Integers
    """(N + 1,): links out of node w have the indices ``start[w]`` to ``start[w + 1] - 1``."""
    head: Integers
    """(links,): the head of each link."""
    place: Integers
    """(links,): the column of each link in row ``head`` of ``tail``."""
    kind: Integers
    """(G,): groups of one kind have links of the same capacities."""
    weight: Integers
    """(kinds, 2**d): the capacity of every set of links."""
    unit: int
    """Capacity of a node.  Loads count pieces over all links of a node together."""

    @property
    def pieces(self) -> int:
        """Pieces of a shard, q."""
        return len(self.roots) // len(self.members)


def slack_problem(topology: Topology, images: Integers, pieces: int = 1) -> Problem:
    """Return the problem of a graph under a semiregular automorphism group.

    O(links log links + N d).
    """
    # C order always: Numba would compile the kernels a second time (14 s) for a column-major array.
    images = np.ascontiguousarray(images)
    capacity = whole_capacities(topology)
    nodes, degree = topology.node_count, int(topology.in_degrees.max())
    by_target = np.argsort(topology.targets, kind="stable")
    before = np.concatenate([[0], np.cumsum(topology.in_degrees)])
    column = np.arange(len(by_target)) - before[topology.targets[by_target]]
    tail = np.full((nodes, degree), -1)
    link = np.full((nodes, degree), -1)
    link[topology.targets[by_target], column] = by_target
    tail[topology.targets[by_target], column] = topology.sources[by_target]
    group, first = _orbits(images)
    for node in first if len(images) > 1 else ():
        _align(images, node, tail, link)
    into = np.where(link[first] < 0, 0, capacity[link[first]])
    kinds, kind = np.unique(into, axis=0, return_inverse=True)
    weight = np.zeros((len(kinds), 1 << degree), np.int64)
    for k in range(degree):
        weight[:, 1 << k : 2 << k] = weight[:, : 1 << k] + kinds[:, k : k + 1]
    node, place = np.nonzero(tail >= 0)
    order = np.argsort(tail[node, place], kind="stable")
    start = np.searchsorted(tail[node, place][order], np.arange(nodes + 1))
    return Problem(
        images,
        np.repeat(first, pieces),
        tail,
        link,
        group,
        np.argsort(group, kind="stable").reshape(len(first), -1),
        start,
        node[order],
        place[order],
        kind.reshape(-1),
        weight,
        widest_node(topology, capacity),
    )


def load_bound(problem: Problem) -> int:
    """Return a lower bound on the sum of loads: every node receives every other shard."""
    cells = problem.pieces * (len(problem.tail) - 1)
    return max(-(-cells * problem.unit // int(weight)) for weight in problem.weight[:, -1])


def _orbits(images: Integers) -> tuple[Integers, Integers]:
    """Return the orbit of every node, and the first node of every orbit."""
    group = np.full(images.shape[1], -1)
    first: list[int] = []
    for node in range(images.shape[1]):
        if group[node] < 0:
            group[images[:, node]] = len(first)
            first.append(node)
    return group, np.array(first)


def _align(images: Integers, node: int, tail: Integers, link: Integers) -> None:
    """Reorder the links into the images of a node to match the order of the node's own links.

    Parallel links stay ordered by capacity.
    """
    moved = np.where(tail[node] < 0, -1, images[:, tail[node]])
    targets = images[:, node, None]
    order = targets, np.argsort(moved, axis=1, kind="stable")
    # Both lists hold the same tails, so stable sorts agree place by place.
    there = targets, np.argsort(tail[targets[:, 0]], axis=1, kind="stable")
    tail[order], link[order] = tail[there], link[there]


def require_schedulable(topology: Topology) -> None:
    """Raise unless the topology is direct-connect, strongly connected and of small degree.

    Raises:
        NotMeasurable: There are switches, or more than `MAX_DEGREE` links into a node.
        Unreachable, InvalidTopology: Not strongly connected, or fewer than two nodes.
    """
    if topology.switches:
        raise NotMeasurable("/nodes", "must hold no switches: slack schedules use direct links")
    topology.require_connected()
    if topology.in_degrees.max() > MAX_DEGREE:
        raise NotMeasurable("/links", f"at most {MAX_DEGREE} links may enter a node")
