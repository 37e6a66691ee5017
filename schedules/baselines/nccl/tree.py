"""NCCL's tree: double binary trees between boxes, a chain within each, on several channels.

References:
    NCCL, ``src/graph/trees.cc`` and ``src/graph/connect.cc``; Sanders, Speck and Traff, "Two-tree
    algorithms for full bandwidth broadcast, reduction and scan", Parallel Computing 35(12), 2009.
"""

from collections import Counter
from itertools import pairwise

import numpy as np

from topoloom.schedules.baselines.nccl.boxes import box_alone, boxes, nodes_inside
from topoloom.schedules.baselines.nccl.rank_paths import RankPaths
from topoloom.schedules.baselines.nccl.ring_packing import PricedLinks
from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import (
    Collective,
    Schedule,
    SequenceSchedule,
    Tree,
    TreeSchedule,
)
from topoloom.synth.topology.topology import NodeId, Topology

NAME = "nccl-tree"


def tree_schedule(topology: Topology, collective: Collective) -> Schedule:
    """Return an allreduce up and down double binary trees of the boxes, a channel for every rank.

    In channel k the head of every box is its k-th rank.  Heads communicate with other boxes; the
    other ranks of a box form a chain behind the head, along the widest and least loaded links of
    the box.  A single box has one channel.  Each channel has two trees, the second with boxes in
    reverse order.

    Raises:
        NoSchedule: Another collective; or two neighbors in a tree or chain do not reach each other
            by a link or over switches.

    >>> from topoloom.schedules.verify import violations
    >>> from topoloom.synth.fabrics import fabric
    >>> two = fabric("dgx-a100-2")
    >>> violations(tree_schedule(two, Collective.ALLREDUCE), two)
    []
    """
    if collective is not Collective.ALLREDUCE:
        raise NoSchedule("/collective", "runs allreduce only")
    between, trees = RankPaths(topology), []
    for chains in _chains(topology):
        orders = (chains, chains[::-1])
        trees.extend((order[0][0], _edges(order, between)) for order in orders)
    roots = Counter(root for root, _ in trees)
    sizes = tuple(roots.get(rank, 0) for rank in topology.compute_nodes)
    passes = (Collective.REDUCE_SCATTER, Collective.ALLGATHER)
    made = tuple(
        TreeSchedule(
            one,
            topology.digest,
            topology.compute_nodes,
            1,
            tuple(Tree(root, 1, _turned(edges, between, one)) for root, edges in trees),
            sizes,
        )
        for one in passes
    )
    return SequenceSchedule(collective, topology.digest, made, together=True)


def _chains(topology: Topology) -> list[list[tuple[NodeId, ...]]]:
    """Return for every channel the chains of all boxes, each from the head of the box."""
    parts = boxes(topology)
    heads = min(map(len, parts)) if len(parts) > 1 else 1
    alone = box_alone(topology)
    different = parts if alone is None else parts[:1]
    by_box = [_chains_of_box(topology, part, heads) for part in different]
    if alone is not None:
        by_box = [
            [tuple(map(copy.__getitem__, chain)) for chain in by_box[0]] for copy in alone.copies
        ]
    return [[chains[head] for chains in by_box] for head in range(heads)]


def _chains_of_box(
    topology: Topology, box: tuple[NodeId, ...], heads: int
) -> list[tuple[NodeId, ...]]:
    """Return the ranks of a box in chains from its first ranks; as listed if no chain is found."""
    inside = nodes_inside(topology, box)
    kept = set(inside)
    own = [link for link in topology.links if {link.source, link.target} <= kept]
    if len(box) < 2 or not own:
        return [box[head:] + box[:head] for head in range(heads)]
    links = PricedLinks(Topology(inside, own, switches=kept & set(topology.switches)))
    load = np.ones(len(links.hops))
    chains: list[tuple[NodeId, ...]] = []
    for head in range(heads):
        tour = links.cheapest_tour(load / links.capacity, head)
        if tour is None:
            chains.append(box[head:] + box[:head])
            continue
        chains.append((box[head], *(links.hops[hops[-1]][1] for hops in tour)))
        np.add.at(load, np.concatenate(tour), 1)
    return chains


def _edges(chains: list[tuple[NodeId, ...]], between: RankPaths) -> list[tuple[NodeId, NodeId]]:
    """Return pairs of ranks, breadth first: heads as a binary heap, and chains behind them."""
    depth = {chains[0][0]: 0}
    pairs = []
    for at, part in enumerate(chains):
        if at:
            parent = chains[(at - 1) // 2][0]
            depth[part[0]] = depth[parent] + 1
            pairs.append((parent, part[0]))
        for near, far in pairwise(part):
            depth[far] = depth[near] + 1
            pairs.append((near, far))
    if any(
        far not in between.paths_from(near) or near not in between.paths_from(far)
        for near, far in pairs
    ):
        raise NoSchedule("/topology", "needs links, or paths over switches, along its trees")
    return sorted(pairs, key=lambda pair: depth[pair[1]])


def _turned(
    pairs: list[tuple[NodeId, NodeId]], between: RankPaths, collective: Collective
) -> tuple[tuple[NodeId, ...], ...]:
    if collective.outward:
        return tuple(between.paths_from(near)[far] for near, far in pairs)
    return tuple(between.paths_from(far)[near] for near, far in pairs)
