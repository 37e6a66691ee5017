"""Verification of route schedules: every pair is served in full over existing links."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import InvalidSchedule
from topoloom.schedules.model.schedule import Collective, Route, RouteSchedule
from topoloom.schedules.verify.findings import Findings
from topoloom.schedules.verify.route_hops import RouteHops
from topoloom.synth.topology.topology import NodeId, Topology

Hop = tuple[NodeId, NodeId]


def check_routes(
    schedule: RouteSchedule, topology: Topology, findings: Findings, prefix: str = ""
) -> None:
    """Add the violations of an all-to-all by routes.

    Every route is a path over links from one rank to another; for every ordered pair of ranks
    the weights sum to ``units_per_pair``.  Every block is therefore delivered exactly once.
    O(hops).
    """
    if schedule.collective is not Collective.ALL_TO_ALL:
        findings.add(f"{prefix}/collective", "routes are for all-to-all only")
    if schedule.units_per_pair < 1:
        findings.add(f"{prefix}/units_per_pair", "must be at least 1")
    ranks = set(schedule.ranks)
    links = {(link.source, link.target) for link in topology.links}
    hops = RouteHops.from_schedule(schedule, topology)
    wrong = hops.wrong(schedule)
    for index in np.flatnonzero(wrong).tolist():
        problem = _problem(schedule.routes[index], ranks, links)
        findings.add(f"{prefix}/routes/{index}", problem or "must be a path over links")
        if not findings.room:
            return
    sums = hops.sums(~wrong)
    whole = np.full(len(ranks), schedule.units_per_pair, dtype=sums.dtype)
    place = {node: at for at, node in enumerate(schedule.ranks)}
    for source in schedule.ranks:
        row = sums[place[source]]
        short = np.flatnonzero(row != whole).tolist()
        for target, weight in ((schedule.ranks[at], int(row[at])) for at in short):
            if source != target:
                findings.add(
                    f"{prefix}/routes",
                    f"the weights from {source!r} to {target!r} must add up to "
                    f"{schedule.units_per_pair}; they make {weight}",
                    rank=target,
                    shard=source,
                )
        if not findings.room:
            return


def route_inverse_rate(schedule: RouteSchedule, topology: Topology) -> Fraction:
    """Return the time in which every rank sends one unit to every other rank.

    This is the max over links of (weight that crosses the link) / (capacity * units_per_pair), in
    1 / (bandwidth unit); with M bytes in every rank's buffer the time is that times M / N.
    Parallel links share their load, so their capacities add.

    Raises:
        InvalidSchedule: A route uses a missing link, or ``units_per_pair`` is not positive.

    >>> pair = Topology(range(2), [(0, 1, 4), (1, 0, 4)])
    >>> routes = (Route((0, 1), 1), Route((1, 0), 1))
    >>> both = RouteSchedule(Collective.ALL_TO_ALL, pair.digest, (0, 1), 1, routes)
    >>> route_inverse_rate(both, pair)
    Fraction(1, 4)
    """
    hops = RouteHops.from_schedule(schedule, topology)
    return _slowest(hops.loads(phased=False), hops, schedule, topology)[0]


def route_phases(schedule: RouteSchedule, topology: Topology) -> tuple[Fraction, ...]:
    """Return, for k = 1, 2, ..., the time of the k-th messages of all routes at once.

    A message travels from rank to rank and passes switches without a stop.  The phases in
    sequence form a step schedule: nothing is forwarded before it is received.
    Units and errors as in `route_inverse_rate`.

    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> turns = [(0, 1), (1, 2), (2, 0), (0, 1, 2), (1, 2, 0), (2, 0, 1)]
    >>> routes = tuple(Route(path, 1) for path in turns)
    >>> once = RouteSchedule(Collective.ALL_TO_ALL, ring.digest, (0, 1, 2), 1, routes)
    >>> route_phases(once, ring)
    (Fraction(2, 1), Fraction(1, 1))
    """
    hops = RouteHops.from_schedule(schedule, topology)
    return tuple(_slowest(hops.loads(phased=True), hops, schedule, topology))


def _slowest(
    loads: NDArray[Any], hops: RouteHops, schedule: RouteSchedule, topology: Topology
) -> list[Fraction]:
    """Return the time of the busiest link of each row of loads."""
    if schedule.units_per_pair < 1:
        raise InvalidSchedule("/units_per_pair", "must be at least 1")
    capacity = [Fraction(0)] * len(hops.links.pairs)
    at = hops.links.find(topology.sources, topology.targets)
    for link, room in zip(at.tolist(), topology.capacities, strict=True):
        capacity[link] += room
    slowest = []
    for row in loads.tolist():
        rates = (Fraction(load) / room for load, room in zip(row, capacity, strict=True))
        slowest.append(max(rates, default=Fraction(0)) / schedule.units_per_pair)
    return slowest


def _problem(route: Route, ranks: set[NodeId], links: set[Hop]) -> str | None:
    """Return the first rule that a route breaks, or None."""
    path = route.path
    if route.weight < 1:
        return "the weight must be at least 1"
    if len(path) < 2 or path[0] not in ranks or path[-1] not in ranks:
        return "the path must lead from a rank to another"
    if len(set(path)) < len(path):
        return "the path must not pass a node twice"
    for hop in pairwise(path):
        if hop not in links:
            return f"no link joins {hop[0]!r} to {hop[1]!r}"
    return None
