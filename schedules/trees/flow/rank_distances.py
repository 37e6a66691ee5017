"""How far ranks are from each other, in hops: no tree is lower than the farthest is away."""

from collections import deque

import numpy as np

from topoloom.schedules.trees.flow.network import Network
from topoloom.synth.progress import tell


def least_height(network: Network) -> int:
    """Return how many hops the farthest rank is from a root; every rank is within reach.

    A hop leads from rank to rank, through any nodes that only forward.  O(ranks^3) in words
    of the machine for each hop.

    Examples
    --------
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
        tell("counting hops", 0, len(past))
        further = np.minimum(past @ past, 1)
        if (further == past).all():
            break
        past = further
    near = onward[is_rank][:, is_rank]
    near += onward[is_rank][:, ~is_rank] @ past @ onward[~is_rank][:, is_rank]
    near = np.minimum(near + np.eye(len(near), dtype=np.float32), 1)
    reached, hops = near[network.sizes[is_rank] > 0], 1
    while not reached.all():
        tell("counting hops", hops, len(near))
        reached, hops = np.minimum(reached @ near, 1), hops + 1
    return hops


def farthest(network: Network, root: int) -> int:
    """Return how many hops the farthest rank is from one root, as `least_height` counts them.

    O(arcs).

    Examples
    --------
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
            # To leave a rank is a hop, to pass a node that only forwards is none.
            away = hops[node] + is_rank[node]
            if away < hops.get(other, network.node_count):
                hops[other] = away
                (waiting.append if is_rank[node] else waiting.appendleft)(other)
    return max(hops[rank] for rank in network.terminals.tolist())
