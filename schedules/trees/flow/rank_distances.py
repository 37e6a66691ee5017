"""Distances between ranks in hops: lower bounds on the height of trees."""

from collections import deque

import numpy as np

from topoloom.schedules.trees.flow.network import Network
from topoloom.synth.progress import report_progress


def least_height(network: Network) -> int:
    """Return the largest distance from a root to a rank, in hops; every rank is reachable.

    A hop leads from rank to rank, through any forwarding nodes.  O(ranks^3 / word size) for each
    hop.

    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.synth.fabrics import fabric
    >>> least_height(network_of(fabric("dgx-1v"))), least_height(network_of(fabric("mi300x")))
    (2, 1)
    """
    is_rank = network.is_rank
    onward = np.zeros((network.node_count, network.node_count), np.float32)
    onward[network.tail, network.head] = 1
    past = onward[~is_rank][:, ~is_rank] + np.eye(int((~is_rank).sum()), dtype=np.float32)
    while True:
        report_progress("counting hops", 0, len(past))
        further = np.minimum(past @ past, 1)
        if (further == past).all():
            break
        past = further
    near = onward[is_rank][:, is_rank]
    near += onward[is_rank][:, ~is_rank] @ past @ onward[~is_rank][:, is_rank]
    near = np.minimum(near + np.eye(len(near), dtype=np.float32), 1)
    reached, hops = near[network.sizes[is_rank] > 0], 1
    while not reached.all():
        report_progress("counting hops", hops, len(near))
        reached, hops = np.minimum(reached @ near, 1), hops + 1
    return hops


def farthest(network: Network, root: int) -> int:
    """Return the largest distance from one root to a rank, in hops as in `least_height`.

    O(arcs).

    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.synth.fabrics import fabric
    >>> farthest(network_of(fabric("dgx-1v")), 0)
    2
    """
    ahead: list[list[int]] = [[] for _ in range(network.node_count)]
    for tail, head in zip(network.tail.tolist(), network.head.tolist(), strict=True):
        ahead[tail].append(head)
    is_rank = network.is_rank.tolist()
    hops = {root: 0}
    waiting = deque([root])
    while waiting:
        node = waiting.popleft()
        for other in ahead[node]:
            # An arc out of a rank starts a hop; an arc out of a forwarding node does not.
            away = hops[node] + is_rank[node]
            if away < hops.get(other, network.node_count):
                hops[other] = away
                (waiting.append if is_rank[node] else waiting.appendleft)(other)
    return max(hops[rank] for rank in network.terminals.tolist())
