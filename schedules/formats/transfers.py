"""From a schedule to transfers of chunks between ranks, in one order for all.

Chunk c of shard i is number i * C + c, where C is as small as the schedule allows.  Transfers
carry a stage: one needs only what those of earlier stages brought.  For steps the stage
is the step, for trees the depth of the edge, counted backwards where edges lead to the
root, for routes how many hops came before.

In an allreduce in one pass shard i is all that rank i contributes.  In an all-to-all a shard is
what one rank has for another: chunk c of what rank s has for rank t is number (s * N + t) * C + c.
"""

from itertools import pairwise
from math import gcd, lcm
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedules.errors import NotExportable
from schedules.hops import parts_of_routes
from schedules.model import (
    REDUCE,
    Collective,
    RouteSchedule,
    Schedule,
    StepSchedule,
    TreeSchedule,
    parts_of,
)
from synth.topology import NodeId

__all__ = [
    "MAX_CELLS",
    "Transfer",
    "chunks_per_shard",
    "least_messages",
    "require_plain",
    "transfers",
]

COLLECTIVES = (
    Collective.ALLGATHER,
    Collective.REDUCE_SCATTER,
    Collective.ALLREDUCE,
    Collective.ALL_TO_ALL,
)
MAX_CELLS = 1 << 27
MAX_HOPS = 1 << 20


class Transfer(NamedTuple):
    """``length`` chunks sent at one stage; the target adds them if ``reduce``.

    ``in_step`` tells whether the stage is a step, not a depth in trees that are pipelined.
    """

    stage: int
    source: int
    target: int
    chunk: int
    length: int
    reduce: bool
    in_step: bool


def transfers(
    schedule: Schedule, ranks: tuple[NodeId, ...], finer: int = 1
) -> tuple[int, list[Transfer]]:
    """Return the chunks of a shard and all that is sent, in one order for all GPUs.

    A transfer needs only what transfers of earlier stages brought; they are sorted by
    stage.  Chunks are ``finer`` times smaller than they must be.

    Raises
    ------
    NotExportable
        It is another collective than these are made for, or the chunks on all GPUs are
        too many to follow.
    """
    require_plain(schedule)
    chunks = chunks_per_shard(schedule) * finer
    cells = len(ranks) ** 2 * chunks
    if cells > MAX_CELLS:
        raise NotExportable(
            "/chunks_per_shard",
            f"at most {MAX_CELLS} chunks on all GPUs are followed; {cells} are needed",
        )
    if isinstance(schedule, RouteSchedule):
        return chunks, _crossed(schedule, chunks)
    found: list[Transfer] = []
    stage = 0
    for part in parts_of(schedule):
        made = _sent(part, ranks, chunks, _grain(part)[0], stage)
        found += made
        stage = 1 + max((transfer.stage for transfer in made), default=stage)
    found.sort()
    return chunks, found


def least_messages(schedule: Schedule, *, joined: bool) -> int:
    """Return how many messages carry a schedule's transfers at least, from its arrays alone.

    ``joined``: neighbouring chunks that go between the same two ranks in a step may be one
    message, and of trees nothing is known; else the number is exact.  O(S log S) for S sends, a
    hundred times faster than to make the transfers.

    >>> from schedules.model import Tree
    >>> trees = (Tree(0, 1, ((0, 1),)), Tree(1, 1, ((1, 0),)))
    >>> both = TreeSchedule(Collective.ALLGATHER, "sha256:0", (0, 1), 1, trees)
    >>> least_messages(both, joined=False)
    2
    """
    if isinstance(schedule, RouteSchedule):
        # Every rank hears from another at least; what goes the same way may be one message.
        return len(schedule.ranks) if joined else _hops(schedule)
    count = 0
    for part in parts_of(schedule):
        if isinstance(part, TreeSchedule):
            count += sum(len(tree.edges) for tree in part.trees) if not joined else 0
            continue
        for step in part.steps:
            count += _runs(step, part.chunks_per_shard) if joined else len(step)
    # The last message of a step and the first of the next may be one.
    steps = sum(len(part.steps) for part in parts_of(schedule) if isinstance(part, StepSchedule))
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

    >>> from schedules.model import Tree
    >>> trees = (Tree(0, 4, ((0, 1),)), Tree(1, 2, ((1, 0),)), Tree(1, 2, ((1, 0),)))
    >>> chunks_per_shard(TreeSchedule(Collective.ALLGATHER, "sha256:0", (0, 1), 4, trees))
    2
    """
    if isinstance(schedule, RouteSchedule):
        unit = schedule.units_per_pair
        return unit // gcd(unit, *(route.weight for route in schedule.routes))
    parts = parts_of(schedule)
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
    if isinstance(schedule, RouteSchedule):
        hops = _hops(schedule)
        if hops > MAX_HOPS:
            raise NotExportable(
                "/routes", f"at most {MAX_HOPS} hops are written as messages; {hops} are needed"
            )
        return
    parts = parts_of(schedule)
    if any(isinstance(part, TreeSchedule) and (part.shards or part.idle) for part in parts):
        raise NotExportable("/shards", "must be equal, and of all compute nodes, for this format")


def _hops(schedule: RouteSchedule) -> int:
    """Return how often a rank passes something to another; each at most one message."""
    ranks = set(schedule.ranks)
    return sum(sum(node in ranks for node in route.path) - 1 for route in schedule.routes)


def _crossed(schedule: RouteSchedule, chunks: int) -> list[Transfer]:
    """Return the hops of all routes, by how many came before on their route."""
    ranks, unit = len(schedule.ranks), schedule.units_per_pair
    found = []
    for stops, first, past in parts_of_routes(schedule):
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


def _sent(
    part: StepSchedule | TreeSchedule,
    ranks: tuple[NodeId, ...],
    chunks: int,
    total: int,
    stage: int,
) -> list[Transfer]:
    """Return what a part sends, in units of 1 / ``chunks`` of a shard."""
    if isinstance(part, StepSchedule):
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
    rank = {node: index for index, node in enumerate(ranks)}
    outward = part.collective is Collective.ALLGATHER
    served = dict.fromkeys(ranks, 0)
    found = []
    for tree in part.trees:
        chunk = rank[tree.root] * chunks + served[tree.root] * chunks // total
        served[tree.root] += tree.weight
        depth = {tree.root: 0}
        for edge in tree.edges:
            near, far = (edge[0], edge[-1]) if outward else (edge[-1], edge[0])
            depth[far] = depth[near] + 1
            when = depth[far] if outward else len(ranks) - depth[far]
            ends = rank[edge[0]], rank[edge[-1]]
            found.append(
                Transfer(
                    stage + when, *ends, chunk, tree.weight * chunks // total, not outward, False
                )
            )
    return found
