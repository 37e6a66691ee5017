"""One order of the nodes of all stages: after the nodes that they wait for, stream by stream."""

import heapq
from collections.abc import Sequence
from graphlib import CycleError


def node_order(
    before: Sequence[Sequence[int]],
    streams: Sequence[str],
    starts: Sequence[int],
    lengths: Sequence[int],
) -> list[int]:
    """Return the nodes in an order in which each stream can run them.

    With measured starts, nodes that are free come by start.  Without, a stream runs what is ready
    first if communications take no time; of equals, the first of the list.  O(n log n).

    Args:
        before: For every node, the nodes that end first.
        streams: Stream of every node; nodes of the stream "" run beside all others.
        starts: Measured starts, or zeros.
        lengths: Lengths in nanoseconds.

    Raises:
        CycleError: Nodes wait for each other; the second argument has one of them.

    >>> node_order([(), (0,), ()], ["a", "a", "a"], [0, 0, 0], [5, 1, 1])
    [0, 2, 1]
    >>> node_order([(), (0,), ()], ["a", "a", "a"], [1, 2, 3], [5, 1, 1])
    [0, 1, 2]
    """
    run = _Run(before, streams, lengths)
    order = run.by_start(starts) if any(starts) else run.by_readiness()
    if len(order) < len(before):
        left = min(set(range(len(before))) - set(order))
        raise CycleError("nodes wait for each other", left)
    return order


class _Run:
    """Nodes with the number of others that each still waits for."""

    def __init__(
        self, before: Sequence[Sequence[int]], streams: Sequence[str], lengths: Sequence[int]
    ) -> None:
        self.streams, self.lengths = streams, lengths
        self.waiting = [len(set(one)) for one in before]
        self.later: list[list[int]] = [[] for _ in before]
        for node, others in enumerate(before):
            for other in set(others):
                self.later[other].append(node)

    def _freed(self, node: int) -> list[int]:
        """Return the nodes that wait for nothing else than the node, which ends."""
        found = []
        for other in self.later[node]:
            self.waiting[other] -= 1
            if not self.waiting[other]:
                found.append(other)
        return found

    def by_start(self, starts: Sequence[int]) -> list[int]:
        free = [(starts[node], node) for node, count in enumerate(self.waiting) if not count]
        heapq.heapify(free)
        order = []
        while free:
            node = heapq.heappop(free)[1]
            order.append(node)
            for other in self._freed(node):
                heapq.heappush(free, (starts[other], other))
        return order

    def by_readiness(self) -> list[int]:
        # By stream: when a node is ready, and the node.
        ready: dict[str, list[tuple[int, int]]] = {}
        busy = set[str]()
        # Ends of running nodes.
        ends: list[tuple[int, int]] = []
        order: list[int] = []

        def offer(nodes: Sequence[int], now: int) -> None:
            for node in nodes:
                heapq.heappush(ready.setdefault(self.streams[node], []), (now, node))
            for stream in {self.streams[node] for node in nodes}:
                start(stream, now)

        def start(stream: str, now: int) -> None:
            own = ready.get(stream, [])
            while own and (not stream or stream not in busy):
                node = heapq.heappop(own)[1]
                order.append(node)
                busy.add(stream)
                heapq.heappush(ends, (now + self.lengths[node], node))

        offer([node for node, count in enumerate(self.waiting) if not count], 0)
        while ends:
            now, node = heapq.heappop(ends)
            busy.discard(self.streams[node])
            offer(self._freed(node), now)
            start(self.streams[node], now)
        return order
