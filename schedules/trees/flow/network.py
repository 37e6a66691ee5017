"""A topology as a network of integer capacities for the flow kernels."""

from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import TooLarge
from topoloom.schedules.trees.flow.demand import Demand, demand_of
from topoloom.schedules.trees.flow.max_flow import UNLIMITED
from topoloom.synth.topology.topology import Topology


class SharedArcs(NamedTuple):
    """Arcs with a joint limit ``capacity``, in the network's unit."""

    arcs: tuple[int, ...]
    capacity: int


@dataclass(frozen=True, eq=False, slots=True)
class Network:
    """Integer capacities without a common factor, with one arc per ordered pair of joined nodes.

    Nodes are positions in the topology.  Arc a runs from ``tail[a]`` to ``head[a]`` with
    bandwidth ``capacity[a] * unit``, where ``unit`` is in the topology's own unit.
    ``terminals`` are the positions of the ranks, in order; ``sizes`` has the shard size of each
    node, 0 for nodes that are no rank.  ``shared`` are joint limits of several arcs.
    """

    node_count: int
    terminals: NDArray[np.int64]
    sizes: NDArray[np.int64]
    tail: NDArray[np.int64]
    head: NDArray[np.int64]
    capacity: NDArray[np.int64]
    unit: Fraction
    shared: tuple[SharedArcs, ...] = ()

    @property
    def data(self) -> int:
        """The total size of all shards."""
        return int(self.sizes.sum())

    @property
    def is_rank(self) -> NDArray[np.bool_]:
        """By node, whether it is a rank."""
        found = np.zeros(self.node_count, np.bool_)
        found[self.terminals] = True
        return found

    @property
    def kinds(self) -> list[tuple[bool, int]]:
        """By node, whether it is a rank, and its shard size: equal for equivalent nodes."""
        return list(zip(self.is_rank.tolist(), self.sizes.tolist(), strict=True))


def network_of(topology: Topology, demand: Demand | None = None) -> Network:
    """Return the topology's network; parallel links become one arc.

    Without a ``demand`` every compute node brings a shard of size 1.

    Raises:
        TooLarge: The scaled capacities do not fit 62 bits.

    >>> halves = Topology("ab", [("a", "b", Fraction(1, 2)), ("b", "a", 3)])
    >>> network = network_of(halves)
    >>> network.capacity.tolist(), network.unit
    ([1, 6], Fraction(1, 2))
    """
    totals: dict[tuple[int, int], Fraction | int] = {}
    ends = zip(topology.sources.tolist(), topology.targets.tolist(), strict=True)
    for pair, capacity in zip(ends, topology.capacities, strict=True):
        totals[pair] = totals.get(pair, 0) + capacity
    limits = [one.capacity for one in topology.shared]
    every = [*totals.values(), *limits]
    scale = lcm(*(Fraction(total).denominator for total in set(every)))
    whole = [int(total * scale) for total in every]
    common = gcd(*whole) or 1
    whole = [value // common for value in whole]
    guard(sum(whole))
    arc = {pair: index for index, pair in enumerate(totals)}
    place = topology.position
    shared = tuple(
        SharedArcs(tuple(arc[place[s], place[t]] for s, t in one.links), limit)
        for one, limit in zip(topology.shared, whole[len(totals) :], strict=True)
    )
    pairs = np.array(list(totals), dtype=np.int64).reshape(-1, 2)
    demand = demand or demand_of(topology)
    terminals = np.array([topology.position[rank] for rank in demand.ranks], dtype=np.int64)
    sizes = np.zeros(topology.node_count, np.int64)
    sizes[terminals] = demand.sizes
    return Network(
        node_count=topology.node_count,
        terminals=terminals,
        sizes=sizes,
        tail=np.ascontiguousarray(pairs[:, 0]),
        head=np.ascontiguousarray(pairs[:, 1]),
        capacity=np.array(whole[: len(totals)], dtype=np.int64),
        unit=Fraction(common, scale),
        shared=shared,
    )


def copying_nodes(topology: Topology) -> tuple[int, ...]:
    """Return the positions of the switches that copy and reduce.

    >>> copying_nodes(Topology("abw", [("a", "w"), ("w", "b")], switches="w", multicast="w"))
    (2,)
    """
    return tuple(i for i, node in enumerate(topology.nodes) if node in topology.multicast)


def guard(total: int) -> None:
    """Raise TooLarge unless the flow kernels can hold sums up to ``total``."""
    if total >= UNLIMITED:
        raise TooLarge(
            "/links",
            "the capacities, scaled to whole numbers by the sizes of the shards,"
            " must add up to less than 2**62",
        )
