"""NCCL's ring: every shard travels along the ring of every channel, a part of it on each."""

from math import lcm

from topoloom.schedules.baselines.nccl.ring_channels import rings
from topoloom.schedules.baselines.nccl.ring_packing import Ring
from topoloom.schedules.errors import NoSchedule, TooLarge
from topoloom.schedules.model.schedule import (
    Collective,
    Schedule,
    SequenceSchedule,
    Tree,
    TreeSchedule,
)
from topoloom.synth.topology.topology import Topology

NAME = "nccl-ring"

MAX_HOPS = 1 << 21
"""Maximum product of ranks, ranks and channels of a schedule.  256 GPUs of DGX A100 have a quarter,
which takes 7 s."""


def ring_schedule(topology: Topology, collective: Collective) -> Schedule:
    """Return a collective over the rings of `ring_channels.rings`.

    Parts of shards are proportional to the widths of the rings, so that all rings finish at once.

    Raises:
        NoSchedule: A broadcast, reduce or all-to-all; or no ring passes through all ranks.
        TooLarge: The hops of all rings exceed `MAX_HOPS`.

    >>> from topoloom.schedules.verify import violations
    >>> from topoloom.synth.fabrics import fabric
    >>> box = fabric("mi300x")
    >>> violations(ring_schedule(box, Collective.ALLREDUCE), box)
    []
    """
    found = rings(topology)
    if not found:
        raise NoSchedule("/topology", "needs a ring through all ranks")
    hops = len(topology.compute_nodes) ** 2 * len(found)
    if hops > MAX_HOPS:
        raise TooLarge("/topology", f"needs {hops} hops of rings; at most {MAX_HOPS}")
    gather = _passed(topology, found, Collective.ALLGATHER)
    scatter = _passed(topology, found, Collective.REDUCE_SCATTER)
    match collective:
        case Collective.ALLGATHER:
            return gather
        case Collective.REDUCE_SCATTER:
            return scatter
        case Collective.ALLREDUCE:
            return SequenceSchedule(collective, topology.digest, (scatter, gather))
    raise NoSchedule("/collective", "runs allgather, reduce-scatter and allreduce only")


def _passed(topology: Topology, found: tuple[Ring, ...], collective: Collective) -> TreeSchedule:
    whole = lcm(*(ring.width.denominator for ring in found))
    weights = [int(ring.width * whole) for ring in found]
    trees = []
    for ring, weight in zip(found, weights, strict=True):
        count = len(ring.order)
        for at, root in enumerate(ring.order):
            # Towards the root, the last hop comes first.
            steps = range(count - 1) if collective.outward else range(-1, -count, -1)
            edges = tuple(ring.paths[(at + step) % count] for step in steps)
            trees.append(Tree(root, weight, edges))
    return TreeSchedule(
        collective, topology.digest, topology.compute_nodes, sum(weights), tuple(trees)
    )
