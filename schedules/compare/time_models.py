"""Schedules as candidates: time as straight lines in the size, one per number of pieces.

Steps are one line.  Trees run in lock step, timed by the load of every link level by level.
Where switches copy, links share a limit or both passes of an allreduce run at once, every round
lasts as long as the busiest link needs for one piece of all data, as in
`schedules.simulate.closed_form`.  The model omits queueing behind switches.
"""

from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np

from topoloom.schedules.compare.crossover import Candidate, Line, tree_candidate
from topoloom.schedules.model.schedule import (
    RouteSchedule,
    Schedule,
    SequenceSchedule,
    StepSchedule,
    TreeSchedule,
    schedule_parts,
)
from topoloom.schedules.simulate import Lockstep, Network, lockstep, tree_depth
from topoloom.schedules.verify import route_inverse_rate, route_phases, step_cost, tree_inverse_rate
from topoloom.schedules.verify.costs import node_capacity
from topoloom.schedules.verify.sends import flat_sends, sends_off_links
from topoloom.synth.topology.topology import NodeId, Topology


def schedule_candidate(
    name: str, schedule: Schedule, topology: Topology, network: Network, largest_bytes: int
) -> Candidate:
    """Return a valid schedule as a candidate: its time by message size.

    Parameters
    ----------
    network : Network
        Latency, rate, and the costs of messages and chunks.
    largest_bytes : int
        Trees and routes are cut optimally for all sizes up to this one.

    Raises
    ------
    InvalidSchedule
        A send or edge uses a missing link.

    Notes
    -----
    Where messages cost time, times are upper bounds.  They are exact if one link has the most
    bytes and the most messages in every round.  O(size of the schedule + h^2 links) for trees of
    height h.

    Examples
    --------
    >>> from topoloom.schedules.generate.collectives import make
    >>> ring = Topology(range(4), [(i, (i + step) % 4) for i in range(4) for step in (1, 3)])
    >>> network = Network(Fraction(1), 1)
    >>> way = schedule_candidate("bfb", make(ring, "allgather", "bfb"), ring, network, 100)
    >>> way.seconds(0), way.seconds(16)
    (Fraction(2, 1), Fraction(8, 1))
    """
    if isinstance(schedule, RouteSchedule):
        return _routed(name, schedule, topology, network, largest_bytes)
    if isinstance(schedule, SequenceSchedule) and schedule.together:
        forests = [part for part in schedule.parts if isinstance(part, TreeSchedule)]
        rounds = _full_rounds(schedule, forests, topology, network)
        return tree_candidate(name, [rounds], largest_bytes)
    parts = schedule_parts(schedule)
    steps = [_line(part, topology, network) for part in parts if isinstance(part, StepSchedule)]
    trees = [_rounds(part, topology, network) for part in parts if isinstance(part, TreeSchedule)]
    if not trees:
        return Candidate(name, (_summed(steps),))
    piped = tree_candidate(name, trees, largest_bytes)
    return Candidate(name, tuple(_summed([line, *steps]) for line in piped.lines))


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


def _summed(lines: list[Line]) -> Line:
    return Line(
        sum((line.fixed_seconds for line in lines), Fraction(0)),
        sum((line.seconds_per_byte for line in lines), Fraction(0)),
        max(line.chunks for line in lines),
        sum(line.rounds for line in lines),
    )


def _line(part: StepSchedule, topology: Topology, network: Network) -> Line:
    cost = step_cost(part, topology)
    fixed = cost.steps * (network.alpha_seconds + network.overhead_seconds)
    if network.chunk_seconds:
        fixed += network.chunk_seconds * _most_chunks(part, topology)
    rate = node_capacity(topology) * Fraction(network.unit_bytes_per_second)
    return Line(fixed, cost.bandwidth / rate, rounds=cost.steps)


def _most_chunks(part: StepSchedule, topology: Topology) -> int:
    """Return the chunks of the busiest link of each step, summed over the steps."""
    sends, starts = flat_sends(part)
    _, _, links = sends_off_links(topology, sends)
    counts = sends["count"].astype(np.int64)
    total = 0
    for low, past in pairwise(np.asarray(starts).tolist()):
        if past > low:
            total += int(np.bincount(links[low:past], counts[low:past]).max())
    return total


def _rounds(part: TreeSchedule, topology: Topology, network: Network) -> Lockstep:
    if topology.multicast or topology.shared:
        return _full_rounds(part, [part], topology, network)
    return lockstep(part, topology, network, size_bytes=1)


def _full_rounds(
    schedule: SequenceSchedule | TreeSchedule,
    forests: list[TreeSchedule],
    topology: Topology,
    network: Network,
) -> Lockstep:
    """Return forests as one pipeline in which every round runs all levels at once."""
    whole = tree_inverse_rate(schedule, topology) / sum(forests[0].sizes)
    crossed: Counter[tuple[NodeId, NodeId]] = Counter()
    if network.overhead_seconds or network.chunk_seconds:
        edges = (edge for forest in forests for tree in forest.trees for edge in tree.edges)
        crossed.update(hop for edge in edges for hop in pairwise(edge))
    return _pipeline(sum(map(tree_depth, forests)), whole, crossed, network)


def _pipeline(
    depth: int, whole: Fraction, crossed: Counter[tuple[NodeId, NodeId]], network: Network
) -> Lockstep:
    """Return ``depth`` levels that each occupy a link for ``whole`` units of time per byte."""
    seconds = whole / network.unit_bytes_per_second
    most = max(crossed.values(), default=0)
    return Lockstep(
        network.alpha_seconds,
        depth,
        tuple((seconds,) * (depth - level) for level in range(depth)),
        network.overhead_seconds + network.chunk_seconds,
        tuple((most,) * (depth - level) for level in range(depth)),
    )


def _routed(
    name: str, schedule: RouteSchedule, topology: Topology, network: Network, largest_bytes: int
) -> Candidate:
    """Return routes as a pipeline, or hop by hop in one piece where that is faster."""
    ranks = len(schedule.ranks)
    phases = route_phases(schedule, topology)
    crossed: Counter[tuple[NodeId, NodeId]] = Counter()
    if network.overhead_seconds or network.chunk_seconds:
        crossed.update(hop for route in schedule.routes for hop in pairwise(route.path))
    whole = route_inverse_rate(schedule, topology) / ranks
    rounds = _pipeline(len(phases), whole, crossed, network)
    rate = ranks * Fraction(network.unit_bytes_per_second)
    once = Line(rounds.latency_seconds(1), sum(phases, Fraction(0)) / rate, rounds=len(phases))
    piped = tree_candidate(name, [rounds], largest_bytes)
    return Candidate(name, (once, *piped.lines))
