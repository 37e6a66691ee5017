"""The rate of a schedule for large, finely cut messages."""

from fractions import Fraction

from topoloom.schedules.model.schedule import (
    RouteSchedule,
    Schedule,
    TreeSchedule,
    schedule_parts,
)
from topoloom.schedules.verify import route_inverse_rate, step_cost, tree_inverse_rate
from topoloom.synth.topology.rates import node_capacity
from topoloom.synth.topology.topology import Topology


def large_message_rate(schedule: Schedule, topology: Topology) -> Fraction:
    """Return the rate for large, finely cut messages, in the topology's unit.

    >>> from topoloom.schedules.generate.collectives import make
    >>> pair = Topology(range(2), [(0, 1), (1, 0)])
    >>> schedules = [make(pair, "allreduce", name) for name in ("bfb", "forestcoll")]
    >>> [str(large_message_rate(schedule, pair)) for schedule in schedules]
    ['1', '1']
    """
    if isinstance(schedule, RouteSchedule):
        return len(schedule.ranks) / route_inverse_rate(schedule, topology)
    parts = schedule_parts(schedule)
    trees = [part for part in parts if isinstance(part, TreeSchedule)]
    if trees:
        return sum(trees[0].sizes) / tree_inverse_rate(schedule, topology)
    return node_capacity(topology) / step_cost(schedule, topology).bandwidth
