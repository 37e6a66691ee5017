"""One pipelined tree of least diameter over the hosts: for small messages among many hosts.

The pieces are summed towards the center of the tree and return at once over the opposite directions
of the links.  The center is a host, or a link whose ends exchange their sums.

References:
    Moore trees: the balls of an infinite tree have the least diameter of all trees of a degree.
"""

from collections import deque
from collections.abc import Iterator
from functools import lru_cache

from topoloom.schedules.baselines.baseline_run import BaselineRun
from topoloom.schedules.baselines.operation import Baseline, Operation, faster
from topoloom.schedules.baselines.two_tree_schedule import pipelined_seconds
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.model.transcript import Message, Span, Transcript
from topoloom.synth.topology.topology import Topology

NAME = "single-tree"


def time(nodes: int, degree: int, operation: Operation) -> Baseline | None:
    """Return the least time over trees of at most k <= d links per host, floor(d / k) in parallel.

    A piece takes as many hops as the diameter of the tree: 2 r around a host, 2 r - 1 around a
    link.  1024 hosts of four ports take 12 hops.

    >>> from fractions import Fraction
    >>> work = Operation(Collective.ALLREDUCE, 1000, Fraction(125 * 10**8), Fraction(1, 10**5))
    >>> tree = time(1024, 4, work)
    >>> tree.steps, round(float(tree.seconds) * 1e6, 1)
    (12, 123.8)
    """
    found = [timed for _, timed in _timed(nodes, degree, operation)]
    return faster(*found) if found else None


def baseline_run(nodes: int, degree: int, operation: Operation) -> BaselineRun | None:
    """Return the tree and the messages of the allreduce."""
    best = time(nodes, degree, operation)
    if best is None:
        return None
    links = next(k for k, timed in _timed(nodes, degree, operation) if timed == best)
    centers = _center(nodes, links)[1]
    edges = _edges(nodes, links, centers)
    joined = [*edges, (0, 1)] if centers == 2 else edges
    pairs = [pair for a, b in joined for pair in ((a, b), (b, a))]
    topology = Topology(range(nodes), pairs * (degree // links))
    return BaselineRun(topology, _transcript(nodes, edges, centers), best.chunks)


def _timed(nodes: int, degree: int, operation: Operation) -> Iterator[tuple[int, Baseline]]:
    """Yield the times by the number of links per host; one link is enough for two hosts only."""
    if operation.collective is not Collective.ALLREDUCE:
        return
    for links in range(1 if nodes == 2 else 2, degree + 1):
        wide = operation.bytes_per_second * (degree // links) / degree
        hops = _center(nodes, links)[0]
        yield links, pipelined_seconds(NAME, hops, operation.size_bytes, wide, operation)


@lru_cache(maxsize=4096)
def _center(nodes: int, links: int) -> tuple[int, int]:
    """Return the least diameter, and the number of hosts at the center.

    >>> [_center(nodes, 3) for nodes in (2, 3, 4, 5, 6, 7, 10, 11)]
    [(1, 2), (2, 1), (2, 1), (3, 2), (3, 2), (4, 1), (4, 1), (5, 2)]
    """
    around_host, around_link, level, diameter = 1, 0, 1, 0
    while True:
        if around_host >= nodes:
            return diameter, 1
        around_link += 2 * level
        if around_link >= nodes:
            return diameter + 1, 2
        around_host += links * level
        level *= links - 1
        diameter += 2


def _edges(nodes: int, links: int, centers: int) -> list[tuple[int, int]]:
    """Return the edges (parent, child) below the centers, breadth first.

    >>> _edges(6, 3, 2)
    [(0, 2), (0, 3), (1, 4), (1, 5)]
    """
    edges: list[tuple[int, int]] = []
    free = deque(host for host in range(centers) for _ in range(links - centers + 1))
    for child in range(centers, nodes):
        edges.append((free.popleft(), child))
        free.extend([child] * (links - 1))
    return edges


def _transcript(nodes: int, edges: list[tuple[int, int]], centers: int) -> Transcript:
    messages: list[Message] = []
    sums = [1 << host for host in range(nodes)]
    brought: list[tuple[int, ...]] = [()] * nodes

    def send(source: int, target: int) -> tuple[int]:
        span = Span(0, nodes, sums[source])
        messages.append(Message(source, target, (span,), brought[source]))
        return (len(messages) - 1,)

    for parent, child in reversed(edges):
        brought[parent] += send(child, parent)
        sums[parent] |= sums[child]
    if centers == 2:
        there, back = send(0, 1), send(1, 0)
        brought[1] += there
        brought[0] += back
    sums[:centers] = [(1 << nodes) - 1] * centers
    for parent, child in edges:
        brought[child] = send(parent, child)
        sums[child] = sums[parent]
    return Transcript(Collective.ALLREDUCE, tuple(range(nodes + 1)), tuple(messages))
