"""Random regular graphs, one-way and two-way; a seed gives the same graph on every machine.

With slack schedules (`synth.slack`) random graphs come close to the bounds at every number of
nodes, primes included: hardly any two nodes share neighbors, and nearly as many nodes as possible
lie at every distance.
"""

from typing import Any

import numpy as np
from numba import njit

from topoloom.synth.edge_swaps.work_estimates import require_random_regular
from topoloom.synth.evaluation.cost import Links
from topoloom.synth.kernels.reachability import is_connected
from topoloom.synth.kernels.scalars import int64
from topoloom.synth.kernels.splitmix import below, seeded, shuffled
from topoloom.synth.topology.topology import Topology


def random_regular(
    nodes: int, degree: int, seed: int, links: Links = Links.UNIDIRECTIONAL
) -> Topology:
    """Return a random graph with ``degree`` links out of and into every node.

    Args:
        nodes: From 2 to `MAX_NODES`.
        degree: From 1 to nodes - 1; with two-way links nodes * degree is even, and 1 joins 2 nodes.
        seed: From 0 to 2**63 - 1.
        links: Whether every link has a partner the other way.

    Returns:
        Strongly connected, without parallel links.

    Raises:
        OutOfDomain: A parameter is out of its domain.

    One-way: ``degree`` random permutations in turn, with random transpositions until no link is
    a loop or parallel.  Two-way: the configuration model, with edge swaps until the graph is simple
    (the switchings of McKay and Wormald).  For more than half of all links, the complement is
    generated instead.  A graph that is not connected, which is rare above degree 2, is rejected;
    degree 1, or 2 with two-way links, gives a random ring.  O(nodes * degree^2) on average.

    References:
        B. D. McKay, N. C. Wormald, "Uniform generation of random regular graphs of moderate
        degree", J. Algorithms 11 (1990).

    >>> graph = random_regular(61, 4, 1)
    >>> graph.is_regular, graph.degree, graph.has_parallel_links, graph.is_bidirectional
    (True, 4, False, False)
    >>> random_regular(10, 3, 0, Links.BIDIRECTIONAL).is_bidirectional
    True
    >>> random_regular(61, 4, 1) == graph, random_regular(61, 4, 2) == graph
    (True, False)
    """
    two_way = links is Links.BIDIRECTIONAL
    require_random_regular(nodes, degree, seed, two_way)
    ends = random_ends(nodes, degree, seed, two_way)
    kind = "RandomRegularTwoWay" if two_way else "RandomRegular"
    return Topology.direct(nodes, *ends, name=f"{kind}({nodes}, {degree}, {seed})")


def random_ends(nodes: int, degree: int, seed: int, two_way: bool) -> tuple[Any, Any]:
    """Return the sources and the targets of the links of `random_regular`, in its domain."""
    state = seeded(seed, nodes, degree, int(two_way))
    complement = degree > (nodes - 1) // 2
    drawn = nodes - 1 - degree if complement else degree
    while True:
        if drawn == (2 if two_way else 1) and not complement:
            order = shuffled(state, nodes)
            ends = order, np.roll(order, -1)
        elif two_way:
            ends = _joined(nodes, drawn, state)
        else:
            ends = np.tile(np.arange(nodes), drawn), _permuted(nodes, drawn, state).ravel()
        if two_way:
            ends = np.concatenate(ends), np.concatenate(ends[::-1])
        if complement:
            ends = _complement(nodes, *ends)
        if is_connected(nodes, *ends):
            return ends


@njit(cache=True, nogil=True)
def _permuted(nodes: int, degree: int, state: Any) -> Any:
    """Return (degree, nodes): permutations that nowhere agree, with each other or the identity."""
    image = np.empty((degree, nodes), np.int64)
    layer = int64(0)
    while layer < degree:
        image[layer] = shuffled(state, nodes)
        # Far more tries than needed unless the transpositions reach a dead end.
        tries = 100 * nodes
        for node in range(nodes):
            while _clashes(image, layer, node) and tries > 0:
                tries -= 1
                other = below(state, nodes)
                before = _clashes(image, layer, other)
                _transpose(image[layer], node, other)
                if _clashes(image, layer, other) and not before:
                    _transpose(image[layer], node, other)
        clashing = False
        for node in range(nodes):
            clashing |= _clashes(image, layer, node)
        # Restart from the first permutation: the others may allow no continuation.
        layer = 0 if clashing else layer + 1
    return image


@njit(cache=True, nogil=True)
def _clashes(image: Any, layer: int, node: int) -> bool:
    target = image[layer, node]
    clash = target == node
    for earlier in range(layer):
        clash |= image[earlier, node] == target
    return clash


@njit(cache=True, nogil=True)
def _transpose(row: Any, one: int, other: int) -> None:
    row[one], row[other] = row[other], row[one]


@njit(cache=True, nogil=True)
def _joined(nodes: int, degree: int, state: Any) -> Any:
    """Return the ends of the links of a simple graph, each link once; possibly disconnected."""
    count = nodes * degree // 2
    while True:
        ends = shuffled(state, nodes * degree)
        # Stub s belongs to node s // degree; neighbor[s] is the node at its other end.
        neighbor = np.empty(nodes * degree, np.int64)
        for link in range(count):
            _join(neighbor, ends[2 * link], ends[2 * link + 1], degree)
        tries, link = 100 * (count + 1), 0
        while link < count and tries > 0:
            one, two = ends[2 * link], ends[2 * link + 1]
            if not _doubled(neighbor, one, two, degree):
                link += 1
                continue
            tries -= 1
            other = below(state, count)
            turn = below(state, int64(2))
            three, four = ends[2 * other + turn], ends[2 * other + 1 - turn]
            if other == link:
                continue
            # Swap: one - two and three - four become one - four and three - two.
            _join(neighbor, one, four, degree)
            _join(neighbor, three, two, degree)
            if _doubled(neighbor, one, four, degree) or _doubled(neighbor, three, two, degree):
                _join(neighbor, one, two, degree)
                _join(neighbor, three, four, degree)
                continue
            ends[2 * link + 1] = four
            ends[2 * other + turn], ends[2 * other + 1 - turn] = three, two
        simple = True
        for link in range(count):
            simple &= not _doubled(neighbor, ends[2 * link], ends[2 * link + 1], degree)
        if simple:
            return ends[::2] // degree, ends[1::2] // degree


@njit(cache=True, nogil=True)
def _join(neighbor: Any, one: int, two: int, degree: int) -> None:
    neighbor[one], neighbor[two] = two // degree, one // degree


@njit(cache=True, nogil=True)
def _doubled(neighbor: Any, one: int, two: int, degree: int) -> bool:
    """Return whether the link between two stubs is a loop, or has a parallel one."""
    node, target = one // degree, two // degree
    found = 0
    for stub in range(node * degree, (node + 1) * degree):
        found += neighbor[stub] == target
    return node == target or found > 1


def _complement(nodes: int, sources: Any, targets: Any) -> tuple[Any, Any]:
    joined = ~np.eye(nodes, dtype=np.bool_)
    joined[sources, targets] = False
    first, second = np.nonzero(joined)
    return first, second
