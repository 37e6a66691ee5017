"""From flows per source to routes: which part of each pair's data takes which way."""

from collections import defaultdict
from itertools import pairwise
from math import gcd

import numpy as np
from numpy.typing import NDArray

from schedules.alltoall.demand import Demand
from schedules.errors import TooLarge
from schedules.model import Collective, Route, RouteSchedule
from synth.topology import Topology

__all__ = ["MAX_HOPS", "most_hops", "routed"]

MAX_HOPS = 5_000_000

Path = tuple[int, ...]
Integers = NDArray[np.int64]


def routed(topology: Topology, problem: Demand, flows: Integers, unit: int) -> RouteSchedule:
    """Return the schedule that carries out the flows of one source of each orbit.

    Parameters
    ----------
    flows : array of int64, (sources, arcs)
        In 1 / unit; each row brings every other compute node exactly one unit.

    Raises
    ------
    TooLarge
        The routes have more than `MAX_HOPS` hops in all.

    Notes
    -----
    A flow from one source to many destinations falls apart into paths: one path to one
    destination is taken away, and what remains is a flow to the rest.  Every path takes
    away the whole of some arc's flow or of some destination's demand, so a source has at
    most arcs + nodes paths.  The group carries them to the other sources.
    """
    found = _every_path(problem, flows, unit)
    hops = sum(len(path) - 1 for paths in found for path in paths) * len(problem.images)
    if hops > MAX_HOPS:
        raise TooLarge("/topology", f"needs {hops} hops of routes; at most {MAX_HOPS}")
    common = gcd(unit, *(weight for paths in found for weight in paths.values()))
    names = topology.nodes
    routes = []
    for image in problem.images.tolist():
        for paths in found:
            for path, weight in paths.items():
                ids = tuple(names[image[node]] for node in path)
                routes.append((image[path[0]], image[path[-1]], ids, weight // common))
    routes.sort(key=lambda route: (route[0], route[1], len(route[2])))
    return RouteSchedule(
        Collective.ALL_TO_ALL,
        topology.digest,
        topology.compute_nodes,
        unit // common,
        tuple(Route(ids, weight) for _, _, ids, weight in routes),
    )


def most_hops(problem: Demand, flows: Integers, unit: int) -> int:
    """Return the most hops, from host to host, of a route that `routed` makes of these flows."""
    found = _every_path(problem, flows, unit)
    return max(int(problem.wants[list(path)].sum()) - 1 for paths in found for path in paths)


def _every_path(problem: Demand, flows: Integers, unit: int) -> list[dict[Path, int]]:
    sources = problem.sources.tolist()
    return [_paths(problem, source, row, unit) for source, row in zip(sources, flows, strict=True)]


def _paths(problem: Demand, source: int, flow: Integers, unit: int) -> dict[Path, int]:
    """Return paths and their weights, those of one source."""
    left: list[dict[int, int]] = [{} for _ in range(problem.nodes)]
    tails, heads = problem.tail.tolist(), problem.head.tolist()
    for arc in np.flatnonzero(flow).tolist():
        left[heads[arc]][tails[arc]] = int(flow[arc])
    paths: dict[Path, int] = defaultdict(int)
    for goal in np.flatnonzero(problem.wants).tolist():
        wanted = 0 if goal == source else unit
        while wanted:
            path = _way_back(left, source, goal)
            hops = list(pairwise(path))
            weight = min(wanted, *(left[head][tail] for tail, head in hops))
            _take(left, hops, weight)
            paths[path] += weight
            wanted -= weight
    return dict(paths)


def _way_back(left: list[dict[int, int]], source: int, goal: int) -> Path:
    """Return a path of positive flow from the source; flow in circles is dropped on the way.

    A node that wants data, or passes some on, is entered by some flow: so the way back
    ends at the source only.
    """
    way, place = [goal], {goal: 0}
    while way[-1] != source:
        node = next(iter(left[way[-1]]))
        if node not in place:
            place[node] = len(way)
            way.append(node)
            continue
        circle = [*way[place[node] :], node]
        hops = [(tail, head) for head, tail in pairwise(circle)]
        _take(left, hops, min(left[head][tail] for tail, head in hops))
        for dropped in way[place[node] + 1 :]:
            del place[dropped]
        del way[place[node] + 1 :]
    return tuple(way[::-1])


def _take(left: list[dict[int, int]], hops: list[tuple[int, int]], weight: int) -> None:
    for tail, head in hops:
        left[head][tail] -= weight
        if not left[head][tail]:
            del left[head][tail]
