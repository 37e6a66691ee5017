"""Hops of all routes as arrays: invalid routes, link loads, and sums by pair.

Routes are processed in blocks, so that memory is small compared with the routes themselves.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import InvalidSchedule
from topoloom.schedules.model.route_table import BLOCK, RouteTable, route_table
from topoloom.schedules.model.schedule import RouteSchedule
from topoloom.schedules.verify.link_index import LinkIndex
from topoloom.synth.topology.topology import Topology

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RouteHops:
    """The routes of a schedule over positions of a topology's nodes.

    ``rank`` is the rank of a node, or -1; ``rests`` is whether data stops at a node: everywhere but
    at switches.
    """

    table: RouteTable
    links: LinkIndex
    rank: Integers
    rests: NDArray[np.bool_]

    @classmethod
    def from_schedule(cls, schedule: RouteSchedule, topology: Topology) -> "RouteHops":
        """Return the hops of a schedule; nodes that the topology lacks are -1."""
        count = topology.node_count
        rank = np.full(count + 1, -1, np.int64)
        for at, node in enumerate(schedule.ranks):
            if node in topology.position:
                rank[topology.position[node]] = at
        rests = np.array([node not in topology.switches for node in topology.nodes] + [True])
        table = route_table(schedule.routes, topology.nodes)
        return cls(table, LinkIndex.of(topology), rank, rests)

    def wrong(self, schedule: RouteSchedule) -> NDArray[np.bool_]:
        """Return which routes are no paths over links between ranks with a positive weight."""
        found = np.asarray(self.table.weights < 1, np.bool_)
        for low, nodes, route, starts in self._blocks():
            lengths = np.diff(starts)
            own = found[low : low + len(lengths)]
            own |= lengths < 2
            some = lengths > 0
            ends = np.zeros((2, len(lengths)), np.int64) - 1
            ends[0, some], ends[1, some] = nodes[starts[:-1][some]], nodes[starts[1:][some] - 1]
            own |= (self.rank[ends] < 0).any(axis=0)
            # Unknown nodes have the number -1.
            key = np.sort(route * len(self.rank) + nodes + 1)
            own[key[1:][key[1:] == key[:-1]] // len(self.rank)] = True
            inner = route[1:] == route[:-1]
            missing = self.links.find(nodes[:-1], nodes[1:]) < 0
            own[route[1:][inner & missing]] = True
            own[route[nodes < 0]] = True
        return found

    def sums(self, counted: NDArray[np.bool_]) -> NDArray[Any]:
        """Return the sum of the weights of the counted routes for each ordered pair of ranks."""
        count = int(self.rank.max()) + 1
        found = np.zeros(count * count, self._exact())
        for low, nodes, _, starts in self._blocks():
            own = np.flatnonzero(counted[low : low + len(starts) - 1])
            ends = self.rank[nodes[starts[own]]], self.rank[nodes[starts[own + 1] - 1]]
            np.add.at(found, ends[0] * count + ends[1], self.table.weights[low + own])
        return found.reshape(count, count)

    def loads(self, *, phased: bool) -> NDArray[Any]:
        """Return the load of each link, in one row, or one row per message index if ``phased``.

        Raises:
            InvalidSchedule: A hop uses a missing link.
        """
        links = len(self.links.pairs)
        found = np.zeros(links, self._exact())
        for low, nodes, route, starts in self._blocks():
            inner = np.flatnonzero(route[1:] == route[:-1])
            link = self.links.find(nodes[inner], nodes[inner + 1])
            if (link < 0).any():
                raise InvalidSchedule("/routes", "every hop must run over an existing link")
            # A message starts where data stops: its index counts the stops after the first node.
            rests = np.cumsum(self.rests[nodes])
            phase = rests[inner] - rests[starts[route[inner]]] if phased else np.zeros_like(inner)
            missing = (1 + int(phase.max(initial=0))) * links - len(found)
            found = np.concatenate([found, np.zeros(max(0, missing), found.dtype)])
            np.add.at(found, phase * links + link, self.table.weights[low + route[inner]])
        return found.reshape(-1, links) if links else found.reshape(1, 0)

    def _exact(self) -> Any:
        """Return a dtype that holds every sum of weights exactly."""
        weights = self.table.weights
        longest = int(np.diff(self.table.starts).max(initial=1))
        most = int(abs(weights).max(initial=0)) * len(weights) * longest
        return np.int64 if weights.dtype != object and most < 1 << 62 else object

    def _blocks(self) -> Iterator[tuple[int, Integers, Integers, Integers]]:
        """Yield blocks: first route, all nodes, route of each node, and starts of the routes."""
        for low in range(0, len(self.table), BLOCK):
            starts = self.table.starts[low : low + BLOCK + 1]
            nodes = self.table.nodes[starts[0] : starts[-1]].astype(np.int64)
            route = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
            yield low, nodes, route, starts - starts[0]
