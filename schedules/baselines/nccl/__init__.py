"""NCCL's algorithms on a given fabric, as schedules: rings, trees, PAT, NVLS and CollNet.

The verifier checks and one judge (`schedules.simulate.Judge`) times each like any other schedule.
Widths, channels and boxes follow from the links alone.  Times favor NCCL: protocols, thread blocks
and copies have no cost.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from topoloom.schedules.baselines.nccl import pat_nvls, ring, tree
from topoloom.schedules.baselines.nccl.ring import MAX_HOPS
from topoloom.schedules.errors import NoSchedule, TooLarge
from topoloom.schedules.model.schedule import Collective, Schedule
from topoloom.schedules.simulate import Judge, JudgedBy, Network
from topoloom.synth.topology.topology import Topology

__all__ = ["MAX_HOPS", "NCCL_ALGORITHMS", "NcclRun", "NcclRuns", "nccl_runs"]


@dataclass(frozen=True, slots=True)
class NcclRun:
    """A schedule of NCCL on a fabric, its time for a size, and what judged the time."""

    name: str
    schedule: Schedule
    seconds: Fraction
    chunks: int
    judged_by: JudgedBy


@dataclass(frozen=True, slots=True)
class NcclRuns:
    """The runs on a fabric, the fastest first, and the errors of algorithms that do not run."""

    runs: tuple[NcclRun, ...]
    left_out: dict[str, NoSchedule | TooLarge]


NCCL_ALGORITHMS: dict[str, Callable[[Topology, Collective], Schedule]] = {
    ring.NAME: ring.ring_schedule,
    tree.NAME: tree.tree_schedule,
    pat_nvls.PAT: pat_nvls.pat,
    pat_nvls.NVLS: pat_nvls.nvls,
}
"""Algorithms by name: (topology, collective) to schedule; `NoSchedule` where they do not run."""


def nccl_runs(
    topology: Topology, collective: Collective, network: Network, size_bytes: int
) -> NcclRuns:
    """Return NCCL's schedules on a fabric, the fastest first, with the best number of pieces.

    Rings of more than `MAX_HOPS` hops are left out.

    Raises:
        TooLarge: N^2 hops of a channel exceed `MAX_HOPS`, or no other algorithm runs beside such
            rings.

    >>> from topoloom.synth.fabrics import fabric
    >>> network = Network(Fraction(1, 10**6), 10**9)
    >>> for one in nccl_runs(fabric("dgx-a100-2"), Collective.ALLREDUCE, network, 2**30).runs:
    ...     print(one.name, round(float(one.seconds) * 1e3, 2))
    nccl-tree 6.28
    nccl-ring 10.07
    """
    if len(topology.compute_nodes) ** 2 > MAX_HOPS:
        raise TooLarge("/topology", f"must have at most {isqrt(MAX_HOPS)} ranks here")
    found, left_out = list[NcclRun](), dict[str, NoSchedule | TooLarge]()
    for name, run in NCCL_ALGORITHMS.items():
        try:
            schedule = run(topology, collective)
        except (NoSchedule, TooLarge) as error:
            left_out[name] = error
            continue
        judge = Judge(schedule, topology, network)
        timed = judge.time(size_bytes)
        found.append(NcclRun(name, schedule, timed.seconds, timed.chunks, judge.judged_by))
    for error in left_out.values():
        if isinstance(error, TooLarge) and not found:
            raise error
    found.sort(key=lambda one: (one.seconds, one.name))
    return NcclRuns(tuple(found), left_out)
