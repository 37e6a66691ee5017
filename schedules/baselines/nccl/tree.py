"""NCCL's tree: double binary trees between boxes, a chain within each, on several channels.

References
----------
NCCL, ``src/graph/trees.cc`` and ``src/graph/connect.cc``; Sanders, Speck and Traff, "Two-tree
algorithms for full bandwidth broadcast, reduction and scan", Parallel Computing 35(12), 2009.
"""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import pairwise

import networkx as nx

from topoloom.schedules.baselines.nccl.ring_channels import Residual
from topoloom.schedules.model.schedule import (
    Collective,
    Schedule,
    SequenceSchedule,
    Tree,
    TreeSchedule,
)
from topoloom.synth.topology.topology import NodeId, Topology

NAME = "nccl-tree"


def boxes(topology: Topology) -> tuple[tuple[NodeId, ...], ...]:
    """Return the ranks by box: a box is joined by links wider than the narrowest between ranks.

    >>> from topoloom.synth.fabrics import fabric
    >>> [len(boxes(fabric(name))) for name in ("dgx-a100-2", "dgx-h100-1", "dgx-1v")]
    [2, 1, 1]
    """
    widest = nx.Graph()
    widest.add_nodes_from(topology.nodes)
    capacity: defaultdict[tuple[NodeId, NodeId], Fraction] = defaultdict(Fraction)
    for link in topology.links:
        capacity[link.source, link.target] += Fraction(link.capacity)
    for (source, target), one in capacity.items():
        widest.add_edge(source, target, weight=min(one, capacity.get((target, source), one)))
    tree = nx.maximum_spanning_tree(widest)
    ranks = set(topology.compute_nodes)
    # Switches at the ends of the tree connect nothing.
    while ends := [node for node, degree in tree.degree if degree < 2 and node not in ranks]:
        tree.remove_nodes_from(ends)
    least = min((data["weight"] for *_, data in tree.edges(data=True)), default=0)
    narrow = [(a, b) for a, b, data in tree.edges(data=True) if data["weight"] == least]
    wide = tree.copy()
    wide.remove_edges_from(narrow)
    parts = [ranks & part for part in nx.connected_components(wide)]
    if any(not part for part in parts) and all(len(part) < 2 for part in parts):
        return (topology.compute_nodes,)
    groups = [part for part in parts if part]
    if all(len(part) == 1 for part in groups):
        return (topology.compute_nodes,)
    position = topology.position
    ordered = (tuple(sorted(part, key=position.__getitem__)) for part in groups)
    return tuple(sorted(ordered, key=lambda part: position[part[0]]))


def tree_schedule(topology: Topology, collective: Collective) -> Schedule | None:
    """Return an allreduce up and down double binary trees of the boxes, a channel for every rank.

    In channel k the head of every box is its k-th rank.  Heads communicate with other boxes; the
    other ranks of a box form a chain behind the head.  A single box has one channel.  Each channel
    has two trees, the second with boxes in reverse order.  None for other collectives, and where a
    head cannot reach a head of another box over switches or a link.
    another box over switches or a link.

    >>> from topoloom.schedules.verify import violations
    >>> from topoloom.synth.fabrics import fabric
    >>> two = fabric("dgx-a100-2")
    >>> violations(tree_schedule(two, Collective.ALLREDUCE), two)
    []
    """
    if collective is not Collective.ALLREDUCE:
        return None
    parts, left = boxes(topology), Residual(topology)
    heads = min(map(len, parts)) if len(parts) > 1 else 1
    trees = []
    for head in range(heads):
        for order in (parts, parts[::-1]):
            turned = [part[head:] + part[:head] for part in order]
            edges = _edges(turned, left)
            if edges is None:
                return None
            trees.append((turned[0][0], edges))
    roots = Counter(root for root, _ in trees)
    sizes = tuple(roots.get(rank, 0) for rank in topology.compute_nodes)
    passes = (Collective.REDUCE_SCATTER, Collective.ALLGATHER)
    made = tuple(
        TreeSchedule(
            one,
            topology.digest,
            topology.compute_nodes,
            1,
            tuple(Tree(root, 1, _turned(edges, left, one)) for root, edges in trees),
            sizes,
        )
        for one in passes
    )
    return SequenceSchedule(collective, topology.digest, made, together=True)


def _edges(turned: list[tuple[NodeId, ...]], left: Residual) -> list[tuple[NodeId, NodeId]] | None:
    """Return pairs of ranks, breadth first: heads as a binary heap, and chains behind them."""
    depth = {turned[0][0]: 0}
    pairs = []
    for at, part in enumerate(turned):
        if at:
            parent = turned[(at - 1) // 2][0]
            depth[part[0]] = depth[parent] + 1
            pairs.append((parent, part[0]))
        for near, far in pairwise(part):
            depth[far] = depth[near] + 1
            pairs.append((near, far))
    if any(far not in left.ways(near) or near not in left.ways(far) for near, far in pairs):
        return None
    return sorted(pairs, key=lambda pair: depth[pair[1]])


def _turned(
    pairs: list[tuple[NodeId, NodeId]], left: Residual, collective: Collective
) -> tuple[tuple[NodeId, ...], ...]:
    if collective.outward:
        return tuple(left.ways(near)[far] for near, far in pairs)
    return tuple(left.ways(far)[near] for near, far in pairs)
