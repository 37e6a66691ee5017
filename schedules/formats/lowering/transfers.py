"""From a schedule to transfers of chunks between ranks, in one order for all.

Chunk c of shard i is number i * C + c, where C is as small as the schedule allows.  Transfers
carry a stage: one needs only what those of earlier stages brought.  For steps the stage
is the step, for trees the depth of the edge, counted backwards where edges lead to the
root, for routes how many hops came before.

Shards may differ in size: then C are the chunks of a unit of it, and the shard of rank i begins at
chunk ``shard_bounds(...)[i]``.  Compute nodes that take no part hold no shard, but pass chunks on:
each edge through one of them is several transfers, and what lies there between two has a number
of its own.

In an allreduce in one pass shard i is all that rank i contributes.  In an all-to-all a shard is
what one rank has for another: chunk c of what rank s has for rank t is number (s * N + t) * C + c.
"""

from collections.abc import Iterator
from itertools import accumulate, count, pairwise
from math import gcd, lcm
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import NotExportable
from topoloom.schedules.model.route_parts import route_parts
from topoloom.schedules.model.schedule import (
    REDUCE,
    Collective,
    RouteSchedule,
    Schedule,
    StepSchedule,
    Tree,
    TreeSchedule,
    schedule_parts,
)
from topoloom.synth.topology.topology import NodeId

COLLECTIVES = (
    Collective.ALLGATHER,
    Collective.REDUCE_SCATTER,
    Collective.ALLREDUCE,
    Collective.ALL_TO_ALL,
)
MAX_CELLS = 1 << 27
MAX_HOPS = 1 << 20
NOWHERE = -1


class Transfer(NamedTuple):
    """``length`` chunks sent at one stage; the target adds them if ``reduce``.

    ``in_step`` tells whether the stage is a step, not a depth in trees that are pipelined.
    ``passed_from`` and ``passed_to`` are numbers of places where data lies on its way, at nodes
    that take no part; NOWHERE at those that do.
    """

    stage: int
    source: int
    target: int
    chunk: int
    length: int
    reduce: bool
    in_step: bool
    passed_from: int = NOWHERE
    passed_to: int = NOWHERE


def transfers(
    schedule: Schedule, ranks: tuple[NodeId, ...], finer: int = 1
) -> tuple[int, list[Transfer]]:
    """Return the chunks of a shard and all that is sent, in one order for all GPUs.

    A transfer needs only what transfers of earlier stages brought; they are sorted by
    stage.  Chunks are ``finer`` times smaller than they must be.

    Raises
    ------
    NotExportable
        The hops of routes, or the chunks on all GPUs, are too many to follow.
    """
    require_few_hops(schedule)
    chunks = chunks_per_shard(schedule) * finer
    bounds = shard_bounds(schedule, ranks, chunks)
    cells = len(ranks) * bounds[-1]
    if cells > MAX_CELLS:
        raise NotExportable(
            "/chunks_per_shard",
            f"at most {MAX_CELLS} chunks on all GPUs are followed; {cells} are needed",
        )
    if isinstance(schedule, RouteSchedule):
        return chunks, _crossed(schedule, chunks)
    found: list[Transfer] = []
    stage, places = 0, count()
    for part in schedule_parts(schedule):
        if isinstance(part, StepSchedule):
            made = _sent(part, chunks, stage)
        else:
            made = _spread(part, ranks, bounds, chunks, stage, places)
        found += made
        stage = 1 + max((transfer.stage for transfer in made), default=stage)
    found.sort()
    return chunks, found


def shard_bounds(schedule: Schedule, ranks: tuple[NodeId, ...], chunks: int) -> tuple[int, ...]:
    """Return where the shard of each compute node begins and ends, with so many chunks a unit.

    >>> from topoloom.schedules.model.schedule import Tree
    >>> trees = (Tree(0, 3, ((0, 2),)), Tree(2, 1, ((2, 0),)))
    >>> some = TreeSchedule(Collective.ALLGATHER, "", (0, 2), 1, trees, (3, 1), (1,))
    >>> shard_bounds(some, (0, 1, 2), 10)
    (0, 30, 30, 40)
    """
    sizes = dict.fromkeys(ranks, 1)
    first = None if isinstance(schedule, RouteSchedule) else schedule_parts(schedule)[0]
    if isinstance(first, TreeSchedule):
        sizes = dict.fromkeys(ranks, 0) | dict(zip(first.ranks, first.sizes, strict=True))
    return tuple(accumulate((chunks * size for size in sizes.values()), initial=0))


def least_messages(schedule: Schedule, *, joined: bool) -> int:
    """Return how many messages carry a schedule's transfers at least, from its arrays alone.

    ``joined``: neighbouring chunks that go between the same two ranks in a step may be one
    message, and of trees nothing is known; else the number is exact.  O(S log S) for S sends, a
    hundred times faster than to make the transfers.

    >>> from topoloom.schedules.model.schedule import Tree
    >>> trees = (Tree(0, 1, ((0, 1),)), Tree(1, 1, ((1, 0),)))
    >>> both = TreeSchedule(Collective.ALLGATHER, "sha256:0", (0, 1), 1, trees)
    >>> least_messages(both, joined=False)
    2
    """
    if isinstance(schedule, RouteSchedule):
        # Every rank hears from another at least; what goes the same way may be one message.
        return len(schedule.ranks) if joined else _hops(schedule)
    count = 0
    for part in schedule_parts(schedule):
        if isinstance(part, TreeSchedule):
            count += sum(len(tree.edges) for tree in part.trees) if not joined else 0
            continue
        for step in part.steps:
            count += _runs(step, part.chunks_per_shard) if joined else len(step)
    # The last message of a step and the first of the next may be one.
    steps = sum(
        len(part.steps) for part in schedule_parts(schedule) if isinstance(part, StepSchedule)
    )
    return max(0, count - steps) if joined else count


def _runs(step: NDArray[Any], chunks: int) -> int:
    """Return into how many runs of neighbouring chunks between two ranks a step falls."""
    if not len(step):
        return 0
    first = step["shard"].astype(np.int64) * chunks + step["first"]
    order = np.lexsort((first, step["target"], step["source"]))
    source, target, first = step["source"][order], step["target"][order], first[order]
    after = first[:-1] + step["count"][order][:-1]
    goes_on = (source[1:] == source[:-1]) & (target[1:] == target[:-1]) & (first[1:] == after)
    return len(step) - int(goes_on.sum())


def chunks_per_shard(schedule: Schedule) -> int:
    """Return into how few equal chunks a shard can be cut for this schedule.

    >>> from topoloom.schedules.model.schedule import Tree
    >>> trees = (Tree(0, 4, ((0, 1),)), Tree(1, 2, ((1, 0),)), Tree(1, 2, ((1, 0),)))
    >>> chunks_per_shard(TreeSchedule(Collective.ALLGATHER, "sha256:0", (0, 1), 4, trees))
    2
    """
    if isinstance(schedule, RouteSchedule):
        unit = schedule.units_per_pair
        return unit // gcd(unit, *(route.weight for route in schedule.routes))
    parts = schedule_parts(schedule)
    return lcm(*(total // grain for total, grain in map(_grain, parts)))


def require_plain(schedule: Schedule) -> None:
    """Raise unless transfers are made of such schedules.

    Raises
    ------
    NotExportable
        It is another collective, or not of equal shards among all compute nodes.
    """
    if schedule.collective not in COLLECTIVES:
        names = ", ".join(COLLECTIVES)
        raise NotExportable("/collective", f"must be one of {names} for this format")
    require_few_hops(schedule)
    parts = () if isinstance(schedule, RouteSchedule) else schedule_parts(schedule)
    if any(isinstance(part, TreeSchedule) and (part.shards or part.idle) for part in parts):
        raise NotExportable("/shards", "must be equal, and of all compute nodes, for this format")


def require_few_hops(schedule: Schedule) -> None:
    """Raise `NotExportable` if it is by routes of more hops than are written."""
    hops = _hops(schedule) if isinstance(schedule, RouteSchedule) else 0
    if hops > MAX_HOPS:
        raise NotExportable(
            "/routes", f"at most {MAX_HOPS} hops are written as messages; {hops} are needed"
        )


def _hops(schedule: RouteSchedule) -> int:
    """Return how often a rank passes something to another; each at most one message."""
    ranks = set(schedule.ranks)
    return sum(sum(node in ranks for node in route.path) - 1 for route in schedule.routes)


def _crossed(schedule: RouteSchedule, chunks: int) -> list[Transfer]:
    """Return the hops of all routes, by how many came before on their route."""
    ranks, unit = len(schedule.ranks), schedule.units_per_pair
    found = []
    for stops, first, past in route_parts(schedule):
        low, high = first * chunks // unit, past * chunks // unit
        chunk = (stops[0] * ranks + stops[-1]) * chunks + low
        found += [
            Transfer(stage, near, far, chunk, high - low, False, False)
            for stage, (near, far) in enumerate(pairwise(stops))
        ]
    return sorted(found)


def _grain(part: StepSchedule | TreeSchedule) -> tuple[int, int]:
    """Return the chunks of a shard and the largest unit that all sends are made of."""
    if isinstance(part, TreeSchedule):
        total = part.trees_per_root
        return total, gcd(total, *(tree.weight for tree in part.trees))
    total = grain = part.chunks_per_shard
    for step in part.steps:
        for field in ("first", "count"):
            grain = gcd(grain, int(np.gcd.reduce(step[field], initial=0)))
    return total, grain


def _sent(part: StepSchedule, chunks: int, stage: int) -> list[Transfer]:
    """Return what steps send, in units of 1 / ``chunks`` of a shard."""
    total = part.chunks_per_shard
    return [
        Transfer(
            stage + number,
            source,
            target,
            shard * chunks + first * chunks // total,
            count * chunks // total,
            op == REDUCE,
            True,
        )
        for number, step in enumerate(part.steps)
        for source, target, shard, first, count, _, op in step.tolist()
    ]


def _spread(
    part: TreeSchedule,
    ranks: tuple[NodeId, ...],
    bounds: tuple[int, ...],
    chunks: int,
    stage: int,
    places: Iterator[int],
) -> list[Transfer]:
    """Return what trees send, in units of 1 / ``chunks`` of a unit of size."""
    rank = {node: index for index, node in enumerate(ranks)}
    idle, total, outward = set(part.idle), part.trees_per_root, part.collective.outward
    served = dict.fromkeys(ranks, 0)
    found: list[Transfer] = []
    for tree in part.trees:
        chunk = bounds[rank[tree.root]] + served[tree.root] * chunks // total
        length = tree.weight * chunks // total
        served[tree.root] += tree.weight
        for when, stops in _along(tree, outward, idle, len(ranks)):
            here = NOWHERE
            for hop, (near, far) in enumerate(pairwise(stops)):
                last = hop + 2 == len(stops)
                there = NOWHERE if last else next(places)
                adds = last and not outward
                ends = rank[near], rank[far]
                found.append(
                    Transfer(stage + when + hop, *ends, chunk, length, adds, False, here, there)
                )
                here = there
    return found


def _along(
    tree: Tree, outward: bool, idle: set[NodeId], ranks: int
) -> Iterator[tuple[int, tuple[NodeId, ...]]]:
    """Yield for each edge the stage of its first hop, and the nodes where its data lies.

    Those are its ends and, between, nodes that take no part.
    """
    lies = [
        (edge[0], *(node for node in edge[1:-1] if node in idle), edge[-1]) for edge in tree.edges
    ]
    depth = {tree.root: 0}
    for stops in lies:
        near, far = (stops[0], stops[-1]) if outward else (stops[-1], stops[0])
        depth[far] = depth[near] + len(stops) - 1
    top = max(ranks, *depth.values()) if not outward else 0
    for stops in lies:
        yield 1 + depth[stops[0]] if outward else top - depth[stops[0]], stops
