"""The best topology between boxes of accelerators, for one collective over all accelerators.

Every candidate is composed with the boxes.  Its exact optimum by ForestColl and its hops give a
lower bound on the time of any trees on it, in lock step.  Schedules are made in the order of these
bounds, until the fastest schedule is at least as fast as the bound of every other candidate.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from topoloom.schedules.design.box_candidates import (
    BoxCandidate,
    BoxHosts,
    frontier_candidates,
    known_candidates,
)
from topoloom.schedules.errors import NoSchedule, ScheduleError, TooLarge, UnknownCollective
from topoloom.schedules.generate.make_and_verify import verified_schedule
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.model.verified_schedule import VerifiedSchedule
from topoloom.schedules.optimum.collective_optimum import collective_optimum
from topoloom.schedules.options import Options
from topoloom.schedules.simulate.closed_form import estimate, pipeline
from topoloom.schedules.trees.flow.network import network_of
from topoloom.schedules.trees.flow.rank_distances import least_height
from topoloom.schedules.workloads.tasks import Task
from topoloom.synth.boxes.cable_classes import CableCounts, box_number, cable_counts
from topoloom.synth.boxes.expression import nic_rate, part_topology, topology_of_boxes
from topoloom.synth.boxes.racks import Racks, racks_of
from topoloom.synth.errors import InvalidRecipe, OutOfDomain, SynthError
from topoloom.synth.limits import MAX_DEGREE, MAX_NODES
from topoloom.synth.progress import report_progress
from topoloom.synth.search.frontier import Frontier
from topoloom.synth.search.hosts import Hosts, frontier_of_hosts
from topoloom.synth.topology.rates import unit_bytes_per_second
from topoloom.synth.topology.topology import Topology

PASSES = {
    Collective.ALLGATHER: (Collective.ALLGATHER,),
    Collective.REDUCE_SCATTER: (Collective.REDUCE_SCATTER,),
    Collective.ALLREDUCE: (Collective.REDUCE_SCATTER, Collective.ALLGATHER),
}

MAX_SCHEDULED = 1024
"""Maximum accelerators of schedules: 1,024 take about 15 s on one core."""


@dataclass(frozen=True, slots=True)
class BoxRow:
    """A topology between boxes, composed and rated.

    ``algbw`` is the optimum of the collective, passes in sequence, in the unit of the box.
    ``hops`` is the largest distance between two accelerators, ``least_seconds`` a lower bound on
    the time of trees, passes in sequence.  ``racks`` are the boxes of each rack.  ``schedule`` and
    ``seconds`` are those of a verified schedule, if made.
    """

    candidate: BoxCandidate
    text: str
    topology: Topology
    algbw: Fraction
    hops: int
    least_seconds: float
    racks: Racks
    cables: CableCounts
    schedule: VerifiedSchedule | None = None
    seconds: float | None = None

    @property
    def rank(self) -> tuple[float, int, str]:
        """The order of rows: time, or its bound without a schedule; then the shorter text."""
        known = self.least_seconds if self.seconds is None else self.seconds
        return known, len(self.text), self.text


@dataclass(frozen=True, slots=True)
class MoreCables:
    """The best rate with more cables for each box; ``row`` is None, and ``reason`` why."""

    cables: int
    row: BoxRow | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class BoxDesign:
    """The answer: the best topology between boxes, all others, and the value of more cables.

    ``rows`` are all candidates, fastest first; the best is the first without switches.
    ``bound_seconds`` is a lower bound for any topology of these boxes without switches.
    """

    hosts: BoxHosts
    task: Task
    alpha_seconds: Fraction
    rows: tuple[BoxRow, ...]
    bound_seconds: float
    more: tuple[MoreCables, ...]
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def best(self) -> BoxRow:
        """The fastest topology without switches between boxes."""
        return next(row for row in self.rows if not row.candidate.switched)


def box_design(
    hosts: BoxHosts,
    task: Task,
    alpha_seconds: Fraction,
    *,
    frontier: Callable[[Hosts], Frontier] = frontier_of_hosts,
    max_scheduled: int = MAX_SCHEDULED,
    max_nodes: int = MAX_NODES,
) -> BoxDesign:
    """Return the best topology between boxes for a collective over all their accelerators.

    Args:
        hosts: The boxes and their cables.
        task: An allgather, a reduce-scatter or an allreduce; ``count`` is not used.
        alpha_seconds: Latency of a hop between accelerators, inside a box or along a cable.
        frontier: Source of the frontier of topologies between boxes.
        max_scheduled: With more accelerators no schedule is made, and rows are ordered by their
            bounds.
        max_nodes: Maximum nodes of all boxes.

    Raises:
        ImpossibleRequest: No topology of these boxes exists or is known.
        InvalidRecipe: The box is unknown, states no rates, or needs the rate of a cable.
        UnknownCollective: The collective is another.
        OutOfDomain, TooLarge: The result exceeds a limit.

    >>> found = box_design(BoxHosts("mi300x", 5, 4), Task(Collective.ALLGATHER, 10**9),
    ...                    Fraction(1, 10**5))
    >>> found.best.text, float(found.best.algbw), found.best.hops
    ('Boxes(mi300x, Complete(5))', 250.0, 3)
    """
    if task.collective not in PASSES:
        raise UnknownCollective("/collective", f"must be one of {', '.join(PASSES)}")
    box = _box(hosts)
    if (nodes := hosts.boxes * box.node_count) > max_nodes:
        raise TooLarge("/nodes", f"must give at most {max_nodes} nodes in all boxes, not {nodes}")
    points, steps = frontier_candidates(hosts, frontier)
    wanted = {one.between: one for one in [*known_candidates(hosts), *points]}
    rows, left = [], []
    for number, candidate in enumerate(wanted.values()):
        report_progress("rating topologies between boxes", number, len(wanted))
        try:
            rows.append(_row(hosts, candidate, task, alpha_seconds))
        except ScheduleError as error:
            left.append((candidate.between, error.rule))
    if not rows:
        raise NoSchedule("/box", left[0][1])
    rows.sort(key=lambda row: row.rank)
    rows = _scheduled(rows, task, alpha_seconds, max_scheduled)
    bound = _bound(hosts, rows, steps, task, alpha_seconds)
    accelerators = len(box.compute_nodes)
    more = tuple(
        _with_cables(hosts.with_cables(cables), task, alpha_seconds, frontier)
        for cables in dict.fromkeys((hosts.cables + 1, hosts.cables + accelerators))
    )
    return BoxDesign(hosts, task, alpha_seconds, tuple(rows), bound, more, tuple(left))


def _box(hosts: BoxHosts) -> Topology:
    """Return one box; raise InvalidRecipe unless its rates and those of its cables are known."""
    try:
        box = part_topology(hosts.box, hosts.graphs)
    except (InvalidRecipe, OutOfDomain) as error:
        raise type(error)("/box", error.rule) from None
    if box.bandwidth_unit == "link":
        rule = f"must state the rates of its links; {hosts.box} counts links"
        raise InvalidRecipe("/box", rule)
    if hosts.cable is None and nic_rate(hosts.box) is None:
        rule = f"must be given: the catalogue states no NIC of {hosts.box}"
        raise InvalidRecipe("/cable_bandwidth", rule)
    return box


def _row(hosts: BoxHosts, candidate: BoxCandidate, task: Task, alpha_seconds: Fraction) -> BoxRow:
    text = hosts.text(candidate.between)
    topology = topology_of_boxes(text, hosts.graphs)
    inverse = [_inverse(topology, which) for which in _distinct(topology, task.collective)]
    hops = least_height(network_of(topology))
    unit = unit_bytes_per_second(topology)
    alpha = float(alpha_seconds)
    least = sum(
        pipeline(hops, float(task.size_bytes * one / unit), alpha).seconds for one in inverse
    )
    racks = racks_of(part_topology(candidate.between), hosts.boxes_per_rack)
    cables = cable_counts(topology, racks)
    algbw = 1 / sum(inverse, Fraction(0))
    return BoxRow(candidate, text, topology, algbw, hops, least, racks, cables)


def _distinct(topology: Topology, collective: Collective) -> Sequence[Collective]:
    """Return the passes; an allgather for both where the topology equals its transpose."""
    passes = PASSES[collective]
    return (Collective.ALLGATHER,) * len(passes) if topology.is_bidirectional else passes


def _inverse(topology: Topology, collective: Collective) -> Fraction:
    return 1 / collective_optimum(topology, collective, Options()).algbw


def _scheduled(
    rows: list[BoxRow], task: Task, alpha_seconds: Fraction, max_scheduled: int
) -> list[BoxRow]:
    """Return the rows, with schedules on those that may be the fastest without switches."""
    fastest: float | None = None
    found = []
    for row in rows:
        ranks = len(row.topology.compute_nodes)
        may_win = fastest is None or row.least_seconds < fastest
        if row.candidate.switched or ranks > max_scheduled or not may_win:
            found.append(row)
            continue
        schedule = verified_schedule(row.topology, task.collective, "forestcoll", Options())
        seconds = estimate(
            schedule.schedule,
            row.topology,
            size_bytes=task.size_bytes,
            alpha_seconds=float(alpha_seconds),
            unit_bytes_per_second=float(unit_bytes_per_second(row.topology)),
        ).seconds
        fastest = seconds if fastest is None else min(fastest, seconds)
        found.append(replace(row, schedule=schedule, seconds=seconds))
    return sorted(found, key=lambda row: (row.seconds is None, *row.rank))


def _bound(
    hosts: BoxHosts, rows: Sequence[BoxRow], steps: int, task: Task, alpha_seconds: Fraction
) -> float:
    """Return a lower bound on the time for any topology of these boxes without switches.

    Every box receives the data of all others through its cables, and some pair of boxes is
    ``steps`` cables apart.
    """
    leaving = max(
        sum(
            Fraction(link.capacity)
            for link in row.topology.links
            if box_number(link.source) == 0 and box_number(link.target) != 0
        )
        for row in rows
    )
    unit = unit_bytes_per_second(rows[0].topology)
    others = Fraction(hosts.boxes - 1, hosts.boxes) * task.size_bytes
    one = steps * alpha_seconds + others / (leaving * unit)
    return float(len(PASSES[task.collective]) * one)


def _with_cables(
    hosts: BoxHosts, task: Task, alpha_seconds: Fraction, frontier: Callable[[Hosts], Frontier]
) -> MoreCables:
    """Return the best rate of the frontier with these cables; no schedule is made."""
    if hosts.cables > MAX_DEGREE:
        return MoreCables(hosts.cables, None, f"searches end at {MAX_DEGREE} cables of each box")
    try:
        points, _ = frontier_candidates(hosts, frontier)
        rows = [_row(hosts, point, task, alpha_seconds) for point in points]
    except (SynthError, ScheduleError) as error:
        return MoreCables(hosts.cables, None, error.rule)
    return MoreCables(hosts.cables, min(rows, key=lambda row: row.rank))
