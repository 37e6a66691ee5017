"""The bandwidth of a ring over hosts in a given order, and the neighbors without a cable."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from topoloom.synth.launch.host_graph import Arc, HostGraph
from topoloom.synth.topology.topology import Capacity


@dataclass(frozen=True, slots=True)
class RingLoad:
    """The cost of a ring in an order of hosts, in which each host sends to the next.

    Args:
        bottleneck: The rate at which every host sends to the next; None for one host.
        links: The links that the messages of one round cross, in total.
        longest: The most links between two neighbors: 1 if every neighbor has a cable.
    """

    bottleneck: Capacity | None
    links: int
    longest: int


def ring_load(graph: HostGraph, order: Sequence[int]) -> RingLoad:
    """Return the cost of a ring in this order, if messages follow shortest paths.

    Where several links continue a shortest path, they share its messages in proportion to their
    capacities.  O(hosts) links for neighbors with a cable, else O(hosts * links).

    >>> from topoloom.synth.launch.host_graph import host_graph
    >>> from topoloom.synth.topology.topology import Topology
    >>> chain = host_graph(Topology("abc", [("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")]))
    >>> ring_load(chain, (0, 1, 2))
    RingLoad(bottleneck=1, links=4, longest=2)
    """
    if len(order) < 2:
        return RingLoad(None, 0, 0)
    loads: dict[Arc, Fraction] = defaultdict(Fraction)
    neighbors = list(zip(order, (*order[1:], order[0]), strict=True))
    for source, target in neighbors:
        _route(graph, source, target, loads)
    rates = [Fraction(graph.capacities[arc]) / load for arc, load in loads.items()]
    rates += [
        Fraction(value) / load
        for arcs, value in graph.limits
        if (load := sum((loads[arc] for arc in arcs if arc in loads), Fraction()))
    ]
    least = min(rates)
    lengths = [int(graph.hops[target, source]) for source, target in neighbors]
    return RingLoad(
        int(least) if least.denominator == 1 else least, sum(lengths), max(lengths, default=0)
    )


def _route(graph: HostGraph, source: int, target: int, loads: dict[Arc, Fraction]) -> None:
    """Add one message from source to target to the loads of the links."""
    distance = graph.hops[target]
    waiting = {source: Fraction(1)}
    while waiting:
        reached: dict[int, Fraction] = defaultdict(Fraction)
        for vertex, share in waiting.items():
            if vertex == target:
                continue
            arcs = [
                (vertex, other)
                for other in graph.successors[vertex]
                if distance[other] == distance[vertex] - 1
            ]
            whole = sum(Fraction(graph.capacities[arc]) for arc in arcs)
            for arc in arcs:
                part = share * Fraction(graph.capacities[arc]) / whole
                loads[arc] += part
                reached[arc[1]] += part
        waiting = reached
