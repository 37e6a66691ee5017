"""New nodes in the middle of links: graphs of any number of nodes out of good ones nearby.

A new node takes the place of d links a -> b, one after another: a -> x and x -> b stand for each.
Every walk over one of them is a link longer, and of most other pairs there is another walk in
time; so a short graph of N - 1 nodes mostly makes one of N that is as short, where nothing
else may be known of N.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.edge_swaps.link_pairs import place
from topoloom.synth.edge_swaps.local_search import exchange
from topoloom.synth.edge_swaps.neighborhood_bitsets import count_late, memory
from topoloom.synth.edge_swaps.work_estimates import words, work
from topoloom.synth.kernels.lru_cache import Recent, key_of
from topoloom.synth.kernels.reachability import connected
from topoloom.synth.kernels.splitmix import below

__all__ = ["grow", "insert", "most_words"]

# Places of one node that are tried at most, and words that are read for it, and to exchange.
_TRIES = 256
_TRIED_WORDS = 1 << 28
_EXCHANGED_WORDS, _EXCHANGES = 1 << 28, 50_000


def insert(
    heads: NDArray[np.int64], more: int, depth: int, two_way: bool, state: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """Return the graph with ``more`` nodes more, which leave few pairs of nodes far apart.

    Parameters
    ----------
    heads : (nodes, degree) array of int64
        Where links lead to: a regular graph without loops and parallel links, and at least
        twice as many nodes as the degree.  The new one is like it, its new nodes the last.
    more : int
        At least 1; with two-way links of an odd degree even, as nodes come in pairs then.
    depth : int
        Pairs of nodes more than so many links apart are few, none if that is found.
    two_way : bool
        Every link has a partner the other way, in the new graph, too.
    state : array of uint64
        Of `synth.kernels.splitmix`.

    Notes
    -----
    Of some hundred places of a node drawn at random the best is taken, or the first that leaves no
    pair late.  If some stay late, links exchange ends (`synth.edge_swaps.local_search`).
    O(more * tries * `synth.edge_swaps.work_estimates.words`); a tenth of a second at
    most below a million words.

    Examples
    --------
    >>> from topoloom.synth.families import Kautz
    >>> from topoloom.synth.edge_swaps.local_search import heads_of, late_pairs
    >>> from topoloom.synth.kernels.splitmix import seeded
    >>> heads = heads_of(36, *Kautz(3, 3).links())
    >>> one_more = insert(heads, 1, 4, False, seeded(1))
    >>> one_more.shape, late_pairs(heads, 3), late_pairs(one_more, 3) > 0, late_pairs(one_more, 4)
    ((37, 3), 0, True, 0)
    """
    degree = heads.shape[1]
    heads, late = grow(heads, more, depth, two_way, state)
    if late:
        exchanged = heads.copy()
        most = min(_EXCHANGES, _EXCHANGED_WORDS // work(len(heads), degree, depth))
        exchange(exchanged, depth, most, two_way, state)
        sources = np.repeat(np.arange(len(heads)), degree)
        heads = exchanged if connected(len(heads), sources, exchanged.ravel()) else heads
    return heads


def grow(
    heads: NDArray[np.int64], more: int, depth: int, two_way: bool, state: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], int]:
    """Do what `insert` does without exchanges; return the graph and its late pairs.

    A frontier asks of some graphs how many pairs are late, and builds the best.
    """
    key = key_of([heads, state], more, depth, two_way)
    known = _recent.get(key)
    if known is not None:
        state[:] = known.state
        return known.heads, known.late
    degree, late = heads.shape[1], 0
    joint = 2 if two_way and degree % 2 else 1
    for _ in range(0, more, joint):
        size = len(heads) + joint
        tries = _tries(size, degree, depth)
        heads, late = _grown(heads, joint, depth, tries, two_way, state, *memory(size))
    _recent.keep(key, _Grown(heads, int(late), state.copy()), heads.size)
    return heads, int(late)


class _Grown(NamedTuple):
    heads: NDArray[np.int64]
    late: int
    state: NDArray[np.uint64]


_recent: Recent[_Grown] = Recent(1 << 20)


def most_words(nodes: int, degree: int, depth: int, more: int) -> int:
    """Return how many words are read at most to find places for nodes of a graph of so many.

    >>> most_words(1009, 4, 6, 1)
    99188736
    """
    return more * _tries(nodes, degree, depth) * words(nodes, degree, depth)


def _tries(nodes: int, degree: int, depth: int) -> int:
    return max(1, min(_TRIES, _TRIED_WORDS // words(nodes, degree, depth)))


@njit(cache=True, nogil=True)
def _grown(
    heads: Any, joint: int, depth: int, tries: int, two_way: bool, state: Any, near: Any, far: Any
) -> tuple[Any, int]:
    """Return the best of some graphs with one node more, or two, and its late pairs."""
    nodes, degree = heads.shape
    best = np.empty((nodes + joint, degree), np.int64)
    tried = np.empty((nodes + joint, degree), np.int64)
    least = -1
    for _ in range(tries):
        tried[:nodes] = heads
        tried[nodes:] = -1
        for new in range(nodes, nodes + joint):
            if two_way:
                _insert_two_way(tried, nodes, new, state)
            else:
                _insert_one_way(tried, nodes, new, state)
        if joint == 2:
            tried[nodes, degree - 1], tried[nodes + 1, degree - 1] = nodes + 1, nodes
        late = count_late(tried, depth, near, far)
        if least < 0 or late < least:
            least = late
            best[:] = tried
        if least == 0:
            break
    return best, least


@njit(cache=True, nogil=True)
def _insert_one_way(heads: Any, old: int, new: int, state: Any) -> None:
    """Lead d links of different ends over the new node."""
    degree, filled = heads.shape[1], 0
    tails = np.empty(degree, np.int64)
    while filled < degree:
        a, i = below(state, old), below(state, degree)
        b = heads[a, i]
        if place(tails[:filled], a) >= 0 or place(heads[new, :filled], b) >= 0:
            continue
        heads[a, i], heads[new, filled], tails[filled] = new, b, a
        filled += 1


@njit(cache=True, nogil=True)
def _insert_two_way(heads: Any, old: int, new: int, state: Any) -> None:
    """Lead half of d two-way links between old nodes, none of which share an end, over it."""
    degree, filled = heads.shape[1], 0
    while filled + 2 <= degree:
        a, i = below(state, old), below(state, degree)
        b = heads[a, i]
        if b >= old or place(heads[new], a) >= 0 or place(heads[new], b) >= 0:
            continue
        heads[b, place(heads[b], a)] = new
        heads[a, i] = new
        heads[new, filled], heads[new, filled + 1] = a, b
        filled += 2
