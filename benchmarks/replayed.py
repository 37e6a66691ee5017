"""Figures of topology/1 and schedule/1 documents, computed by plain replay.

Imports nothing from the project: code that did not produce the figures of the service checks them.
"""

from collections import Counter, deque
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np


def port_faults(topology: dict[str, Any], degree: int, two_way: bool) -> list[str]:
    """Return the faults of the ports of a topology/1 document; empty if all are right.

    >>> links = [{"source": 0, "target": 1}, {"source": 1, "target": 0}]
    >>> port_faults({"nodes": [{"id": 0}, {"id": 1}], "links": links}, 1, True)
    []
    """
    ends = [(link["source"], link["target"]) for link in topology["links"]]
    out, into = Counter(s for s, _ in ends), Counter(t for _, t in ends)
    faults = [f"{node} has {out[node]} links out" for node in out if out[node] > degree]
    faults += [f"{node} has {into[node]} links in" for node in into if into[node] > degree]
    faults += [f"{one} is joined to itself" for one, other in ends if one == other]
    if two_way and Counter(ends) != Counter((t, s) for s, t in ends):
        faults.append("a link has no partner the other way")
    return faults


def diameter(topology: dict[str, Any]) -> int:
    """Return the largest distance between two nodes; one breadth-first search a node.

    >>> ring = [{"source": i, "target": (i + 1) % 5} for i in range(5)]
    >>> diameter({"nodes": [{"id": i} for i in range(5)], "links": ring})
    4
    """
    nodes = [node["id"] for node in topology["nodes"]]
    onward: dict[Any, set[Any]] = {node: set() for node in nodes}
    for link in topology["links"]:
        onward[link["source"]].add(link["target"])
    return max(_eccentricity(onward, node) for node in nodes)


def _eccentricity(onward: dict[Any, set[Any]], start: Any) -> int:
    distance, waiting = {start: 0}, deque([start])
    while waiting:
        node = waiting.popleft()
        for other in onward[node]:
            if other not in distance:
                distance[other] = distance[node] + 1
                waiting.append(other)
    if len(distance) < len(onward):
        raise ValueError(f"{start} does not reach every node")
    return max(distance.values())


def schedule_cost(schedule: dict[str, Any], topology: dict[str, Any]) -> tuple[int, Fraction]:
    """Return steps and T_B, in M / B, of a schedule/1 document of kind steps, or raise.

    An allgather is replayed chunk by chunk.  A reduce-scatter is an allgather backwards, with every
    link reversed.  The cost of an allreduce is the sum over both parts.

    Raises:
        ValueError: A chunk is sent before it has arrived or over a link that does not exist,
            arrives twice, or is missing in the end.
    """
    if schedule["kind"] == "sequence":
        parts = [schedule_cost(part, topology) for part in schedule["parts"]]
        return sum(steps for steps, _ in parts), sum((t for _, t in parts), Fraction(0))
    forward = schedule["collective"] == "allgather"
    links = Counter((link["source"], link["target"]) for link in topology["links"])
    steps = schedule["steps"] if forward else list(reversed(schedule["steps"]))
    nodes = [node["id"] for node in topology["nodes"]]
    chunks = schedule["chunks_per_shard"]
    place = {node: index for index, node in enumerate(nodes)}
    held = np.zeros((len(nodes), len(nodes), chunks), bool)
    held[range(len(nodes)), range(len(nodes))] = True
    total = 0
    for step in steps:
        total += _replay(step, held, place, links, forward)
    if not held.all():
        raise ValueError("some chunk never arrives")
    degree = max(Counter(link["source"] for link in topology["links"]).values())
    return len(steps), Fraction(degree * total, len(nodes) * chunks)


def _replay(
    step: Iterable[dict[str, Any]],
    held: Any,
    place: dict[Any, int],
    links: Counter[tuple[Any, Any]],
    forward: bool,
) -> Fraction:
    """Apply the sends of one step to the held chunks; return a link's largest load in chunks."""
    load: Counter[tuple[Any, Any]] = Counter()
    arrived = []
    for send in step:
        ends = (send["source"], send["target"])
        if ends not in links:
            raise ValueError(f"there is no link from {ends[0]} to {ends[1]}")
        load[ends] += send["count"]
        source, target = (place[node] for node in (ends if forward else ends[::-1]))
        shard, pieces = place[send["shard"]], slice(send["first"], send["first"] + send["count"])
        if not held[source, shard, pieces].all():
            raise ValueError(f"{ends[0]} sends what it does not hold")
        arrived.append((target, shard, pieces))
    for target, shard, pieces in arrived:
        if held[target, shard, pieces].any():
            raise ValueError("a chunk arrives twice")
        held[target, shard, pieces] = True
    return max(Fraction(load[ends], links[ends]) for ends in load)
