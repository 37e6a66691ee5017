"""Utilization of each link by a schedule."""

from collections import defaultdict
from fractions import Fraction
from typing import TypeAlias

from topoloom.schedules.model.schedule import (
    RouteSchedule,
    Schedule,
    SequenceSchedule,
    StepSchedule,
    TreeSchedule,
    schedule_parts,
)
from topoloom.schedules.simulate.routes_as_chains import routes_as_chains
from topoloom.schedules.verify import step_cost, tree_inverse_rate, tree_loads
from topoloom.synth.topology.rates import node_capacity
from topoloom.synth.topology.topology import NodeId, Topology

Hop: TypeAlias = tuple[NodeId, NodeId]


def busy_shares(schedule: Schedule, topology: Topology) -> dict[Hop, Fraction]:
    """Return for every pair of joined nodes the share of the time in which data moves.

    The time is the transmission time without latencies: T_B for steps, where each step lasts
    as long as its busiest link needs; for trees, the time of the busiest link.  1 means that a
    link is never idle.  Parallel links count as one of their joint capacity.

    Raises:
        InvalidSchedule: A send or an edge uses a missing link.

    >>> from topoloom.schedules.model.schedule import Collective, Tree
    >>> square = Topology(range(3), [(0, 1, 2), (1, 2), (2, 0), (0, 2)])
    >>> chain = Tree(0, 1, ((0, 1), (1, 2)))
    >>> one_root = TreeSchedule(Collective.ALLGATHER, square.digest, (0, 1, 2), 1, (chain,))
    >>> busy_shares(one_root, square)[0, 1], busy_shares(one_root, square)[1, 2]
    (Fraction(1, 2), Fraction(1, 1))
    """
    if isinstance(schedule, RouteSchedule):
        schedule = routes_as_chains(schedule, topology.switches)
    parts = schedule_parts(schedule)
    capacity: dict[Hop, Fraction] = defaultdict(Fraction)
    for link in topology.links:
        capacity[link.source, link.target] += link.capacity
    busy: dict[Hop, Fraction] = dict.fromkeys(capacity, Fraction(0))
    total = Fraction(0)
    together = isinstance(schedule, SequenceSchedule) and schedule.together
    if together:
        total = tree_inverse_rate(schedule, topology)
    for part in parts:
        # Both in units of the time of a shard on a link of capacity 1.
        total += 0 if together else _duration(part, topology)
        for hop, shards in _shards(part, topology).items():
            busy[hop] += shards / capacity[hop]
    return {hop: time / total if total else time for hop, time in busy.items()}


def _duration(part: StepSchedule | TreeSchedule, topology: Topology) -> Fraction:
    if isinstance(part, TreeSchedule):
        return tree_inverse_rate(part, topology)
    return step_cost(part, topology).bandwidth / (part.shard_size * node_capacity(topology))


def _shards(part: StepSchedule | TreeSchedule, topology: Topology) -> dict[Hop, Fraction]:
    """Return the number of shards that cross each hop in total."""
    pieces: dict[Hop, int] = defaultdict(int)
    if isinstance(part, TreeSchedule):
        pieces = tree_loads(part, topology)
        whole = part.trees_per_root
    else:
        for step in part.steps:
            columns = (step[name].tolist() for name in ("source", "target", "count"))
            for source, target, count in zip(*columns, strict=True):
                pieces[part.ranks[source], part.ranks[target]] += count
        whole = part.chunks_per_shard
    return {hop: Fraction(count, whole) for hop, count in pieces.items()}
