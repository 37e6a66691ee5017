"""Latencies of hops between ranks as NCCL counts them: inside machines and between machines."""

from collections.abc import Iterator
from fractions import Fraction
from heapq import heappop, heappush
from math import lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.topology.topology import NodeId, Topology

_NEVER = 1 << 60


class Hops(NamedTuple):
    """Seconds of a hop inside a machine and between machines, and the number of machines."""

    inside: Fraction
    between: Fraction
    machines: int = 1

    def ring_seconds(self, ranks: int) -> Fraction:
        """Return the latency of one pass around all ranks, which enters each machine once."""
        return (ranks - self.machines) * self.inside + (self.machines - 1) * self.between

    def tree_seconds(self, ranks: int) -> Fraction:
        """Return the latency from the leaves of a binary tree of the ranks to its root."""
        levels, outer = (ranks - 1).bit_length(), (self.machines - 1).bit_length()
        return (levels - outer) * self.inside + outer * self.between


def stated_hops(topology: Topology) -> Hops:
    """Return the hops of a topology that states the latencies of its links.

    A hop is a link, or a way over switches.  The least latency of a hop counts inside machines, the
    largest one between machines.  Ranks that hops of the least latency join share a machine.

    O(ranks^2 + switches * links log links).

    >>> from topoloom.synth.fabrics import fabric
    >>> [float(each * 10**6) for each in stated_hops(fabric("dgx-h100-4"))[:2]]
    [0.6, 5.0]
    >>> stated_hops(fabric("dgx-h100-4")).machines
    4
    """
    unit = lcm(*(latency.denominator for latency in topology.latencies.values()))
    ranks = len(topology.compute_nodes)
    least, most, machine = _NEVER, 0, np.arange(ranks)
    for rank, row in enumerate(_rows(topology, unit)):
        row[rank] = _NEVER
        reached = row[row < _NEVER]
        if len(reached) and reached.min() < least:
            least, machine = int(reached.min()), np.arange(ranks)
        most = max(most, int(reached.max(initial=0)))
        for other in np.unique(machine[row == least]):
            machine[machine == other] = machine[rank]
    return Hops(Fraction(least, unit), Fraction(most, unit), len(np.unique(machine)))


def _rows(topology: Topology, unit: int) -> Iterator[NDArray[np.int64]]:
    """Yield, for each rank, the latencies of its hops to all ranks."""
    numbers = {node: number for number, node in enumerate(topology.compute_nodes)}
    after: dict[NodeId, dict[NodeId, int]] = {node: {} for node in topology.nodes}
    for (source, target), latency in topology.latencies.items():
        after[source][target] = int(latency * unit)
    known: dict[NodeId, NDArray[np.int64]] = {}
    for node in topology.compute_nodes:
        row = np.full(len(numbers), _NEVER)
        for neighbor, latency in after[node].items():
            if neighbor in numbers:
                row[numbers[neighbor]] = min(row[numbers[neighbor]], latency)
            else:
                if neighbor not in known:
                    known[neighbor] = _from_switch(neighbor, after, numbers)
                np.minimum(row, known[neighbor] + latency, out=row)
        yield row


def _from_switch(
    start: NodeId, after: dict[NodeId, dict[NodeId, int]], numbers: dict[NodeId, int]
) -> NDArray[np.int64]:
    """Return the least latencies from a switch to all ranks over switches (Dijkstra)."""
    row = np.full(len(numbers), _NEVER)
    best, heap, count = {start: 0}, [(0, 0, start)], 0
    while heap:
        reached, _, switch = heappop(heap)
        if reached > best[switch]:
            continue
        for neighbor, latency in after[switch].items():
            total = reached + latency
            if neighbor in numbers:
                row[numbers[neighbor]] = min(row[numbers[neighbor]], total)
            elif total < best.get(neighbor, _NEVER):
                best[neighbor], count = total, count + 1
                heappush(heap, (total, count, neighbor))
    return row
