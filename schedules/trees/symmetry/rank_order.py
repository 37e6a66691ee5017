"""An order of the ranks by their position in the structure, independent of the listed order.

Boxes, racks of boxes and so on are *blocks* of the symmetry: sets of ranks that every automorphism
maps to themselves or to disjoint sets.  Ranks are listed block by block, and every block as an
image of the first block, so that the digits of a rank's number are its position; `rotations`
rotates the digits.  The automorphism from the first block to another is a choice, and not every
choice makes digit rotations automorphisms; the caller must check.  Automorphisms that fix every
switch which joins several blocks have priority: boxes then have corresponding lists, with each GPU
on its own plane or rail.
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
"""Number of random products that replace all generators of a group."""


def rank_order(network: Network, images: list[Ints] | None = None) -> Network | None:
    """Return the network with its ranks listed block by block; None if no such order is found.

    Args:
        images: Automorphisms to use; by default generators of all.

    Ranks of several kinds are listed by the smallest blocks with one of each kind.

    Blocks are computed as in Atkinson's algorithm: two ranks in one block force the images of both
    under every generator into one block.  Blocks grow from the first rank by one rank of each orbit
    under its stabilizer at a time, the smallest first.  O(generators * ranks) per block.

    References:
        .. [1] Atkinson, "An algorithm for finding the blocks of a permutation group",
           Mathematics of Computation 29, 1975.

    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.synth.topology.topology import Topology
    >>> box = {"a": "v", "b": "w", "c": "v", "d": "w"}
    >>> links = [link for g, w in box.items() for link in ((g, w), (w, g))]
    >>> two = Topology([*"abcdvw"], [*links, ("v", "w"), ("w", "v")], switches="vw")
    >>> rank_order(network_of(two)).terminals.tolist()
    [0, 2, 1, 3]
    """
    ranks = network.terminals
    colors = network.kinds
    images = generators(network, colors) if images is None else images
    on_ranks = _on_ranks(network, images)
    kind = orbits(len(ranks), on_ranks)
    if np.gcd.reduce(np.bincount(kind)) == 1:
        # A group that fixes no rank has orbits of equal size within each of these.
        return None
    moves, mixed = np.stack(on_ranks), np.stack(_mixed(on_ranks))
    kept = _kept_orbits(moves, mixed)
    order = _one_of_each(kind, kept)
    if len(_block(moves, order)) != len(order):
        return None
    ahead = [other for other in np.unique(kept, return_index=True)[1] if kind[other] == kind[0]]
    while len(order) < len(ranks):
        grown = [_block(mixed, np.append(order, other)) for other in ahead if other not in order]
        block = min(grown, key=len)
        if not _is_kept(moves, _joined(mixed, block)):
            block = _block(moves, block)
        calm = _calm(network, colors, images, _joined(mixed, order), block)
        tried = (np.stack(some) for some in calm)
        # Single ranks are equivalent in any order.
        listed = order
        for some in chain(tried if len(order) > 1 else (), (moves,)):
            listed = _listed(some, order, block)
            if len(listed) == len(block):
                break
        order = listed
    return replace(network, terminals=ranks[order])


def _mixed(moves: list[Ints]) -> list[Ints]:
    """Return random products of permutations as a small generating set.

    They may generate a proper subgroup, whose smaller blocks and orbits cost only speed.
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
    """Return orbits of the ranks under the stabilizer of the first rank, or parts of them.

    By Schreier's lemma: an automorphism, followed by one that maps the image of the first rank
    back along a tree of moves, stabilizes the first rank.
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
    """Return the first rank and one of each other kind with the smallest stabilizer orbit."""
    _, part, count = np.unique(kept, return_inverse=True, return_counts=True)
    freedom = np.lexsort((np.arange(len(kind)), count[part], kind != kind[0]))
    _, first = np.unique(kind[freedom], return_index=True)
    return freedom[np.sort(first)]


def _calm(
    network: Network,
    colors: list[tuple[bool, int]],
    images: list[Ints],
    label: Ints,
    block: Ints,
) -> Iterator[list[Ints]]:
    """Yield automorphisms, on the ranks, that fix each switch joined to several blocks.

    First the generators with this property, which may suffice, then generators of all such
    automorphisms; none where the parts of ``block`` differ in their connections to such switches.
    ``label`` numbers the part of every rank.
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
    painted = [(color, node if node in single else -1) for node, color in enumerate(colors)]
    if found := _on_ranks(network, generators(network, painted)):
        yield found


def _on_ranks(network: Network, images: list[Ints]) -> list[Ints]:
    """Return the non-identity actions of automorphisms on the ranks, by rank number."""
    place = np.zeros(network.node_count, np.int64)
    place[network.terminals] = np.arange(len(network.terminals))
    moved = [place[image[network.terminals]] for image in images]
    return [image for image in moved if (image != np.arange(len(image))).any()]


def _block(moves: Ints, members: Ints) -> Ints:
    """Return the least block that contains the members."""
    label = _joined(moves, members)
    return np.flatnonzero(label == label[members[0]])


def _is_kept(moves: Ints, label: Ints) -> bool:
    """Return whether every move maps labeled parts to labeled parts."""
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
    """Return the ranks of a block as images of a smaller block, each in corresponding order."""
    inside = np.zeros(moves.shape[1], np.bool_)
    inside[block] = True
    # Moves of few ranks fix the rest of the structure: they are tried first.
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
        # Blocks are images of each other, so those of the larger block lie inside it.
        missing -= len(rows) if inside[rows[0]] else 0
        reached = moves[:, rows]
        for key, at in zip(*np.unique(reached.min(axis=1), return_index=True), strict=True):
            if int(key) not in found:
                heappush(waiting, (spent + efforts[at], pushed, reached[at]))
                pushed += 1
    return np.concatenate([rows for rows in found.values() if inside[rows[0]]])
