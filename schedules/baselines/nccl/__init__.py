"""NCCL's algorithms on a given fabric, as schedules: rings, trees, PAT, NVLS and CollNet.

The verifier checks and the simulator times each like any other schedule.  Widths, channels and
boxes follow from the links alone.  Times favor NCCL: protocols, thread blocks and copies have no
cost.  The simulator does not model copies by switches: every round of NVLS lasts as long as its
busiest link needs, with loads as the verifier counts them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from topoloom.schedules.baselines.nccl import pat_nvls, ring, tree
from topoloom.schedules.errors import TooLarge
from topoloom.schedules.model.schedule import Collective, Schedule, TreeSchedule, schedule_parts
from topoloom.schedules.simulate import Lockstep, Network, simulate, tree_depth
from topoloom.schedules.verify import tree_inverse_rate
from topoloom.synth.topology.topology import Topology

__all__ = ["MAX_HOPS", "NCCL_ALGORITHMS", "NcclRun", "nccl_runs"]

MAX_HOPS = 1 << 20
"""Maximum product of ranks, ranks and channels of a schedule."""


@dataclass(frozen=True, slots=True)
class NcclRun:
    """A schedule of NCCL on a fabric, and its time for a size."""

    name: str
    schedule: Schedule
    seconds: Fraction
    chunks: int


NCCL_ALGORITHMS: dict[str, Callable[[Topology, Collective], Schedule | None]] = {
    ring.NAME: ring.ring_schedule,
    tree.NAME: tree.tree_schedule,
    pat_nvls.PAT: pat_nvls.pat,
    pat_nvls.NVLS: pat_nvls.nvls,
}
"""Algorithms by name: (topology, collective) to schedule, or None where they do not run."""


def nccl_runs(
    topology: Topology, collective: Collective, network: Network, size_bytes: int
) -> tuple[NcclRun, ...]:
    """Return NCCL's schedules on a fabric, the fastest first, with the best number of pieces.

    Raises
    ------
    TooLarge
        More than 1024 ranks: N^2 hops of a channel exceed `MAX_HOPS`.

    Examples
    --------
    >>> from topoloom.synth.fabrics import fabric
    >>> network = Network(Fraction(1, 10**6), 10**9)
    >>> for one in nccl_runs(fabric("dgx-a100-2"), Collective.ALLREDUCE, network, 2**30):
    ...     print(one.name, round(float(one.seconds) * 1e3, 2))
    nccl-tree 6.3
    nccl-ring 10.07
    """
    if len(topology.compute_nodes) ** 2 > MAX_HOPS:
        raise TooLarge("/topology", "must have at most 1024 ranks here")
    found = []
    for name, run in NCCL_ALGORITHMS.items():
        schedule = run(topology, collective)
        if schedule is None:
            continue
        if name == pat_nvls.NVLS:
            found.append(_copied(schedule, topology, network, size_bytes))
        else:
            timed = simulate(schedule, topology, network, size_bytes=size_bytes)
            found.append(NcclRun(name, schedule, timed.seconds, timed.chunks))
    return tuple(sorted(found, key=lambda one: (one.seconds, one.name)))


def _copied(schedule: Schedule, topology: Topology, network: Network, size_bytes: int) -> NcclRun:
    """Return trees through switches that copy, as a pipeline in which every round is full."""
    trees = [part for part in schedule_parts(schedule) if isinstance(part, TreeSchedule)]
    depth = sum(map(tree_depth, trees))
    share = Fraction(size_bytes, sum(trees[0].sizes)) / network.unit_bytes_per_second
    whole = tree_inverse_rate(schedule, topology) * share
    rounds = Lockstep(
        network.alpha_seconds,
        depth,
        tuple((whole,) * (depth - level) for level in range(depth)),
        network.overhead_seconds + network.chunk_seconds,
        tuple((len(trees),) * (depth - level) for level in range(depth)),
    )
    chunks = rounds.best_chunks()
    return NcclRun(pat_nvls.NVLS, schedule, rounds.seconds(chunks), chunks)
