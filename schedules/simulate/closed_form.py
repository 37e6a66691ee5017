"""The time of a schedule in the alpha-beta model, in closed form.

A hop takes ``alpha_seconds`` plus the transmission time of its bytes on the busiest link.
``unit_bytes_per_second`` is the rate of one unit of capacity of the topology: 1e9 for capacities
in GB/s.  ``size_bytes`` is M: the output of an allgather, the input of a reduce-scatter, else
the buffer of every rank.  Costs are exact; only the final seconds are floats.
"""

from dataclasses import dataclass
from math import isqrt

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import (
    RouteSchedule,
    Schedule,
    SequenceSchedule,
    StepSchedule,
    TreeSchedule,
    tree_height,
)
from topoloom.schedules.verify import route_inverse_rate, route_phases, step_cost, tree_inverse_rate
from topoloom.synth.topology.rates import node_capacity
from topoloom.synth.topology.topology import Topology

MAX_PIPELINE_CHUNKS = 1 << 20


@dataclass(frozen=True, slots=True)
class Estimate:
    """Time of a schedule with ``rounds`` hops in sequence.

    ``pipeline_chunks`` is the number of pieces of each tree's data; 1 for schedules in steps, and
    the maximum over the parts of a sequence.
    """

    seconds: float
    rounds: int
    pipeline_chunks: int


def estimate(
    schedule: Schedule,
    topology: Topology,
    *,
    size_bytes: int,
    alpha_seconds: float,
    unit_bytes_per_second: float,
    pipeline_chunks: int | None = None,
) -> Estimate:
    """Return the time of a valid schedule.

    Steps take ``steps * alpha + bandwidth * M / B`` exactly.  Trees of depth h cut into P
    pieces take h + P - 1 rounds of ``alpha + T / P``, where T is the transmission time of all
    data on the busiest link.  This is the time of a lock-step pipeline, and an upper bound
    without synchronization.  For trees that run together h is the sum of the depths of both
    parts.  Routes are pipelined likewise, with their largest number of hops as h; with P = 1 the
    k-th hops of all routes take the time of their own busiest link.

    Args:
        pipeline_chunks: P for trees and routes, 1 to `MAX_PIPELINE_CHUNKS`; default: the best.

    Raises:
        InvalidSchedule: A send or edge uses a missing link.
        NoSchedule: A size, time, rate or number of chunks is out of its range.

    (h + P - 1)(alpha + T / P) is minimal at P * P = (h - 1) T / alpha and convex in P, so the
    best integer is a neighbor of that root.

    >>> from topoloom.schedules.model.schedule import Collective, Tree
    >>> pair = Topology(range(2), [(0, 1, 4), (1, 0, 4)], bandwidth_unit="GB/s")
    >>> trees = (Tree(0, 1, ((0, 1),)), Tree(1, 1, ((1, 0),)))
    >>> both = TreeSchedule(Collective.ALLGATHER, pair.digest, (0, 1), 1, trees)
    >>> estimate(both, pair, size_bytes=8_000, alpha_seconds=1e-6, unit_bytes_per_second=1e9)
    Estimate(seconds=2e-06, rounds=1, pipeline_chunks=1)
    """
    if size_bytes < 0 or alpha_seconds < 0:
        raise NoSchedule("/size_bytes", "size and latency must not be negative")
    if not unit_bytes_per_second > 0:
        raise NoSchedule("/unit_bytes_per_second", "must be positive")
    if pipeline_chunks is not None and not 1 <= pipeline_chunks <= MAX_PIPELINE_CHUNKS:
        raise NoSchedule("/pipeline_chunks", f"must lie in 1 to {MAX_PIPELINE_CHUNKS}")
    scale = size_bytes / unit_bytes_per_second
    if isinstance(schedule, SequenceSchedule) and schedule.together:
        return _together(schedule, topology, scale, alpha_seconds, pipeline_chunks)
    parts = schedule.parts if isinstance(schedule, SequenceSchedule) else (schedule,)
    estimates = [_part(part, topology, scale, alpha_seconds, pipeline_chunks) for part in parts]
    return Estimate(
        sum(one.seconds for one in estimates),
        sum(one.rounds for one in estimates),
        max((one.pipeline_chunks for one in estimates), default=1),
    )


def tree_depth(schedule: TreeSchedule) -> int:
    """Return h, the largest number of edges between a root and a rank.

    >>> from topoloom.schedules.model.schedule import Collective, Tree
    >>> chain = Tree(0, 1, ((0, 1), (1, "switch", 2)))
    >>> tree_depth(TreeSchedule(Collective.ALLGATHER, "sha256:0", (0, 1, 2), 1, (chain,)))
    2
    """
    return max(map(tree_height, schedule.trees), default=0)


def _part(
    schedule: StepSchedule | TreeSchedule | RouteSchedule,
    topology: Topology,
    scale: float,
    alpha_seconds: float,
    pipeline_chunks: int | None,
) -> Estimate:
    if isinstance(schedule, StepSchedule):
        return _steps(schedule, topology, scale, alpha_seconds)
    if isinstance(schedule, TreeSchedule):
        return _trees(schedule, topology, scale, alpha_seconds, pipeline_chunks)
    return _routes(schedule, topology, scale, alpha_seconds, pipeline_chunks)


def _steps(
    schedule: StepSchedule, topology: Topology, scale: float, alpha_seconds: float
) -> Estimate:
    cost = step_cost(schedule, topology)
    transfer = float(cost.bandwidth / node_capacity(topology)) * scale
    return Estimate(cost.steps * alpha_seconds + transfer, cost.steps, 1)


def _trees(
    schedule: TreeSchedule,
    topology: Topology,
    scale: float,
    alpha_seconds: float,
    pipeline_chunks: int | None,
) -> Estimate:
    rate = tree_inverse_rate(schedule, topology) / sum(schedule.sizes)
    return pipeline(tree_depth(schedule), float(rate) * scale, alpha_seconds, pipeline_chunks)


def _together(
    schedule: SequenceSchedule,
    topology: Topology,
    scale: float,
    alpha_seconds: float,
    pipeline_chunks: int | None,
) -> Estimate:
    trees = [part for part in schedule.parts if isinstance(part, TreeSchedule)]
    rate = tree_inverse_rate(schedule, topology) / sum(trees[0].sizes)
    depth = sum(map(tree_depth, trees))
    return pipeline(depth, float(rate) * scale, alpha_seconds, pipeline_chunks)


def _routes(
    schedule: RouteSchedule,
    topology: Topology,
    scale: float,
    alpha_seconds: float,
    pipeline_chunks: int | None,
) -> Estimate:
    """Return a pipeline as for trees, or the phases in sequence in one piece if that is faster."""
    share = scale / len(schedule.ranks)
    phases = route_phases(schedule, topology)
    whole = Estimate(len(phases) * alpha_seconds + float(sum(phases)) * share, len(phases), 1)
    if pipeline_chunks == 1:
        return whole
    transfer = float(route_inverse_rate(schedule, topology)) * share
    cut = pipeline(len(phases), transfer, alpha_seconds, pipeline_chunks)
    return cut if pipeline_chunks else min(whole, cut, key=lambda one: one.seconds)


def pipeline(
    depth: int, transfer: float, alpha_seconds: float, pipeline_chunks: int | None = None
) -> Estimate:
    """Return the time of trees of some depth, in the best or a given number of pieces.

    ``transfer`` is the transmission time in seconds of all data on the busiest link.

    >>> pipeline(3, 8.0, 1.0)
    Estimate(seconds=18.0, rounds=6, pipeline_chunks=4)
    """

    def seconds(chunks: int) -> float:
        return (depth + chunks - 1) * (alpha_seconds + transfer / chunks)

    chunks = pipeline_chunks or min(_candidates(depth, transfer, alpha_seconds), key=seconds)
    return Estimate(seconds(chunks), depth + chunks - 1, chunks)


def _candidates(depth: int, transfer: float, alpha_seconds: float) -> tuple[int, ...]:
    if depth <= 1:
        return (1,)
    ratio = (depth - 1) * transfer
    if alpha_seconds * MAX_PIPELINE_CHUNKS**2 <= ratio:
        return (MAX_PIPELINE_CHUNKS,)
    root = isqrt(int(ratio / alpha_seconds))
    return (max(1, root), min(root + 1, MAX_PIPELINE_CHUNKS))
