"""Exchanges of link ends aimed at pairs of nodes that are too far apart.

Where few pairs are late, an exchange drawn at random hardly ever helps one of them.  So a late
pair is drawn, x and y, a walk on from x to some a and one back from y to some e, so long that
a link a -> e joins them in time; and a link of a and one into e exchange ends.  Of graphs of a
thousand nodes that a dozen nodes were taken out of, or put into, some hundreds of such exchanges
mostly leave no pair late; of those at random (`synth.edge_swaps.local_search`) a hundred times as
many may not.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.edge_swaps.link_pairs import place
from topoloom.synth.edge_swaps.neighborhood_bitsets import count_late, memory
from topoloom.synth.edge_swaps.walk_counts import count_all, sources_of, turn, walked
from topoloom.synth.edge_swaps.work_estimates import WORD, aims_by_walks
from topoloom.synth.kernels.splitmix import below

__all__ = ["shorten", "shorten_far", "shorten_near"]

# Late pairs that are listed; of more, those of the first nodes alone.
_LISTED = 4096


def shorten(
    heads: NDArray[np.int64],
    depth: int,
    most: int,
    two_way: bool,
    state: NDArray[np.uint64],
    patience: int = 0,
) -> tuple[int, int]:
    """Exchange ends of links so that late pairs come near, where no more become late for it.

    Parameters
    ----------
    heads : (nodes, degree) array of int64
        Where links lead to: a regular graph without loops and parallel links, and stays one;
        changed in place.
    depth : int
        A pair is late if it is more than so many links apart.
    most : int
        Exchanges to look at.  Ended where no pair is late.
    two_way : bool
        Every link has a partner the other way, which is moved with it.
    state : array of uint64
        Of `synth.kernels.splitmix`.
    patience : int
        Exchanges after which a tenth of the late pairs must be gone, or it is given up; 0 for any.

    Returns
    -------
    late, looked : int
        The late pairs that are left, and how many exchanges were looked at.

    Notes
    -----
    O(most * `synth.edge_swaps.work_estimates.aimed_work`), a third of a nanosecond a word.
    Small depths count walks (`synth.edge_swaps.walk_counts`) in 2 N^2 bytes, not balls.  Both ways
    make the same exchanges.

    Examples
    --------
    >>> from topoloom.synth.edge_swaps.local_search import heads_of, late_pairs
    >>> from topoloom.synth.edge_swaps.random_regular import random_ends
    >>> from topoloom.synth.kernels.splitmix import seeded
    >>> heads = heads_of(80, *random_ends(80, 3, 1, False))
    >>> late_pairs(heads, 5), shorten(heads, 5, 200, False, seeded(1)), late_pairs(heads, 5)
    (34, (0, 65), 0)
    """
    nodes, degree = heads.shape
    chosen = shorten_near if aims_by_walks(nodes, degree, depth) else shorten_far
    return chosen(heads, depth, most, two_way, state, patience)


def shorten_near(
    heads: NDArray[np.int64],
    depth: int,
    most: int,
    two_way: bool,
    state: NDArray[np.uint64],
    patience: int = 0,
) -> tuple[int, int]:
    """Do what `shorten` does, counting walks; at most 65,535 of them may begin at a node."""
    graph = walked(heads, depth)
    late, looked = _shorten_near(graph, depth, most, two_way, state, patience)
    return int(late), int(looked)


def shorten_far(
    heads: NDArray[np.int64],
    depth: int,
    most: int,
    two_way: bool,
    state: NDArray[np.uint64],
    patience: int = 0,
) -> tuple[int, int]:
    """Do what `shorten` does, counting all balls anew for every exchange."""
    graph = heads, sources_of(heads), *memory(len(heads))
    late, looked = _shorten_far(*graph, depth, most, two_way, state, patience)
    return int(late), int(looked)


@njit(cache=True, nogil=True)
def _shorten_near(
    graph: Any, depth: int, most: int, two_way: bool, state: Any, patience: int
) -> tuple[int, int]:
    heads, nodes = graph.heads, len(graph.heads)
    late, looked = nodes * nodes - count_all(graph, depth), 0
    pairs = np.empty((_LISTED, 2), np.int64)
    listed = _list(graph.walks, pairs)
    before = late
    while looked < most and late > 0:
        if _is_due(looked, patience):
            if 10 * late > 9 * before:
                break
            before = late
        looked += 1
        x, y = pairs[below(state, listed)]
        a, i, c, k, back_b, back_e = _aim(heads, graph.tails, depth, x, y, two_way, state)
        if a < 0:
            continue
        b, e = heads[a, i], heads[c, k]
        now = late - turn(graph, depth, a, i, b, e) - turn(graph, depth, c, k, e, b)
        if two_way:
            now -= turn(graph, depth, b, back_b, a, c) + turn(graph, depth, e, back_e, c, a)
        if now <= late:
            late = now
            listed = _list(graph.walks, pairs)
            continue
        turn(graph, depth, a, i, e, b)
        turn(graph, depth, c, k, b, e)
        if two_way:
            turn(graph, depth, b, back_b, c, a)
            turn(graph, depth, e, back_e, a, c)
    return late, looked


@njit(cache=True, nogil=True)
def _shorten_far(
    heads: Any,
    tails: Any,
    near: Any,
    far: Any,
    depth: int,
    most: int,
    two_way: bool,
    state: Any,
    patience: int,
) -> tuple[int, int]:
    late, looked = count_late(heads, depth, near, far), 0
    # Counting ends in either memory, by depth.
    balls = far if depth % 2 else near
    pairs = np.empty((_LISTED, 2), np.int64)
    listed = _list_outside(balls, pairs)
    before = late
    while looked < most and late > 0:
        if _is_due(looked, patience):
            if 10 * late > 9 * before:
                break
            before = late
        looked += 1
        x, y = pairs[below(state, listed)]
        a, i, c, k, back_b, back_e = _aim(heads, tails, depth, x, y, two_way, state)
        if a < 0:
            continue
        b, e = heads[a, i], heads[c, k]
        _lead(heads, tails, a, i, b, e)
        _lead(heads, tails, c, k, e, b)
        if two_way:
            _lead(heads, tails, b, back_b, a, c)
            _lead(heads, tails, e, back_e, c, a)
        now = count_late(heads, depth, near, far)
        if now <= late:
            late = now
            listed = _list_outside(balls, pairs)
            continue
        _lead(heads, tails, a, i, e, b)
        _lead(heads, tails, c, k, b, e)
        if two_way:
            _lead(heads, tails, b, back_b, c, a)
            _lead(heads, tails, e, back_e, a, c)
    return late, looked


@njit(cache=True, nogil=True)
def _is_due(looked: int, patience: int) -> bool:
    """Return whether it is time to see if exchanges help."""
    return patience > 0 and looked > 0 and looked % patience == 0


@njit(cache=True, nogil=True)
def _lead(heads: Any, tails: Any, node: int, k: int, old: int, new: int) -> None:
    """Lead link k of a node to a new head; sources as `edge_swaps.walk_counts.turn` leaves."""
    tails[old, place(tails[old], node)] = -1
    heads[node, k] = new
    tails[new, place(tails[new], -1)] = node


@njit(cache=True, nogil=True)
def _list_outside(balls: Any, pairs: Any) -> int:
    """List pairs the second of which is not in the ball of the first; return how many."""
    listed, (nodes, row) = 0, balls.shape
    for x in range(nodes):
        for word in range(row):
            outside = ~balls[x, word]
            y = word * WORD
            # Most words are full, and of others the rest is skipped.
            while outside != 0 and y < nodes:
                if outside & np.uint64(1):
                    pairs[listed] = x, y
                    listed += 1
                    if listed == len(pairs):
                        return listed
                outside >>= np.uint64(1)
                y += 1
    return listed


@njit(cache=True, nogil=True)
def _list(walks: Any, pairs: Any) -> int:
    """List pairs that no walk joins; return how many."""
    listed = 0
    for x in range(len(walks)):
        row = walks[x]
        for y in range(len(row)):
            if row[y] == 0:
                pairs[listed] = x, y
                listed += 1
                if listed == len(pairs):
                    return listed
    return listed


@njit(cache=True, nogil=True)
def _aim(
    heads: Any, tails: Any, depth: int, x: int, y: int, two_way: bool, state: Any
) -> tuple[int, int, int, int, int, int]:
    """Return link i of a and link k of c, to e, where a -> e would lead from x to y in time.

    And where their partners stand, as `synth.edge_swaps.link_pairs.pick`; a is -1 if that may not
    be.
    """
    degree = heads.shape[1]
    a, e, on = x, y, below(state, depth)
    for _ in range(on):
        a = heads[a, below(state, degree)]
    for _ in range(depth - 1 - on):
        e = _before(tails, e, below(state, degree))
    c = _before(tails, e, below(state, degree))
    i, k = below(state, degree), place(heads[c], e)
    if not _exchangeable(heads, a, heads[a, i], c, e, two_way):
        return -1, 0, 0, 0, 0, 0
    if two_way:
        return a, i, c, k, place(heads[heads[a, i]], a), place(heads[e], c)
    return a, i, c, k, 0, 0


@njit(cache=True, nogil=True)
def _before(tails: Any, node: int, k: int) -> int:
    """Return where link k into a node comes from; one place of the list is empty."""
    return tails[node, k] if tails[node, k] >= 0 else tails[node, -1]


@njit(cache=True, nogil=True)
def _exchangeable(heads: Any, a: int, b: int, c: int, e: int, two_way: bool) -> bool:
    """Return whether a -> e and c -> b in place of a -> b and c -> e leave a simple graph."""
    if a in (c, e) or b in (c, e):
        return False
    if two_way and (place(heads[e], a) >= 0 or place(heads[b], c) >= 0):
        return False
    return place(heads[a], e) < 0 and place(heads[c], b) < 0
