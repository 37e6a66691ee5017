"""NCCL's algorithms for ranks that reach each other over switches alone: PAT, NVLS, CollNet.

References:
    Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter operations at scale", 2025
    (arXiv:2506.20252); NCCL, ``src/transport/nvls.cc`` and ``src/transport/coll_net.cc``.
"""

from collections.abc import Callable

from topoloom.schedules.baselines.nccl.rank_paths import RankPaths
from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import (
    Collective,
    Schedule,
    SequenceSchedule,
    Tree,
    TreeSchedule,
)
from topoloom.schedules.trees.multicast import without_repeated_sends
from topoloom.synth.topology.topology import NodeId, Topology

PAT = "nccl-pat"
NVLS = "nccl-nvls"

Pairs = list[tuple[NodeId, NodeId]]


def pat(topology: Topology, collective: Collective) -> Schedule:
    """Return an allgather or a reduce-scatter over binomial trees, one for every root.

    In the tree of r, the parent of rank r + o is r + o minus the largest power of two in o: at
    most ceil(log2 N) levels.  A rank sends to all its children at once, which favors the
    baseline.

    Raises:
        NoSchedule: Another collective; or some ranks do not reach each other over switches alone.

    >>> from topoloom.schedules.simulate import tree_depth
    >>> from topoloom.synth.fabrics import fabric
    >>> tree_depth(pat(fabric("gb200-nvl72"), Collective.ALLGATHER))
    6
    """
    if collective not in (Collective.ALLGATHER, Collective.REDUCE_SCATTER):
        raise NoSchedule("/collective", "runs allgather and reduce-scatter only")
    ranks = topology.compute_nodes

    def hung(at: int) -> Pairs:
        offsets = sorted(range(1, len(ranks)), key=int.bit_count)
        ends = ((offset - (1 << offset.bit_length() - 1), offset) for offset in offsets)
        return [(ranks[(at + a) % len(ranks)], ranks[(at + b) % len(ranks)]) for a, b in ends]

    return _spread(topology, collective, hung)


def nvls(topology: Topology, collective: Collective) -> Schedule:
    """Return a collective by switches that copy and reduce: every shard is sent to them once.

    The slices of an allreduce are pipelined.

    Raises:
        NoSchedule: A broadcast, reduce or all-to-all; no switch copies; or some ranks do not reach
            each other over switches alone.

    >>> from topoloom.schedules.verify import violations
    >>> from topoloom.synth.fabrics import fabric
    >>> box = fabric("gb200-nvl72-sharp")
    >>> violations(nvls(box, Collective.ALLREDUCE), box)
    []
    """
    if not topology.multicast:
        raise NoSchedule("/topology", "needs a switch that copies")
    ranks = topology.compute_nodes

    def star(at: int) -> Pairs:
        return [(ranks[at], other) for other in ranks if other != ranks[at]]

    if collective is not Collective.ALLREDUCE:
        return _spread(topology, collective, star)
    passes = (Collective.REDUCE_SCATTER, Collective.ALLGATHER)
    parts = tuple(_spread(topology, one, star) for one in passes)
    return SequenceSchedule(collective, topology.digest, parts, together=True)


def _spread(
    topology: Topology, collective: Collective, hung: Callable[[int], Pairs]
) -> TreeSchedule:
    """Return a tree for every root, from pairs of ranks in breadth-first order."""
    if collective not in (Collective.ALLGATHER, Collective.REDUCE_SCATTER):
        raise NoSchedule("/collective", "runs allgather, reduce-scatter and allreduce only")
    ranks, between = topology.compute_nodes, RankPaths(topology)
    if any(len(between.paths_from(rank)) < len(ranks) - 1 for rank in ranks):
        raise NoSchedule("/topology", "needs paths over switches alone between all ranks")
    trees = []
    for at, root in enumerate(ranks):
        edges = tuple(
            between.paths_from(near)[far] if collective.outward else between.paths_from(far)[near]
            for near, far in hung(at)
        )
        trees.append(Tree(root, 1, edges))
    schedule = TreeSchedule(collective, topology.digest, ranks, 1, tuple(trees))
    return without_repeated_sends(schedule, topology)
