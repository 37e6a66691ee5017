"""Every collective from an allgather: by reversal in time, and by composition."""

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
    Tree,
    TreeSchedule,
)
from topoloom.schedules.options import Options, require_fitting, require_plain, require_root
from topoloom.synth.naming.suggestions import one_of
from topoloom.synth.topology.topology import NodeId, Topology

_REVERSED = {
    Collective.ALLGATHER: Collective.REDUCE_SCATTER,
    Collective.REDUCE_SCATTER: Collective.ALLGATHER,
    Collective.BROADCAST: Collective.REDUCE,
    Collective.REDUCE: Collective.BROADCAST,
}

__all__ = ["ALGORITHMS", "GATHERS", "ONE_SHOT", "ROUTINGS", "make", "reverse"]


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

    Parameters
    ----------
    topology : Topology
        Every compute node reaches every other.
    collective : Collective or str
        Reduce-scatter is the reversed allgather of the transpose; allreduce is that
        followed by an allgather, or by forestcoll both at once where that is faster and
        neither trees, gap nor shards are asked for.  Reduce is the reversed broadcast of the
        transpose.
    algorithm : str
        One of `ALGORITHMS`: ``"bfb"`` (fewest steps, no switches), ``"forestcoll"``
        (highest throughput, any fabric), ``"lifted"`` (at the cost the theorems state, for
        topologies named by their recipe) or ``"slack"`` (the least bandwidth found within some
        steps, no switches); one of `GATHERS` for an allreduce in one pass; for all-to-all
        `ROUTINGS` only.
    trees_per_root : int, optional
        For forestcoll only: how many trees to cut each shard into.
    max_gap : Fraction or int, optional
        For forestcoll only, instead: as few trees as take at most 1 + max_gap times as long
        as any number would.
    root : NodeId, optional
        Of a broadcast or reduce, which forestcoll only makes: where the data begins or ends.
    shards : mapping, optional
        For forestcoll only: relative sizes of the shards by compute node, integers from 0;
        nodes left out have size 0.  Equal shards without it.
    participants : collection, optional
        For forestcoll only: the compute nodes that take part.  All others forward only.
    max_chunks : int, optional
        For bfb and slack only: cut each shard into at most so many chunks, at the least loss.
    steps : int, optional
        For slack only: at most so many for one direction, from the diameter on.
    max_height : int, optional
        For forestcoll only: no tree of a pass is higher.

    Raises
    ------
    UnknownCollective
        No such collective.
    NoSchedule
        No such algorithm, or it cannot serve this request.
    Unreachable, InvalidTopology
        The topology is not strongly connected or has one compute node only.

    Examples
    --------
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
        rule = f"has links that share a limit, which only forestcoll knows, not {algorithm}"
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
    require_fitting(algorithm, options)
    # Once here, so that no message speaks of the transpose.
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
    # A topology that is its own transpose has the same allgather both ways.
    gather = reverse(scatter, turned) if turned == topology else generate(topology, options)
    return SequenceSchedule(Collective.ALLREDUCE, topology.digest, (scatter, gather))


def _passes_together(
    topology: Topology, options: Options
) -> tuple[TreeSchedule, TreeSchedule] | None:
    """Return two allgathers for an allreduce that runs both at once, or None."""
    from topoloom.schedules.trees.concurrent_passes import passes_together

    if options.of_passes_apart:
        return None
    try:
        return passes_together(topology, options.participants)
    except (TooLarge, TookTooLong):
        return None


def _in_one_pass(
    topology: Topology, wanted: Collective, algorithm: str, options: Options
) -> StepSchedule:
    """Return the allgather as an allreduce: its shards are whole contributions."""
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
    """Turn an allgather on the transpose into a reduce-scatter, or back, by reversing time.

    In the same way a broadcast is turned into a reduce, or back.

    Parameters
    ----------
    schedule : StepSchedule or TreeSchedule
        An allgather, reduce-scatter, broadcast or reduce on the transpose of ``topology``.
    topology : Topology
        What the result runs on.

    Notes
    -----
    In an allgather the sends that carry a chunk form an out-tree from its owner in
    order of time.  Run backwards over the turned links they form an in-tree, over
    which each rank adds what it received to its own and sends the sum once.  Every
    link carries as much in each step as before, so the cost is the same.

    The index of a parallel link is kept: `Topology.transpose` leaves parallel links
    in their order.  Trees keep the order of their edges, which is breadth-first from
    the root in both.  O(sends).

    Raises
    ------
    NoSchedule
        The schedule runs on another topology, or is none of these collectives.

    Examples
    --------
    >>> ring = Topology(range(2), [(0, 1), (1, 0)])
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
        raise NoSchedule("/topology", "must be the transpose of what the schedule runs on")
    collective = _REVERSED[schedule.collective]
    if isinstance(schedule, TreeSchedule):
        trees = tuple(
            Tree(tree.root, tree.weight, tuple(edge[::-1] for edge in tree.edges))
            for tree in schedule.trees
        )
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
    require_plain(options)
    return all_to_all.schedule(topology, fewest_hops=algorithm != ROUTINGS[0])


# A generator is imported when it is asked for: each brings kernels of its own.
def _bfb(topology: Topology, options: Options) -> StepSchedule:
    from topoloom.schedules.steps import bfb

    return bfb.allgather(topology, options.max_chunks)


def _forestcoll(topology: Topology, options: Options) -> TreeSchedule:
    from topoloom.schedules.trees import forestcoll
    from topoloom.schedules.trees.multicast import pruned

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
    return pruned(forest, topology)


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
"""Allreduces in one pass, by what gathers: every rank has all contributions and adds them up."""

GATHERS: Mapping[str, str] = MappingProxyType({name: base for base, name in ONE_SHOT.items()})
"""What gathers, by the allreduce in one pass."""
