"""Verification of the schedules of several groups that run at once."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from topoloom.schedules.errors import InvalidSchedule
from topoloom.schedules.model.schedule import (
    RouteSchedule,
    Schedule,
    TreeSchedule,
    schedule_parts,
)
from topoloom.schedules.verify import violations
from topoloom.schedules.verify.costs import busiest_time, tree_loads
from topoloom.schedules.verify.findings import Violation
from topoloom.synth.topology.topology import NodeId, Topology


def group_violations(schedules: Sequence[Schedule], topology: Topology) -> list[Violation]:
    """Return the violations of schedules of disjoint groups; an empty list means none.

    Each schedule is verified by itself, with the hosts of other groups as idle hosts.

    >>> from topoloom.schedules.model.schedule import Collective, Route
    >>> pairs = Topology("abcd", [(s, t) for s, t in ("ab", "ba", "cd", "dc")])
    >>> def swap(one, other, idle):
    ...     routes = (Route((one, other), 1), Route((other, one), 1))
    ...     ranks = (one, other)
    ...     return RouteSchedule(Collective.ALL_TO_ALL, pairs.digest, ranks, 1, routes, tuple(idle))
    >>> group_violations([swap("a", "b", "cd"), swap("c", "d", "ab")], pairs)
    []
    >>> print(group_violations([swap("a", "b", "cd"), swap("a", "b", "cd")], pairs)[0])
    /groups/1/ranks: must be hosts of no other group; 'a' is in two groups
    """
    found: list[Violation] = []
    seen = set[NodeId]()
    for number, schedule in enumerate(schedules):
        found += [
            replace(one, place=f"/groups/{number}{one.place}")
            for one in violations(schedule, topology)
        ]
        for rank in ranks_of(schedule):
            if rank in seen:
                rule = f"must be hosts of no other group; {rank!r} is in two groups"
                found.append(Violation(f"/groups/{number}/ranks", rule))
        seen.update(ranks_of(schedule))
    return found


def require_valid_groups(schedules: Sequence[Schedule], topology: Topology) -> None:
    """Raise `InvalidSchedule` with the first violation of `group_violations`."""
    for violation in group_violations(schedules, topology):
        raise InvalidSchedule(violation.place, violation.sentence)


def ranks_of(schedule: Schedule) -> tuple[NodeId, ...]:
    """Return the ranks of a schedule."""
    if isinstance(schedule, RouteSchedule):
        return schedule.ranks
    return schedule_parts(schedule)[0].ranks


def joint_time(sized: Sequence[tuple[Schedule, int]], topology: Topology) -> Fraction:
    """Return the time of schedules that run at once, each with a size in bytes.

    Trees and routes are pipelined, so the busiest link decides.  The passes of an allreduce also
    run at once.  Divide the time by the bytes per second of a unit of capacity.

    Raises:
        InvalidSchedule: A schedule consists of steps.
    """
    total: dict[tuple[NodeId, NodeId], Fraction] = defaultdict(Fraction)
    for schedule, size in sized:
        if isinstance(schedule, RouteSchedule):
            unit = Fraction(size, schedule.units_per_pair * len(schedule.ranks))
            for route in schedule.routes:
                for hop in pairwise(route.path):
                    total[hop] += route.weight * unit
            continue
        for part in schedule_parts(schedule):
            if not isinstance(part, TreeSchedule):
                raise InvalidSchedule("/kind", "must be trees or routes where groups run at once")
            unit = Fraction(size, part.trees_per_root * sum(part.sizes))
            for hop, load in tree_loads(part, topology).items():
                total[hop] += load * unit
    return busiest_time(total, topology)
