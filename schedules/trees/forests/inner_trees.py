"""Forests inside one box: trees that enter at each rank reach all ranks of the box.

The network of a box holds its nodes and the arcs between them.  Capacities count trees, and
``sizes`` are the numbers of trees that enter the box at each rank.
"""

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

import numpy as np

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import Tree
from topoloom.schedules.trees.flow.network import Network
from topoloom.schedules.trees.flow.optimality import Rate, best_rate
from topoloom.schedules.trees.forests.lowest_packing import lowest_packing
from topoloom.synth.kernels.reachability import reachable_mask


def one_hop_trees(box: Network) -> list[Tree] | None:
    """Return trees of height 1, or None: an edge to each rank, direct or over one switch.

    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.synth.fabrics import fabric
    >>> [tree.edges[0] for tree in one_hop_trees(network_of(fabric("mi300x")))][:2]
    [(0, 1), (1, 0)]
    """
    ends = zip(box.tail.tolist(), box.head.tolist(), strict=True)
    room = dict(zip(ends, box.capacity.tolist(), strict=True))
    onward = defaultdict(list)
    for near, far in room:
        onward[near].append(far)
    ranks = box.terminals.tolist()
    switches = set(range(box.node_count)) - set(ranks)

    def paths(root: int, rank: int) -> Iterator[tuple[int, ...]]:
        if (root, rank) in room:
            yield root, rank
        yield from (
            (root, switch, rank)
            for switch in onward[root]
            if switch in switches and (switch, rank) in room
        )

    trees = []
    for root in ranks:
        copies, edges = int(box.sizes[root]), []
        for rank in ranks if copies else ():
            if rank == root:
                continue
            for path in paths(root, rank):
                arcs = list(pairwise(path))
                if all(room[arc] >= copies for arc in arcs):
                    break
            else:
                return None
            for arc in arcs:
                room[arc] -= copies
            edges.append(path)
        if copies:
            trees.append(Tree(root, copies, tuple(edges)))
    return trees


def has_room(box: Network) -> bool:
    """Return whether trees exist: every set of nodes that misses a rank has capacity out.

    The capacity must be at least the number of trees that enter the set.
    """
    start = int(box.terminals[0])
    for tail, head in ((box.tail, box.head), (box.head, box.tail)):
        if not reachable_mask(box.node_count, tail, head, start)[box.terminals].all():
            return False
    return best_rate(box).inverse <= 1


def packed_trees(box: Network) -> list[Tree] | None:
    """Return packed trees of a box that has room; None if a switch had to copy."""
    rate = Rate(Fraction(1), 1, np.zeros(box.node_count, np.bool_))
    try:
        return list(lowest_packing(range(box.node_count), box, rate).trees())
    except NoSchedule:
        # Excess outflow of a switch is dropped in turn: some orders fail.
        return None
