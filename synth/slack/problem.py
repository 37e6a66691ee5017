"""The label problem of a graph as flat arrays, one root for every orbit of its symmetry.

A *cell* is a piece of the shard of a root on its way to a node, and its *label* the step
after which the node holds all of it.  It may come over any link whose tail has a smaller
label; these links, one bit each, are its *mask*.  Nodes of one *group* (an orbit) share the
links into them: a group that acts freely takes each link of its representative to one link
of every other member, and carries the shard of a root to the shards of the root's orbit.  So
the loads of the links into one node are those of all cells of its group together.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.errors import NotMeasurable
from topoloom.synth.evaluation.measure import whole_capacities
from topoloom.synth.topology.topology import Topology

__all__ = [
    "MAX_CELLS",
    "MAX_DEGREE",
    "Integers",
    "Problem",
    "least_loads",
    "problem_of",
    "require_labelled",
]

MAX_DEGREE = 8
"""Most links into one node: every set of them has an entry in a table."""

MAX_CELLS = 1 << 28
"""Most cells, and most entries of the table of sets by group and step."""

Integers = NDArray[np.int64]


class Problem(NamedTuple):
    """A graph of N nodes, at most d links into each; R cells at every node; G groups."""

    images: Integers
    """(order, N): the group of automorphisms; row 0 is the identity."""
    roots: Integers
    """(R,): the node whose shard a cell is a piece of; q times a node for q pieces."""
    tail: Integers
    """(N, d): where link k into a node comes from, -1 if it has no link k.  Alike over an orbit."""
    link: Integers
    """(N, d): the index of that link in the topology."""
    group: Integers
    """(N,): the orbit of every node."""
    members: Integers
    """(G, N / G): the nodes of every orbit."""
    start: Integers
    """(N + 1,): the links out of node w are ``head[start[w]:start[w + 1]]``, ..."""
    head: Integers
    """... where they lead to, ..."""
    place: Integers
    """... and which link into there each is, as in ``tail``."""
    kind: Integers
    """(G,): nodes of one kind have links of the same capacities."""
    weight: Integers
    """(kinds, 2**d): the capacity of every set of links."""
    unit: int
    """The capacity of a node: loads are counted in pieces for all its links together."""

    @property
    def pieces(self) -> int:
        """Pieces of a shard, q."""
        return len(self.roots) // len(self.members)


def problem_of(topology: Topology, images: Integers, pieces: int = 1) -> Problem:
    """Return the problem of a graph under a group of automorphisms that acts freely.

    O(links log links + N d).
    """
    # In one order in memory, so that there is one machine code of the kernels that take it: numba
    # would spend 14 seconds on another, at the first question that has a group in columns.
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
    through = np.zeros((2, nodes), np.int64)
    np.add.at(through[0], topology.sources, capacity)
    np.add.at(through[1], topology.targets, capacity)
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
        int(through.max()),
    )


def least_loads(problem: Problem) -> int:
    """Return a sum of loads that no labels can go below: what every node must receive."""
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
    """Put the links into the images of a node in the order in which they are its images.

    Parallel links keep their order among themselves, which is by capacity.
    """
    moved = np.where(tail[node] < 0, -1, images[:, tail[node]])
    targets = images[:, node, None]
    order = targets, np.argsort(moved, axis=1, kind="stable")
    # Both lists hold the same tails: sorted stably, they agree place by place.
    there = targets, np.argsort(tail[targets[:, 0]], axis=1, kind="stable")
    tail[order], link[order] = tail[there], link[there]


def require_labelled(topology: Topology) -> None:
    """Raise unless labels serve the topology: no switches, connected, of few enough links.

    Raises
    ------
    NotMeasurable
        There are switches, or more than `MAX_DEGREE` links into a node.
    Unreachable, InvalidTopology
        Not strongly connected, or fewer than two nodes.
    """
    if topology.switches:
        raise NotMeasurable("/nodes", "must hold no switches: labels are of direct links")
    topology.require_connected()
    if topology.in_degrees.max() > MAX_DEGREE:
        raise NotMeasurable("/links", f"at most {MAX_DEGREE} links may enter a node")
