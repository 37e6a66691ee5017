"""Links of a regular graph that exchange ends, so that few pairs of nodes stay far apart.

Degrees stay as they are, and of two-way links every one keeps a partner.  Nothing is claimed of
the cost.
"""

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.errors import OutOfDomain
from topoloom.synth.families.family import Ends
from topoloom.synth.kernels.lru_cache import LruCache, digest_of
from topoloom.synth.recipes.expansions.properties import Traits

__all__ = ["MAX_NODES", "MAX_WORDS", "keep_found", "links", "traits"]

MAX_NODES = 4096
"""Two bytes are kept for each pair of nodes."""

MAX_WORDS = 1 << 35
"""Most words that are read for all exchanges together, about ten seconds."""

# Links of graphs that exchanges were found for, until somebody builds them.
_found: LruCache[NDArray[np.int64]] = LruCache(1 << 22)


def traits(of: Traits, depth: int, exchanges: int) -> Traits:
    """Return the traits of the graph after exchanges.

    One-way links are not said to have become two-way ones, even if by chance they have.

    Raises
    ------
    OutOfDomain
        The graph is not regular, has parallel links, one link at a node, too few nodes
        for links to be exchanged or more than `MAX_NODES`; or counting pairs within ``depth``
        links, or so many exchanges, would take too long.
    """
    from topoloom.synth.edge_swaps.work_estimates import count_words, targeted_swap_words

    if not of.regular or of.parallel:
        raise OutOfDomain("of", "must be regular and have no parallel links")
    if not 2 <= of.degree < of.nodes <= MAX_NODES:
        rule = f"must have more than one link at a node, and at most {MAX_NODES} nodes"
        raise OutOfDomain("of", rule)
    if count_words(of.nodes, of.degree, depth) > MAX_WORDS:
        raise OutOfDomain("depth", f"must be less: balls of {MAX_WORDS} words at most are counted")
    if exchanges * targeted_swap_words(of.nodes, of.degree, depth) > MAX_WORDS:
        raise OutOfDomain("exchanges", f"must be less: at most {MAX_WORDS} words are read")
    return of.altered(of.nodes)


def links(nodes: int, ends: Ends, of: Traits, depth: int, exchanges: int, seed: int) -> Ends:
    """Return the links after exchanges, sorted by source; those before if it fell into parts.

    >>> circle = np.repeat(np.arange(13), 2), (np.arange(26) // 2 + np.array([1, 2] * 13)) % 13
    >>> simple = Traits(13, 2, 2, bidirectional=False, parallel=False, regular=True,
    ...                 vertex_transitive=True)
    >>> from topoloom.synth.edge_swaps.local_search import head_array, distant_pairs
    >>> shorter = links(13, circle, simple, 4, 100, 1)
    >>> [distant_pairs(head_array(13, *some), 4) for some in (circle, shorter)]
    [52, 0]
    """
    # Kernels are imported where a graph is built: recipes are read without them.
    from topoloom.synth.edge_swaps.local_search import head_array
    from topoloom.synth.edge_swaps.targeted_swaps import apply_targeted_swaps
    from topoloom.synth.kernels.reachability import connected
    from topoloom.synth.kernels.splitmix import seeded

    # In the order of a topology, so that the same graph, however written, becomes the same.
    heads = np.sort(head_array(nodes, *ends), axis=1)
    sources = np.repeat(np.arange(nodes), of.degree)
    known = _found.get(digest_of([heads], depth, exchanges, seed, of.bidirectional))
    if known is not None:
        return sources, known.ravel()
    exchanged = heads.copy()
    apply_targeted_swaps(
        exchanged, depth, exchanges, of.bidirectional, seeded(seed, nodes, of.degree, depth)
    )
    chosen = exchanged if connected(nodes, sources, exchanged.ravel()) else heads
    return sources, chosen.ravel()


def keep_found(
    heads: NDArray[np.int64],
    shortened: NDArray[np.int64],
    depth: int,
    exchanges: int,
    seed: int,
    two_way: bool,
) -> None:
    """Take the (n, d) heads that exchanges made of those of a topology, with no pair late.

    A frontier finds how many exchanges shorten a graph by making them, and then builds it.
    """
    key = digest_of([heads], depth, exchanges, seed, two_way)
    _found.keep(key, shortened, shortened.size)
