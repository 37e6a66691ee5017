"""Insert nodes into links: graphs of any number of nodes from good graphs slightly smaller.

A new node x replaces d links a -> b, each by a -> x and x -> b.  Walks over these links grow by
one link, and most other pairs have another short walk.  So a short graph of N - 1 nodes mostly
yields an equally short graph of N nodes, also where no structured graph of N nodes is known.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.edge_swaps.link_pairs import index_of
from topoloom.synth.edge_swaps.local_search import apply_random_swaps
from topoloom.synth.edge_swaps.neighborhood_bitsets import bitset_memory, count_distant_pairs
from topoloom.synth.edge_swaps.work_estimates import count_words, swap_words
from topoloom.synth.kernels.lru_cache import LruCache, digest_of
from topoloom.synth.kernels.reachability import is_connected
from topoloom.synth.kernels.splitmix import below

# Random positions tried per node, words read for them, and words and number of edge swaps.
_TRIES = 256
_TRIED_WORDS = 1 << 28
_SWAP_WORDS, _SWAPS = 1 << 28, 50_000


def insert_nodes(
    heads: NDArray[np.int64], more: int, depth: int, two_way: bool, state: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """Return the graph with ``more`` additional nodes and few distant pairs.

    Args:
        heads ((nodes, degree) array of int64): Heads of the links: a regular graph without loops
            and parallel links, with at least twice as many nodes as the degree.  The result has the
            same form; new nodes come last.
        more: At least 1; even for two-way links of odd degree, where nodes are inserted in pairs.
        depth: A pair of nodes more than ``depth`` links apart is distant.
        two_way: Whether every link has a partner the other way; the result keeps the partners.
        state: State of `synth.kernels.splitmix`.

    Tries some hundred random positions per node and takes the best, or the first without a
    distant pair.  Edge swaps (`synth.edge_swaps.local_search`) follow if distant pairs remain.
    O(more * tries * `synth.edge_swaps.work_estimates.count_words`); a tenth of a second at most
    below a million words.

    >>> from topoloom.synth.families import Kautz
    >>> from topoloom.synth.edge_swaps.local_search import head_array, distant_pairs
    >>> from topoloom.synth.kernels.splitmix import seeded
    >>> heads = head_array(36, *Kautz(3, 3).links())
    >>> one_more = insert_nodes(heads, 1, 4, False, seeded(1))
    >>> few = [distant_pairs(one_more, depth) for depth in (3, 4)]
    >>> one_more.shape, distant_pairs(heads, 3), few[0] > 0, few[1]
    ((37, 3), 0, True, 0)
    """
    degree = heads.shape[1]
    heads, distant = insert_without_swaps(heads, more, depth, two_way, state)
    if distant:
        swapped = heads.copy()
        most = min(_SWAPS, _SWAP_WORDS // swap_words(len(heads), degree, depth))
        apply_random_swaps(swapped, depth, most, two_way, state)
        sources = np.repeat(np.arange(len(heads)), degree)
        heads = swapped if is_connected(len(heads), sources, swapped.ravel()) else heads
    return heads


def insert_without_swaps(
    heads: NDArray[np.int64], more: int, depth: int, two_way: bool, state: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], int]:
    """Insert nodes without edge swaps; return the graph and its number of distant pairs.

    Cached: a frontier first compares the distant pairs of several graphs, then builds the best.
    """
    key = digest_of([heads, state], more, depth, two_way)
    known = _recent.get(key)
    if known is not None:
        state[:] = known.state
        return known.heads, known.distant
    degree, distant = heads.shape[1], 0
    joint = 2 if two_way and degree % 2 else 1
    for _ in range(0, more, joint):
        size = len(heads) + joint
        tries = _tries(size, degree, depth)
        heads, distant = _best_insertion(
            heads, joint, depth, tries, two_way, state, *bitset_memory(size)
        )
    _recent.keep(key, _Insertion(heads, int(distant), state.copy()), heads.size)
    return heads, int(distant)


class _Insertion(NamedTuple):
    heads: NDArray[np.int64]
    distant: int
    state: NDArray[np.uint64]


_recent: LruCache[_Insertion] = LruCache(1 << 20)


def insertion_words(nodes: int, degree: int, depth: int, more: int) -> int:
    """Return an upper bound on the words read to insert nodes into a graph of ``nodes`` nodes.

    >>> insertion_words(1009, 4, 6, 1)
    99188736
    """
    return more * _tries(nodes, degree, depth) * count_words(nodes, degree, depth)


def _tries(nodes: int, degree: int, depth: int) -> int:
    return max(1, min(_TRIES, _TRIED_WORDS // count_words(nodes, degree, depth)))


@njit(cache=True, nogil=True)
def _best_insertion(
    heads: Any, joint: int, depth: int, tries: int, two_way: bool, state: Any, near: Any, far: Any
) -> tuple[Any, int]:
    """Return the best of some random insertions of ``joint`` nodes, and its distant pairs."""
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
        distant = count_distant_pairs(tried, depth, near, far)
        if least < 0 or distant < least:
            least = distant
            best[:] = tried
        if least == 0:
            break
    return best, least


@njit(cache=True, nogil=True)
def _insert_one_way(heads: Any, old: int, new: int, state: Any) -> None:
    """Route d links with distinct ends over the new node."""
    degree, filled = heads.shape[1], 0
    tails = np.empty(degree, np.int64)
    while filled < degree:
        a, i = below(state, old), below(state, degree)
        b = heads[a, i]
        if index_of(tails[:filled], a) >= 0 or index_of(heads[new, :filled], b) >= 0:
            continue
        heads[a, i], heads[new, filled], tails[filled] = new, b, a
        filled += 1


@njit(cache=True, nogil=True)
def _insert_two_way(heads: Any, old: int, new: int, state: Any) -> None:
    """Route d / 2 two-way links between old nodes, pairwise disjoint, over the new node."""
    degree, filled = heads.shape[1], 0
    while filled + 2 <= degree:
        a, i = below(state, old), below(state, degree)
        b = heads[a, i]
        if b >= old or index_of(heads[new], a) >= 0 or index_of(heads[new], b) >= 0:
            continue
        heads[b, index_of(heads[b], a)] = new
        heads[a, i] = new
        heads[new, filled], heads[new, filled + 1] = a, b
        filled += 2
