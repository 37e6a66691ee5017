"""Every collective from an allgather: by reversal in time, and by composition."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from schedules.errors import NoSchedule
from schedules.model import (
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
from synth.topology import Topology

__all__ = ["ALGORITHMS", "ROUTING", "make", "reverse"]


def make(
    topology: Topology,
    collective: Collective | str,
    algorithm: str = "bfb",
    trees_per_root: int | None = None,
) -> Schedule:
    """Return a schedule for a collective on a topology.

    Parameters
    ----------
    topology : Topology
        Every compute node reaches every other.
    collective : Collective or str
        Reduce-scatter is the reversed allgather of the transpose; allreduce is that
        followed by an allgather.
    algorithm : str
        One of `ALGORITHMS`: ``"bfb"`` (fewest steps, no switches) or ``"forestcoll"``
        (highest throughput, any fabric); for all-to-all `ROUTING` only.
    trees_per_root : int, optional
        For forestcoll only: how many trees to cut each shard into.

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
    schedules.errors.UnknownCollective: /collective: must be one of ...
    >>> make(ring, "allgather", "magic")
    Traceback (most recent call last):
    ...
    schedules.errors.NoSchedule: /algorithm: must be one of bfb, forestcoll; not 'magic'
    """
    wanted = Collective.of(collective)
    if wanted is Collective.ALL_TO_ALL:
        return _all_to_all(topology, algorithm, trees_per_root)
    if algorithm not in ALGORITHMS:
        names = ", ".join(ALGORITHMS)
        raise NoSchedule("/algorithm", f"must be one of {names}; not {algorithm!r}")
    if trees_per_root is not None and trees_per_root < 1:
        raise NoSchedule("/trees_per_root", "must be at least 1")
    # Once here, so that no message speaks of the transpose.
    topology.require_connected()
    generate = ALGORITHMS[algorithm]
    if wanted is Collective.ALLGATHER:
        return generate(topology, trees_per_root)
    turned = topology.transpose()
    scatter = reverse(generate(turned, trees_per_root), topology)
    if wanted is Collective.REDUCE_SCATTER:
        return scatter
    # A topology that is its own transpose has the same allgather both ways.
    gather = reverse(scatter, turned) if turned == topology else generate(topology, trees_per_root)
    return SequenceSchedule(Collective.ALLREDUCE, topology.digest, (scatter, gather))


def reverse(
    schedule: StepSchedule | TreeSchedule, topology: Topology
) -> StepSchedule | TreeSchedule:
    """Turn an allgather on the transpose into a reduce-scatter, or back, by reversing time.

    Parameters
    ----------
    schedule : StepSchedule or TreeSchedule
        An allgather or reduce-scatter that runs on the transpose of ``topology``.
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
        The schedule runs on another topology, or is neither of the two collectives.

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
    if schedule.collective not in (Collective.ALLGATHER, Collective.REDUCE_SCATTER):
        raise NoSchedule("/collective", "only an allgather or a reduce-scatter can be reversed")
    if schedule.topology != topology.transpose().digest:
        raise NoSchedule("/topology", "must be the transpose of what the schedule runs on")
    gathers = schedule.collective is Collective.ALLGATHER
    collective = Collective.REDUCE_SCATTER if gathers else Collective.ALLGATHER
    if isinstance(schedule, TreeSchedule):
        trees = tuple(
            Tree(tree.root, tree.weight, tuple(edge[::-1] for edge in tree.edges))
            for tree in schedule.trees
        )
        return replace(schedule, collective=collective, topology=topology.digest, trees=trees)
    op = REDUCE if gathers else COPY
    steps = []
    for step in schedule.steps[::-1]:
        sends = step.copy()
        sends["source"], sends["target"] = step["target"], step["source"]
        sends["op"] = np.uint8(op)
        steps.append(sends)
    return replace(schedule, collective=collective, topology=topology.digest, steps=tuple(steps))


def _all_to_all(topology: Topology, algorithm: str, trees_per_root: int | None) -> RouteSchedule:
    from schedules import alltoall

    if algorithm != ROUTING:
        raise NoSchedule("/algorithm", f"must be {ROUTING} for all-to-all; not {algorithm!r}")
    if trees_per_root is not None:
        raise NoSchedule("/trees_per_root", "is for the algorithm forestcoll only")
    return alltoall.schedule(topology)


# A generator is imported when it is asked for: each brings kernels of its own.
def _bfb(topology: Topology, trees_per_root: int | None) -> StepSchedule:
    from schedules import bfb

    if trees_per_root is not None:
        raise NoSchedule("/trees_per_root", "is for the algorithm forestcoll only")
    return bfb.allgather(topology)


def _forestcoll(topology: Topology, trees_per_root: int | None) -> TreeSchedule:
    from schedules import forestcoll

    return forestcoll.allgather(topology, trees_per_root)


_Generator = Callable[[Topology, int | None], StepSchedule | TreeSchedule]

ROUTING = "mcf"
"""The algorithm for all-to-all: multi-commodity flow."""

ALGORITHMS: Mapping[str, _Generator] = MappingProxyType({"bfb": _bfb, "forestcoll": _forestcoll})
"""Generators of allgathers, by name: (topology, trees per root) to schedule."""
