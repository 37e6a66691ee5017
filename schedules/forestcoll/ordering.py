"""An order of the ranks by their place in the structure, whatever order they are listed in.

Boxes, racks of boxes and so on are *blocks* of the symmetry: sets of ranks that every automorphism
takes to themselves or off themselves.  Ranks are listed block by block, and every block as the
image of the first one, so that the digits of the number of a rank tell its place;
`symmetry.rotations` turns them.  Which automorphism takes the first block to another is a choice,
and not every choice makes the digits turn: whoever asks checks that.  Those that keep every switch
which joins several blocks are taken first: boxes are then listed alike, each GPU with those on
its own plane or rail.
"""

from dataclasses import replace
from heapq import heappop, heappush

import numpy as np
from numba import njit
from numpy.typing import NDArray

from schedules.forestcoll.automorphisms import generators, orbits
from schedules.forestcoll.network import Network

__all__ = ["in_order"]

Ints = NDArray[np.int64]


def in_order(network: Network) -> Network | None:
    """Return the network with its ranks listed block by block; None if they are not all alike.

    Notes
    -----
    Blocks are found as by Atkinson: two ranks in one block force the images of both under
    every generator into one.  They are grown from the first rank, one of each orbit under
    the automorphisms that keep it at a time, the smallest first.  O(generators * ranks) for each.

    References
    ----------
    .. [1] Atkinson, "An algorithm for finding the blocks of a permutation group",
       Mathematics of Computation 29, 1975.

    Examples
    --------
    >>> from schedules.forestcoll.network import network_of
    >>> from synth.topology import Topology
    >>> box = {"a": "v", "b": "w", "c": "v", "d": "w"}
    >>> links = [link for g, w in box.items() for link in ((g, w), (w, g))]
    >>> two = Topology([*"abcdvw"], [*links, ("v", "w"), ("w", "v")], switches="vw")
    >>> in_order(network_of(two)).terminals.tolist()
    [0, 2, 1, 3]
    """
    ranks = network.terminals
    is_rank = np.zeros(network.node_count, np.bool_)
    is_rank[ranks] = True
    colours = list(zip(is_rank.tolist(), network.sizes.tolist(), strict=True))
    images = _on_ranks(network, generators(network, colours))
    if not len(images) or orbits(len(ranks), images).any():
        return None
    fixed = [(colour, node == ranks[0]) for node, colour in enumerate(colours)]
    kept = orbits(len(ranks), _on_ranks(network, generators(network, fixed)))
    _, ahead = np.unique(kept, return_index=True)
    moves = np.stack(images)
    order = np.zeros(1, np.int64)
    while len(order) < len(ranks):
        grown = [_block(moves, np.append(order, other)) for other in ahead if other not in order]
        block = min(grown, key=len)
        # Single ranks, listed in any order, are alike.
        calm = _calm(network, colours, _joined(moves, order)) if len(order) > 1 else []
        listed = _listed(np.stack(calm), order, block) if calm else order
        order = listed if len(listed) == len(block) else _listed(moves, order, block)
    return replace(network, terminals=ranks[order])


def _calm(network: Network, colours: list[tuple[bool, int]], label: Ints) -> list[Ints]:
    """Return automorphisms, on the ranks, that keep each switch joined to several blocks.

    ``label`` numbers the block of every rank.
    """
    place = np.full(network.node_count, -1)
    place[network.terminals] = label
    joined: dict[int, set[int]] = {}
    for ends in ((network.tail, network.head), (network.head, network.tail)):
        for switch, rank in zip(*(side.tolist() for side in ends), strict=True):
            if place[switch] < 0 <= place[rank]:
                joined.setdefault(switch, set()).add(int(place[rank]))
    kept = [
        (colour, node if len(joined.get(node, ())) > 1 else -1)
        for node, colour in enumerate(colours)
    ]
    return _on_ranks(network, generators(network, kept))


def _on_ranks(network: Network, images: list[Ints]) -> list[Ints]:
    """Return what automorphisms do to the ranks, by their numbers; those that do something."""
    place = np.zeros(network.node_count, np.int64)
    place[network.terminals] = np.arange(len(network.terminals))
    moved = [place[image[network.terminals]] for image in images]
    return [image for image in moved if (image != np.arange(len(image))).any()]


def _block(moves: Ints, members: Ints) -> Ints:
    """Return the least block that holds the members."""
    label = _joined(moves, members)
    return np.flatnonzero(label == label[members[0]])


@njit(cache=True, nogil=True)
def _joined(moves, members):
    """Return the root of every rank in the finest system of blocks that joins the members."""
    count = moves.shape[1]
    above = np.arange(count)
    queue = np.empty((count, 2), np.int64)
    filled = 0
    for index in range(1, len(members)):
        one, other = _root(above, members[0]), _root(above, members[index])
        if one != other:
            above[other] = one
            queue[filled, 0], queue[filled, 1] = members[0], members[index]
            filled += 1
    done = 0
    while done < filled:
        for move in range(moves.shape[0]):
            one = _root(above, moves[move, queue[done, 0]])
            other = _root(above, moves[move, queue[done, 1]])
            if one != other:
                above[other] = one
                queue[filled, 0], queue[filled, 1] = one, other
                filled += 1
        done += 1
    for node in range(count):
        above[node] = _root(above, node)
    return above


@njit(cache=True, nogil=True)
def _root(above, node):
    while above[node] != node:
        above[node] = above[above[node]]
        node = above[node]
    return node


def _listed(moves: Ints, order: Ints, block: Ints) -> Ints:
    """Return the ranks of a block in images of a smaller one, each listed as that one is."""
    inside = set(block.tolist())
    # What moves little keeps the rest of the structure where it is: it is tried first.
    efforts = (moves != np.arange(moves.shape[1])).sum(axis=1).tolist()
    found: dict[int, Ints] = {}
    waiting, pushed = [(0, 0, order)], 1
    while waiting:
        spent, _, rows = heappop(waiting)
        if int(rows.min()) in found:
            continue
        found[int(rows.min())] = rows
        reached = moves[:, rows]
        for at, key in enumerate(reached.min(axis=1).tolist()):
            if key not in found:
                heappush(waiting, (spent + efforts[at], pushed, reached[at]))
                pushed += 1
    # Blocks are images of each other: all of a larger one are here.
    return np.concatenate([rows for rows in found.values() if int(rows[0]) in inside])
