"""The cost of breadth-first broadcast, slowly: plain Python, every subset of links."""

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction

from topoloom.synth.evaluation.cost import Cost
from topoloom.synth.topology.topology import Topology


def broadcast_cost(topology: Topology, roots: Iterable[int] | None = None) -> Cost:
    """Return the cost of the breadth-first-broadcast allgather.

    A step costs the largest, over destinations u and sets S of links into u, number of
    sources at that distance which can enter u by shortest paths through S only, per link
    of S.  ``roots`` limits the destinations, for graphs whose nodes are all alike.
    """
    into: list[list[int]] = [[] for _ in range(topology.node_count)]
    out: list[list[int]] = [[] for _ in range(topology.node_count)]
    for source, target in zip(topology.sources.tolist(), topology.targets.tolist(), strict=True):
        into[target].append(source)
        out[source].append(target)
    loads: dict[int, Fraction] = {}
    for root in range(topology.node_count) if roots is None else roots:
        for step, masks in _arrivals(into, out, root).items():
            load = _largest_load(masks, len(into[root]))
            loads[step] = max(load, loads.get(step, load))
    return Cost(max(loads), sum(loads.values()) * topology.degree / topology.node_count)


def distances_to(into: list[list[int]], root: int) -> dict[int, int]:
    """Return the length of a shortest path from every node to the root."""
    distance, frontier = {root: 0}, [root]
    while frontier:
        fresh = []
        for node in frontier:
            for before in into[node]:
                if before not in distance:
                    distance[before] = distance[node] + 1
                    fresh.append(before)
        frontier = fresh
    return distance


def _arrivals(into: list[list[int]], out: list[list[int]], root: int) -> dict[int, Counter[int]]:
    """Return, by distance, how many sources can use exactly the links of which mask."""
    distance = distances_to(into, root)
    if len(distance) != len(into):
        raise ValueError("the graph is not connected")
    entry = dict.fromkeys(distance, 0)
    for index, source in enumerate(into[root]):
        entry[source] |= 1 << index
    steps: dict[int, Counter[int]] = {}
    for node in sorted(distance, key=distance.__getitem__):
        if distance[node] > 1:
            for after in out[node]:
                if distance[after] == distance[node] - 1:
                    entry[node] |= entry[after]
        if node != root:
            steps.setdefault(distance[node], Counter())[entry[node]] += 1
    return steps


def _largest_load(masks: Counter[int], links: int) -> Fraction:
    best = Fraction(0)
    for subset in range(1, 1 << links):
        inside = sum(count for mask, count in masks.items() if mask | subset == subset)
        best = max(best, Fraction(inside, subset.bit_count()))
    return best
