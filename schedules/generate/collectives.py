"""Schedules of every collective from an allgather, by reversal and composition."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from topoloom.schedules.errors import NoSchedule, TookTooLong, TooLarge
from topoloom.schedules.model.schedule import (
    COPY,
    REDUCE,
    Collective,
    RouteSchedule,
    Schedule,
    SequenceSchedule,
    StepSchedule,
    TreeSchedule,
)
from topoloom.schedules.model.tree_table import tree_table
from topoloom.schedules.options import Options, require_no_options, require_root, require_supported
from topoloom.synth.naming.suggestions import one_of
from topoloom.synth.topology.topology import NodeId, Topology

_REVERSED = {
    Collective.ALLGATHER: Collective.REDUCE_SCATTER,
    Collective.REDUCE_SCATTER: Collective.ALLGATHER,
    Collective.BROADCAST: Collective.REDUCE,
    Collective.REDUCE: Collective.BROADCAST,
}


def make(
    topology: Topology,
    collective: Collective | str,
    algorithm: str = "bfb",
    trees_per_root: int | None = None,
    *,
    max_gap: Fraction | int | None = None,
    root: NodeId | None = None,
    shards: Mapping[NodeId, int] | None = None,
    participants: Collection[NodeId] | None = None,
    max_chunks: int | None = None,
    steps: int | None = None,
    max_height: int | None = None,
) -> Schedule:
    """Return a schedule for a collective on a topology.

    Args:
        topology: Strongly connected.
        collective: Reduce-scatter is the reversed allgather of the transpose.  Allreduce is a
            reduce-scatter followed by an allgather; forestcoll runs both at once where that is
            faster and trees, gap and shards are absent.  Reduce is the reversed broadcast of the
            transpose.
        algorithm: One of `ALGORITHMS`: ``"bfb"`` (fewest steps, no switches), ``"forestcoll"``
            (highest throughput, any fabric), ``"lifted"`` (at the cost of the theorems, for
            topologies that carry a recipe) or ``"slack"`` (the least bandwidth found within a
            number of steps, no switches).  One of `GATHERS` for an allreduce in one pass.  One of
            `ROUTINGS` for all-to-all.
        trees_per_root: For forestcoll only: number of trees per shard.
        max_gap: For forestcoll only, instead of ``trees_per_root``: the fewest trees that take at
            most 1 + max_gap times the time of any number of trees.
        root: For broadcast and reduce, which require forestcoll: where the data starts or ends.
        shards: For forestcoll only: relative sizes of the shards by compute node, integers from 0;
            absent nodes have size 0.  Default: equal shards.
        participants: For forestcoll only: the compute nodes with data.  All others only forward.
        max_chunks: For bfb and slack only: maximum chunks per shard; the number that loses least is
            chosen.
        steps: For slack only: maximum steps of one direction, at least the diameter.
        max_height: For forestcoll only: maximum height of the trees of a pass.

    Raises:
        UnknownCollective: No such collective.
        NoSchedule: No such algorithm, or the algorithm cannot serve this request.
        Unreachable, InvalidTopology: The topology is not strongly connected or has one compute node
            only.

    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> make(ring, "gossip")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.UnknownCollective: /collective: must be one of ...
    >>> make(ring, "allgather", "magic")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.NoSchedule: /algorithm: must be one of bfb, ...; not 'magic'
    """
    wanted = Collective.of(collective)
    options = Options(
        trees_per_root, max_gap, root, shards, participants, max_chunks, steps, max_height
    )
    if topology.shared and algorithm != "forestcoll":
        rule = f"has links that share a limit, which only forestcoll supports, not {algorithm}"
        raise NoSchedule("/topology", rule)
    if wanted is Collective.ALL_TO_ALL:
        return _all_to_all(topology, algorithm, options)
    if algorithm not in ALGORITHMS and algorithm not in GATHERS:
        raise NoSchedule("/algorithm", one_of(algorithm, [*ALGORITHMS, *GATHERS]))
    if trees_per_root is not None and trees_per_root < 1:
        raise NoSchedule("/trees_per_root", "must be at least 1")
    if wanted.has_root and algorithm != "forestcoll":
        raise NoSchedule("/algorithm", f"must be forestcoll to make a {wanted}")
    require_root(wanted, root, shards)
    require_supported(algorithm, options)
    # Check here, so that no message refers to the transpose.
    _require_paths(topology, wanted, options)
    if algorithm in GATHERS:
        return _in_one_pass(topology, wanted, algorithm, options)
    generate = ALGORITHMS[algorithm]
    if wanted.outward:
        return generate(topology, options)
    turned = topology.transpose()
    if wanted is Collective.ALLREDUCE and algorithm == "forestcoll":
        both = _passes_together(topology, options)
        if both is not None:
            parts = (reverse(both[0], topology), both[1])
            return SequenceSchedule(Collective.ALLREDUCE, topology.digest, parts, together=True)
    scatter = reverse(generate(turned, options), topology)
    if wanted is not Collective.ALLREDUCE:
        return scatter
    # A topology equal to its transpose has the same allgather in both directions.
    gather = reverse(scatter, turned) if turned == topology else generate(topology, options)
    return SequenceSchedule(Collective.ALLREDUCE, topology.digest, (scatter, gather))


def _passes_together(
    topology: Topology, options: Options
) -> tuple[TreeSchedule, TreeSchedule] | None:
    """Return two allgathers for an allreduce that runs both at once, or None."""
    from topoloom.schedules.trees.concurrent_passes import passes_together

    if options.requires_sequence:
        return None
    try:
        return passes_together(topology, options.participants)
    except (TooLarge, TookTooLong):
        return None


def _in_one_pass(
    topology: Topology, wanted: Collective, algorithm: str, options: Options
) -> StepSchedule:
    """Return the allgather as an allreduce in one pass: its shards are whole contributions."""
    if wanted is not Collective.ALLREDUCE:
        raise NoSchedule("/algorithm", f"{algorithm} makes an allreduce only, not {wanted}")
    gather = ALGORITHMS[GATHERS[algorithm]](topology, options)
    assert isinstance(gather, StepSchedule)
    return replace(gather, collective=Collective.ALLREDUCE)


def _require_paths(topology: Topology, wanted: Collective, options: Options) -> None:
    if options.root is None and options.shards is None and options.participants is None:
        topology.require_connected()
        return
    from topoloom.schedules.trees.flow.demand import demand_of, require_paths

    demand = demand_of(topology, options.shards, options.participants, options.root)
    for inward in (False, True):
        if wanted is Collective.ALLREDUCE or inward is not wanted.outward:
            require_paths(topology, demand, inward=inward)


def reverse(
    schedule: StepSchedule | TreeSchedule, topology: Topology
) -> StepSchedule | TreeSchedule:
    """Turn an allgather on the transpose into a reduce-scatter, or back, by time reversal.

    Likewise turn a broadcast into a reduce, or back.

    Args:
        schedule: An allgather, reduce-scatter, broadcast or reduce on the transpose of
            ``topology``.
        topology: Topology of the result.

    The sends that carry a chunk of an allgather form an out-tree from its owner, in order of
    time.  Reversed in time on the reversed links, they form an in-tree: each rank adds the
    received data to its own and sends the sum once.  The loads of links and steps, and thus the
    cost, are unchanged.

    Parallel links keep their index, since `Topology.transpose` keeps their order.  Trees keep the
    order of their edges, breadth-first from the root.  O(sends).

    Raises:
        NoSchedule: The schedule is for another topology or another collective.

    >>> ring = Topology(range(2), [(0, 1), (1, 0)])
    >>> from topoloom.schedules.model.schedule import Tree
    >>> trees = (Tree(0, 1, ((0, 1),)), Tree(1, 1, ((1, 0),)))
    >>> gather = TreeSchedule(Collective.ALLGATHER, ring.digest, (0, 1), 1, trees)
    >>> reverse(gather, ring).trees[0].edges
    ((1, 0),)
    >>> reverse(reverse(gather, ring), ring) == gather
    True
    """
    if schedule.collective not in _REVERSED or isinstance(schedule, SequenceSchedule):
        raise NoSchedule("/collective", f"an {schedule.collective} cannot be reversed")
    if schedule.topology != topology.transpose().digest:
        raise NoSchedule("/topology", "must be the transpose of the schedule's topology")
    collective = _REVERSED[schedule.collective]
    if isinstance(schedule, TreeSchedule):
        trees = tree_table(schedule.trees).reversed_edges()
        return replace(schedule, collective=collective, topology=topology.digest, trees=trees)
    op = COPY if collective.outward else REDUCE
    steps = []
    for step in schedule.steps[::-1]:
        sends = step.copy()
        sends["source"], sends["target"] = step["target"], step["source"]
        sends["op"] = np.uint8(op)
        steps.append(sends)
    return replace(schedule, collective=collective, topology=topology.digest, steps=tuple(steps))


def _all_to_all(topology: Topology, algorithm: str, options: Options) -> RouteSchedule:
    from topoloom.schedules.routes import all_to_all

    if algorithm not in ROUTINGS:
        names = " or ".join(ROUTINGS)
        raise NoSchedule("/algorithm", f"must be {names} for all-to-all; not {algorithm!r}")
    require_no_options(options)
    return all_to_all.schedule(topology, fewest_hops=algorithm != ROUTINGS[0])


# Generators are imported on use: each loads its own kernels.
def _bfb(topology: Topology, options: Options) -> StepSchedule:
    from topoloom.schedules.steps import bfb

    return bfb.allgather(topology, options.max_chunks)


def _forestcoll(topology: Topology, options: Options) -> TreeSchedule:
    from topoloom.schedules.trees import forestcoll
    from topoloom.schedules.trees.multicast import without_detours, without_repeated_sends

    count, members = options.trees_per_root, options.participants
    gap, height = options.max_gap, options.max_height
    if options.root is None:
        forest = forestcoll.allgather(
            topology,
            count,
            max_gap=gap,
            max_height=height,
            shards=options.shards,
            participants=members,
        )
    else:
        forest = forestcoll.broadcast(
            topology, options.root, count, max_gap=gap, max_height=height, participants=members
        )
    return without_detours(without_repeated_sends(forest, topology), topology)


def _lifted(topology: Topology, _: Options) -> StepSchedule:
    from topoloom.schedules.steps import lift

    return lift.allgather_on(topology)


def _slack(topology: Topology, options: Options) -> StepSchedule:
    from topoloom.schedules.steps import slack

    return slack.allgather(topology, options.steps, max_chunks=options.max_chunks)


_Generator = Callable[[Topology, Options], StepSchedule | TreeSchedule]

ROUTINGS = ("mcf", "shortest-paths")
"""Algorithms for all-to-all: multi-commodity flow, and equal shares of the fewest hops."""

ALGORITHMS: Mapping[str, _Generator] = MappingProxyType(
    {"bfb": _bfb, "forestcoll": _forestcoll, "lifted": _lifted, "slack": _slack}
)
"""Generators of allgathers and broadcasts, by name: (topology, options) to schedule."""

ONE_SHOT: Mapping[str, str] = MappingProxyType(
    {gathers: f"{gathers}-one-shot" for gathers in ("bfb", "slack", "lifted")}
)
"""Allreduces in one pass, by the name of their allgather."""

GATHERS: Mapping[str, str] = MappingProxyType({name: base for base, name in ONE_SHOT.items()})
"""Allgathers, by the name of the allreduce in one pass."""
