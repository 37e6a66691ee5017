"""All algorithms for a collective on a given fabric, compared by message size.

Candidates are step schedules (breadth-first broadcast, slack schedules of every number of steps,
lifted schedules, each also as an allreduce in one pass), trees (at the optimum, fewer trees, lower
trees), routes of an all-to-all, and NCCL's algorithms.  Every schedule is generated and verified.
One judge times all of them: the simulator (`schedules.simulate.Judge`), as in
`schedules.baselines.nccl.nccl_runs`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from topoloom.schedules.baselines.nccl import NCCL_ALGORITHMS, ring
from topoloom.schedules.compare.crossover import SIZES, FastestRange
from topoloom.schedules.compare.judged_ranges import judged_ranges
from topoloom.schedules.errors import NoSchedule, ScheduleError, TooLarge
from topoloom.schedules.generate.collectives import ONE_SHOT, ROUTINGS, make
from topoloom.schedules.model.schedule import (
    Collective,
    RouteSchedule,
    Schedule,
    SequenceSchedule,
    TreeSchedule,
    schedule_parts,
)
from topoloom.schedules.options import Options
from topoloom.schedules.simulate import Judge, Network
from topoloom.schedules.verify import (
    require_valid,
    route_inverse_rate,
    step_cost,
    tree_inverse_rate,
)
from topoloom.synth.errors import SynthError
from topoloom.synth.evaluation.measure import diameter
from topoloom.synth.progress import report_progress
from topoloom.synth.slack import MAX_SLACK
from topoloom.synth.topology.rates import node_capacity
from topoloom.synth.topology.topology import NodeId, Topology

MAX_RANKS = 1024
"""Maximum ranks to compare: every algorithm is generated as a whole schedule."""

DEEP_RANKS, MAX_DEPTH = 256, 64
"""Maximum ranks for rings, routes, and topologies whose diameter exceeds `MAX_DEPTH` hops: each
number of pieces below the depth of a tree is a candidate, and takes as many rounds."""

LOW_RANKS = 64
"""Maximum ranks for trees of every height, slack schedules of every number of steps, simulation.

On 256 ranks the simulations of three algorithms take 140 s, the bounds of full rounds under 1 s.
"""

GAPS = (Fraction(1, 100), Fraction(1, 20))
"""Gaps to the optimum within which fewer trees are tried."""

_Maker = Callable[[], Schedule]


@dataclass(frozen=True, slots=True)
class ComparedAlgorithm:
    """A schedule, and the judge of its time by message size.

    ``name`` is a value of `topoloom schedule --algorithm`, or a baseline's name.  ``hops`` is the
    number of latencies of an empty message; ``rate`` the bytes per second of large, finely cut
    messages.  ``trees_per_root`` is None except for trees.
    """

    name: str
    kind: Literal["steps", "trees", "routes"]
    hops: int
    rate: Fraction
    trees_per_root: int | None
    judge: Judge

    def seconds(self, size_bytes: int) -> Fraction:
        """Return the time for M bytes."""
        return self.judge.time(size_bytes).seconds


@dataclass(frozen=True, slots=True)
class ExcludedAlgorithm:
    """An algorithm that does not run on the topology or is not tried, and the reason."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class AlgorithmComparison:
    """All algorithms, the fastest per range of sizes, and the excluded algorithms."""

    ways: tuple[ComparedAlgorithm, ...]
    ranges: tuple[FastestRange, ...]
    left_out: tuple[ExcludedAlgorithm, ...]

    def fastest(self, size_bytes: int) -> ComparedAlgorithm:
        """Return the algorithm of least time for M bytes; ties go to the first."""
        return min(self.ways, key=lambda way: way.seconds(size_bytes))


def compare_algorithms(
    topology: Topology,
    collective: Collective,
    network: Network,
    *,
    root: NodeId | None = None,
    largest_bytes: int = SIZES[-1],
) -> AlgorithmComparison:
    """Return the distinct algorithms for a collective on a topology; of equals the first.

    Args:
        network: Latency, rate, and the costs of messages and chunks.
        root: Root of a broadcast or reduce.
        largest_bytes: Times are simulated for sizes from 1 up to this one.

    Raises:
        NoSchedule: No algorithm runs there, or ``root`` or ``largest_bytes`` is out of its domain.
        TooLarge: More than `MAX_RANKS` ranks, or more than `DEEP_RANKS` for an all-to-all or where
            the diameter exceeds `MAX_DEPTH`.
        Unreachable, InvalidTopology: The topology is not strongly connected or has only one compute
            node.

    Few steps win for small messages, pipelined trees for large ones:

    >>> ring = Topology(range(4), [(i, (i + step) % 4) for i in range(4) for step in (1, 3)])
    >>> found = compare_algorithms(ring, Collective.ALLREDUCE, Network(Fraction(1, 10**6), 10**9))
    >>> [(part.name, part.first_bytes) for part in found.ranges]
    [('bfb-one-shot', 1), ('bfb', 2667), ('forestcoll', 65536)]
    """
    _require_size(topology, collective)
    if largest_bytes < 1:
        raise NoSchedule("/bytes", "must be at least 1")
    sizes = sorted({1, largest_bytes, *(size for size in SIZES if size < largest_bytes)})
    found: dict[tuple[object, ...], ComparedAlgorithm] = {}
    left: list[ExcludedAlgorithm] = []
    wanted = list(_makers(topology, collective, root))
    fewest = False
    for number, (name, maker) in enumerate(wanted):
        report_progress("comparing schedules", number, len(wanted))
        if fewest and "--max-gap" in name:
            continue
        try:
            schedule = maker()
            require_valid(schedule, topology)
            fewest |= name == "forestcoll" and _has_fewest_trees(schedule)
            way = _way(name, schedule, topology, network)
            times = tuple(map(way.seconds, sizes))
        except (ScheduleError, SynthError) as wrong:
            # A forest serves every fabric: its error concerns the request itself.
            if name == "forestcoll":
                raise
            left.append(ExcludedAlgorithm(name, wrong.rule))
            continue
        found.setdefault((way.kind, way.hops, times), way)
    ways = tuple(found.values())
    if not ways:
        raise NoSchedule("/collective", f"nothing was found that runs a {collective} there")
    floors = [way.judge.floor for way in ways]
    names, seconds = [way.name for way in ways], [way.seconds for way in ways]
    ranges = judged_ranges(names, seconds, sizes, floors)
    return AlgorithmComparison(ways, ranges, tuple(left))


def _require_size(topology: Topology, collective: Collective) -> None:
    ranks = len(topology.compute_nodes)
    if ranks > MAX_RANKS:
        raise TooLarge("/topology", f"must have at most {MAX_RANKS} ranks to be compared")
    if ranks <= DEEP_RANKS:
        return
    if collective is Collective.ALL_TO_ALL:
        rule = f"must have at most {DEEP_RANKS} ranks to compare an all-to-all"
        raise TooLarge("/topology", rule)
    if not topology.switches and diameter(topology) > MAX_DEPTH:
        rule = f"must have at most {DEEP_RANKS} ranks, or a diameter of at most {MAX_DEPTH}"
        raise TooLarge("/topology", rule)


def _has_fewest_trees(schedule: Schedule) -> bool:
    """Return whether every root has one tree, so that a gap yields the same forest."""
    if isinstance(schedule, SequenceSchedule) and schedule.together:
        # With a gap the passes would run one after the other.
        return False
    parts = schedule_parts(schedule)
    return all(isinstance(part, TreeSchedule) and part.trees_per_root == 1 for part in parts)


def _way(name: str, schedule: Schedule, topology: Topology, network: Network) -> ComparedAlgorithm:
    in_rounds = len(topology.compute_nodes) > LOW_RANKS
    judge = Judge(schedule, topology, network, in_rounds=in_rounds)
    rate = large_message_rate(schedule, topology) * Fraction(network.unit_bytes_per_second)
    if isinstance(schedule, RouteSchedule):
        return ComparedAlgorithm(name, "routes", judge.hops, rate, None, judge)
    trees = [part for part in schedule_parts(schedule) if isinstance(part, TreeSchedule)]
    if not trees:
        return ComparedAlgorithm(name, "steps", judge.hops, rate, None, judge)
    count = max(part.trees_per_root for part in trees)
    return ComparedAlgorithm(name, "trees", judge.hops, rate, count, judge)


def _makers(
    topology: Topology, collective: Collective, root: NodeId | None
) -> Iterator[tuple[str, _Maker]]:
    """Yield the algorithms, simplest first: of equal algorithms the first is kept."""
    if collective is Collective.ALL_TO_ALL:
        for name in reversed(ROUTINGS):
            yield name, lambda name=name: make(topology, collective, name)
        return
    if not collective.has_root:
        yield from _in_steps(topology, collective)
    yield from _in_trees(topology, collective, root)
    if not collective.has_root:
        for name, run in NCCL_ALGORITHMS.items():
            yield name, lambda name=name, run=run: _of_nccl(name, run, topology, collective)


def _of_nccl(
    name: str,
    run: Callable[[Topology, Collective], Schedule],
    topology: Topology,
    collective: Collective,
) -> Schedule:
    if name == ring.NAME and len(topology.compute_nodes) > DEEP_RANKS:
        raise TooLarge("/topology", f"rings are compared up to {DEEP_RANKS} ranks")
    return run(topology, collective)


def _in_steps(topology: Topology, collective: Collective) -> Iterator[tuple[str, _Maker]]:
    once = collective is Collective.ALLREDUCE
    for name in ("bfb", "lifted"):
        for algorithm in (ONE_SHOT[name], name) if once else (name,):
            yield algorithm, lambda name=algorithm: make(topology, collective, name)
    if topology.switches or len(topology.compute_nodes) > LOW_RANKS:
        return
    least = max(diameter(topology), diameter(topology.transpose()))
    for steps in range(least, least + MAX_SLACK + 1):
        for algorithm in (ONE_SHOT["slack"], "slack") if once else ("slack",):
            yield (
                f"{algorithm} --steps {steps}",
                lambda name=algorithm, steps=steps: make(topology, collective, name, steps=steps),
            )


def _in_trees(
    topology: Topology, collective: Collective, root: NodeId | None
) -> Iterator[tuple[str, _Maker]]:
    def forest(**asked: int | Fraction) -> _Maker:
        return lambda: make(topology, collective, "forestcoll", root=root, **asked)  # pyright: ignore[reportArgumentType]

    yield "forestcoll", forest()
    for gap in GAPS:
        yield f"forestcoll --max-gap {gap}", forest(max_gap=gap)
    if len(topology.compute_nodes) > LOW_RANKS:
        return
    from topoloom.schedules.compare.height_tradeoff import useful_heights

    for height in useful_heights(topology, collective, Options(root=root)):
        yield f"forestcoll --max-height {height}", forest(max_height=height)


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
