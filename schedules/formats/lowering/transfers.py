"""Map a schedule to transfers of chunks between ranks, in one order for all.

Chunk c of shard i is number i * C + c, where C is as small as the schedule allows.  A transfer
depends only on transfers of earlier stages.  For steps the stage is the step; for trees the depth
of the edge, counted backwards if edges lead to the root; for routes the number of earlier hops.

If shards differ in size, C is the number of chunks of a unit of size, and the shard of rank i
begins at chunk ``shard_bounds(...)[i]``.  Compute nodes that take no part hold no shard but
forward chunks: each edge through such a node is several transfers, and its data there between
two transfers has its own number.

In an allreduce in one pass shard i is the whole contribution of rank i.  In an all-to-all a shard
is a block for one rank: chunk c of the block from rank s to rank t is (s * N + t) * C + c.
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

    ``in_step``: the stage is a step, not a depth in pipelined trees.  ``passed_from`` and
    ``passed_to`` are numbers of places of data at nodes that take no part; NOWHERE at all others.
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
    """Return the chunks of a shard and all transfers, in one order for all GPUs.

    A transfer depends only on transfers of earlier stages; transfers are sorted by stage.  Chunks
    are ``finer`` times smaller than necessary.

    Raises:
        NotExportable: The routes have too many hops, or all GPUs together too many chunks.
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
    """Return the bounds of the shard of each compute node, with ``chunks`` chunks per unit of size.

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
    """Return a lower bound on the messages of a schedule's transfers, from its arrays alone.

    ``joined``: neighboring chunks between the same two ranks in a step may share a message, and
    trees count as 0; else the number is exact.  O(S log S) for S sends, a hundred times faster
    than making the transfers.

    >>> from topoloom.schedules.model.schedule import Tree
    >>> trees = (Tree(0, 1, ((0, 1),)), Tree(1, 1, ((1, 0),)))
    >>> both = TreeSchedule(Collective.ALLGATHER, "sha256:0", (0, 1), 1, trees)
    >>> least_messages(both, joined=False)
    2
    """
    if isinstance(schedule, RouteSchedule):
        # Every rank receives at least one message; transfers between two ranks may share messages.
        return len(schedule.ranks) if joined else _hops(schedule)
    count = 0
    for part in schedule_parts(schedule):
        if isinstance(part, TreeSchedule):
            count += sum(len(tree.edges) for tree in part.trees) if not joined else 0
            continue
        for step in part.steps:
            count += _runs(step, part.chunks_per_shard) if joined else len(step)
    # The last message of a step and the first message of the next step may be joined.
    steps = sum(
        len(part.steps) for part in schedule_parts(schedule) if isinstance(part, StepSchedule)
    )
    return max(0, count - steps) if joined else count


def _runs(step: NDArray[Any], chunks: int) -> int:
    """Return the number of runs of neighboring chunks between two ranks in a step."""
    if not len(step):
        return 0
    first = step["shard"].astype(np.int64) * chunks + step["first"]
    order = np.lexsort((first, step["target"], step["source"]))
    source, target, first = step["source"][order], step["target"][order], first[order]
    after = first[:-1] + step["count"][order][:-1]
    goes_on = (source[1:] == source[:-1]) & (target[1:] == target[:-1]) & (first[1:] == after)
    return len(step) - int(goes_on.sum())


def chunks_per_shard(schedule: Schedule) -> int:
    """Return the least number of equal chunks per shard for this schedule.

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
    """Raise unless the schedule can be mapped to transfers.

    Raises:
        NotExportable: The collective is another, or shards are not equal among all compute nodes.
    """
    if schedule.collective not in COLLECTIVES:
        names = ", ".join(COLLECTIVES)
        raise NotExportable("/collective", f"must be one of {names} for this format")
    require_few_hops(schedule)
    parts = () if isinstance(schedule, RouteSchedule) else schedule_parts(schedule)
    if any(isinstance(part, TreeSchedule) and (part.shards or part.idle) for part in parts):
        raise NotExportable("/shards", "must be equal, and of all compute nodes, for this format")


def require_few_hops(schedule: Schedule) -> None:
    """Raise `NotExportable` if routes have more hops than can be written, or hosts are idle."""
    if isinstance(schedule, RouteSchedule) and schedule.idle:
        raise NotExportable("/ranks", "must be all compute nodes in an all-to-all of this format")
    hops = _hops(schedule) if isinstance(schedule, RouteSchedule) else 0
    if hops > MAX_HOPS:
        raise NotExportable(
            "/routes", f"at most {MAX_HOPS} hops are written as messages; {hops} are needed"
        )


def _hops(schedule: RouteSchedule) -> int:
    """Return the number of hops between ranks; each hop is at most one message."""
    ranks = set(schedule.ranks)
    return sum(sum(node in ranks for node in route.path) - 1 for route in schedule.routes)


def _crossed(schedule: RouteSchedule, chunks: int) -> list[Transfer]:
    """Return the hops of all routes, sorted by their position on the route."""
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
    """Return the chunks of a shard and the largest common unit of all sends."""
    if isinstance(part, TreeSchedule):
        total = part.trees_per_root
        return total, gcd(total, *(tree.weight for tree in part.trees))
    total = grain = part.chunks_per_shard
    for step in part.steps:
        for field in ("first", "count"):
            grain = gcd(grain, int(np.gcd.reduce(step[field], initial=0)))
    return total, grain


def _sent(part: StepSchedule, chunks: int, stage: int) -> list[Transfer]:
    """Return the transfers of steps, in units of 1 / ``chunks`` of a shard."""
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
    """Return the transfers of trees, in units of 1 / ``chunks`` of a unit of size."""
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
    """Yield for each edge the stage of its first hop, and the nodes on its path that hold data.

    These nodes are the ends of the edge and, between, the compute nodes that take no part.
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
