"""One pipelined tree, as messages."""

from collections import deque

from tests.baseline_runs.runs import BaselineRun
from topoloom.schedules.baselines import single_tree
from topoloom.schedules.baselines.operation import Operation
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.model.transcript import Message, Span, Transcript
from topoloom.synth.topology.topology import Topology


def baseline_run(nodes: int, degree: int, operation: Operation) -> BaselineRun | None:
    """Return the tree and the messages of the allreduce."""
    best = single_tree.time(nodes, degree, operation)
    if best is None:
        return None
    links = next(k for k, timed in single_tree._timed(nodes, degree, operation) if timed == best)
    centers = single_tree._center(nodes, links)[1]
    edges = _edges(nodes, links, centers)
    joined = [*edges, (0, 1)] if centers == 2 else edges
    pairs = [pair for a, b in joined for pair in ((a, b), (b, a))]
    topology = Topology(range(nodes), pairs * (degree // links))
    return BaselineRun(topology, _transcript(nodes, edges, centers), best.chunks)


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
