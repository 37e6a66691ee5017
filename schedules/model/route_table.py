"""Routes in arrays: a million routes take about 50 MB instead of 500 MB.

A `RouteTable` is a sequence of `Route`.  Code that must be fast for a thousand hosts reads its
arrays.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.model.array_sequence import ArraySequence
from topoloom.schedules.model.schedule import Route
from topoloom.synth.topology.topology import NodeId

BLOCK = 1 << 17
"""Routes per block where memory use matters."""


@dataclass(frozen=True, eq=False, slots=True)
class RouteTable(ArraySequence[Route]):
    """Routes: route i visits ``nodes[starts[i]:starts[i + 1]]``, indices into ``names``.

    >>> table = route_table((Route(("a", "b"), 2), Route(("b", "c", "a"), 1)), ("a", "b", "c"))
    >>> len(table), table[1], table.nodes.tolist()
    (2, Route(path=('b', 'c', 'a'), weight=1), [0, 1, 1, 2, 0])
    >>> table == (Route(("a", "b"), 2), Route(("b", "c", "a"), 1))
    True
    """

    names: tuple[NodeId, ...]
    nodes: NDArray[Any]
    starts: NDArray[np.int64]
    weights: NDArray[Any]

    def in_order(self, order: NDArray[np.int64]) -> "RouteTable":
        """Return the routes in another order.

        >>> route_table((Route((0, 1), 2), Route((1, 0, 2), 1)), (0, 1, 2)).in_order([1, 0])[0]
        Route(path=(1, 0, 2), weight=1)
        """
        lengths = np.diff(self.starts)[order]
        ends = np.cumsum(lengths)
        begin = ends - lengths
        nodes = np.empty_like(self.nodes)
        for low in range(0, len(order), BLOCK):
            block = slice(low, low + BLOCK)
            # Index shift from the new order to the old order.
            shift = np.repeat(self.starts[:-1][order[block]] - begin[block], lengths[block])
            places = np.arange(begin[low], ends[block][-1])
            nodes[places[0] : places[-1] + 1] = self.nodes[places + shift]
        starts = np.concatenate([[0], ends]).astype(np.int64)
        return RouteTable(self.names, nodes, starts, self.weights[order])

    def __len__(self) -> int:
        return len(self.weights)

    def item(self, at: int) -> Route:
        """Return route ``at``."""
        path = self.nodes[self.starts[at] : self.starts[at + 1]].tolist()
        return Route(tuple(self.names[node] for node in path), int(self.weights[at]))

    def __iter__(self) -> Iterator[Route]:
        for low in range(0, len(self), BLOCK):
            weights = self.weights[low : low + BLOCK].tolist()
            starts = self.starts[low : low + BLOCK + 1].tolist()
            nodes = self.nodes[starts[0] : starts[-1]].tolist()
            named = [self.names[node] for node in nodes]
            for at, weight in enumerate(weights):
                span = slice(starts[at] - starts[0], starts[at + 1] - starts[0])
                yield Route(tuple(named[span]), weight)

    def __repr__(self) -> str:
        return f"<{len(self)} routes>"


def route_table(routes: Sequence[Route], names: tuple[NodeId, ...]) -> RouteTable:
    """Return routes as a table over the nodes ``names``; other nodes have the index -1.

    O(hops); O(1) for a table with the same names.
    """
    if isinstance(routes, RouteTable):
        if routes.names == names:
            return routes
        place = {name: at for at, name in enumerate(names)}
        moved = np.array([place.get(name, -1) for name in routes.names] + [-1], np.int32)
        return RouteTable(names, moved[routes.nodes], routes.starts, routes.weights)
    place = {name: at for at, name in enumerate(names)}
    nodes = [place.get(node, -1) for route in routes for node in route.path]
    lengths = [0, *(len(route.path) for route in routes)]
    weights = [route.weight for route in routes]
    small = not weights or max(map(abs, weights)) < 1 << 62
    exact = np.array(weights, np.int64 if small else object)
    return RouteTable(names, np.array(nodes, np.int32), np.cumsum(lengths), exact)
