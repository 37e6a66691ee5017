"""An order of the ranks by their place in the structure, whatever order they are listed in.

Boxes, racks of boxes and so on are *blocks* of the symmetry: sets of ranks that every automorphism
takes to themselves or off themselves.  Ranks are listed block by block, and every block as the
image of the first one, so that the digits of the number of a rank tell its place;
`symmetry.rotations` turns them.  Which automorphism takes the first block to another is a choice,
and not every choice makes the digits turn: whoever asks checks that.  Those that keep every switch
which joins several blocks are taken first: boxes are then listed alike, each GPU with those on
its own plane or rail.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from heapq import heappop, heappush
from itertools import chain

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.schedules.trees.flow.network import Network
from topoloom.schedules.trees.symmetry.automorphisms import generators, orbits

Ints = NDArray[np.int64]

MIXED = 24
"""So many random products stand for all generators of a group."""


def in_order(network: Network) -> Network | None:
    """Return the network with its ranks listed block by block; None where that is not found.

    Ranks of several kinds are listed by the smallest blocks that have one of each.

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
    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.synth.topology.topology import Topology
    >>> box = {"a": "v", "b": "w", "c": "v", "d": "w"}
    >>> links = [link for g, w in box.items() for link in ((g, w), (w, g))]
    >>> two = Topology([*"abcdvw"], [*links, ("v", "w"), ("w", "v")], switches="vw")
    >>> in_order(network_of(two)).terminals.tolist()
    [0, 2, 1, 3]
    """
    ranks = network.terminals
    colours = network.kinds
    images = generators(network, colours)
    on_ranks = _on_ranks(network, images)
    if not len(on_ranks):
        return None
    moves, mixed = np.stack(on_ranks), np.stack(_mixed(on_ranks))
    kind, kept = orbits(len(ranks), on_ranks), _kept_orbits(moves, mixed)
    order = _one_of_each(kind, kept)
    if len(_block(moves, order)) != len(order):
        return None
    ahead = [other for other in np.unique(kept, return_index=True)[1] if kind[other] == kind[0]]
    while len(order) < len(ranks):
        grown = [_block(mixed, np.append(order, other)) for other in ahead if other not in order]
        block = min(grown, key=len)
        if not _is_kept(moves, _joined(mixed, block)):
            block = _block(moves, block)
        calm = _calm(network, colours, images, _joined(mixed, order), block)
        tried = (np.stack(some) for some in calm)
        # Single ranks, listed in any order, are alike.
        listed = order
        for some in chain(tried if len(order) > 1 else (), (moves,)):
            listed = _listed(some, order, block)
            if len(listed) == len(block):
                break
        order = listed
    return replace(network, terminals=ranks[order])


def _mixed(moves: list[Ints]) -> list[Ints]:
    """Return random products of permutations, few of which do what all together can.

    What blocks and orbits these have need not be all of the group's, which costs speed only.
    """
    if len(moves) <= MIXED:
        return moves
    rng = np.random.default_rng(0)
    found = []
    for _ in range(MIXED):
        product = np.arange(len(moves[0]))
        for place in rng.permutation(len(moves))[: (len(moves) + 1) // 2].tolist():
            product = moves[place][product]
        found.append(product)
    return found


def _kept_orbits(moves: Ints, mixed: Ints) -> Ints:
    """Return orbits of the ranks under automorphisms that keep the first: these, or parts of them.

    By Schreier's lemma: an automorphism, followed by one that takes the image of the first rank
    back along a tree of moves, keeps it.
    """
    count = moves.shape[1]
    came: dict[int, tuple[int, int]] = {0: (0, 0)}
    queue = [0]
    for rank in queue:
        goals = moves[:, rank]
        for goal, move in zip(*np.unique(goals, return_index=True), strict=True):
            if int(goal) not in came:
                came[int(goal)] = (rank, int(move))
                queue.append(int(goal))
    back: dict[int, Ints] = {}
    keeping = []
    for one in mixed:
        for other in (*mixed[:4], np.arange(count)):
            image = other[one]
            while image[0]:
                move = came[int(image[0])][1]
                if move not in back:
                    back[move] = np.argsort(moves[move])
                image = back[move][image]
            keeping.append(image)
    return orbits(count, keeping)


def _one_of_each(kind: Ints, kept: Ints) -> Ints:
    """Return the first rank and one of each other kind, which moves with it as little as can be."""
    _, part, count = np.unique(kept, return_inverse=True, return_counts=True)
    freedom = np.lexsort((np.arange(len(kind)), count[part], kind != kind[0]))
    _, first = np.unique(kind[freedom], return_index=True)
    return freedom[np.sort(first)]


def _calm(
    network: Network,
    colours: list[tuple[bool, int]],
    images: list[Ints],
    label: Ints,
    block: Ints,
) -> Iterator[list[Ints]]:
    """Yield automorphisms, on the ranks, that keep each switch joined to several blocks.

    First those of the generators that do, which may be all that is needed, then generators of
    all that do; none where the parts of ``block`` are not joined to such switches alike.
    ``label`` numbers the part that every rank is in.
    """
    number = np.full(network.node_count, -1)
    number[network.terminals] = np.arange(len(label))
    joined: dict[int, set[int]] = {}
    near: dict[int, set[int]] = {}
    for ends in ((network.tail, network.head), (network.head, network.tail)):
        numbers = number[ends[1]].tolist()
        for switch, rank in zip(ends[0].tolist(), numbers, strict=True):
            if number[switch] < 0 <= rank:
                joined.setdefault(switch, set()).add(int(label[rank]))
                near.setdefault(rank, set()).add(switch)
    still = np.array([node for node, parts in joined.items() if len(parts) > 1], np.int64)
    kinds: dict[int, Counter[frozenset[int]]] = {}
    for rank in block.tolist():
        kept = near.get(rank, set()).intersection(still.tolist())
        kinds.setdefault(int(label[rank]), Counter())[frozenset(kept)] += 1
    if len({frozenset(kind.items()) for kind in kinds.values()}) > 1:
        return
    if found := _on_ranks(network, [image for image in images if (image[still] == still).all()]):
        yield found
    single = set(still.tolist())
    painted = [(colour, node if node in single else -1) for node, colour in enumerate(colours)]
    if found := _on_ranks(network, generators(network, painted)):
        yield found


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


def _is_kept(moves: Ints, label: Ints) -> bool:
    """Return whether every move takes the parts that are labelled to such parts."""
    return all((label[move] == label[move[label]]).all() for move in moves)


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
    inside = np.zeros(moves.shape[1], np.bool_)
    inside[block] = True
    # What moves little keeps the rest of the structure where it is: it is tried first.
    efforts = (moves != np.arange(moves.shape[1])).sum(axis=1)
    least = np.argsort(efforts, kind="stable")
    moves, efforts = moves[least], efforts[least].tolist()
    found: dict[int, Ints] = {}
    waiting, pushed, missing = [(0, 0, order)], 1, len(block)
    while waiting and missing:
        spent, _, rows = heappop(waiting)
        if int(rows.min()) in found:
            continue
        found[int(rows.min())] = rows
        # Blocks are images of each other: all of the larger one are inside.
        missing -= len(rows) if inside[rows[0]] else 0
        reached = moves[:, rows]
        for key, at in zip(*np.unique(reached.min(axis=1), return_index=True), strict=True):
            if int(key) not in found:
                heappush(waiting, (spent + efforts[at], pushed, reached[at]))
                pushed += 1
    return np.concatenate([rows for rows in found.values() if inside[rows[0]]])
