"""Targeted edge swaps of a regular graph that reduce the number of distant pairs.

Degrees stay, and two-way links keep their partners.  The cost has no claim.
"""

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.errors import OutOfDomain
from topoloom.synth.families.family import Ends
from topoloom.synth.kernels.lru_cache import LruCache, digest_of
from topoloom.synth.recipes.expansions.properties import Traits

MAX_NODES = 4096
"""Walk counts take two bytes for each pair of nodes."""

MAX_WORDS = 1 << 35
"""Most words read by all swaps together, about ten seconds."""

# Links of graphs with swaps already applied, for their construction.
_swapped: LruCache[NDArray[np.int64]] = LruCache(1 << 22)


def traits(of: Traits, depth: int, exchanges: int) -> Traits:
    """Return the traits of the graph after edge swaps.

    One-way links count as one-way even if partners arise by chance.

    Raises:
        OutOfDomain: The graph is not regular, has parallel links, degree 1, too few nodes for swaps
            or more than `MAX_NODES`; or counting pairs within ``depth`` links, or the number of
            swaps, would take too long.
    """
    from topoloom.synth.edge_swaps.work_estimates import count_words, targeted_swap_words

    if not of.regular or of.parallel:
        raise OutOfDomain("of", "must be regular and have no parallel links")
    if not 2 <= of.degree < of.nodes <= MAX_NODES:
        rule = f"must have more than one link at a node, and at most {MAX_NODES} nodes"
        raise OutOfDomain("of", rule)
    if count_words(of.nodes, of.degree, depth) > MAX_WORDS:
        raise OutOfDomain("depth", f"must be less: counting pairs may read {MAX_WORDS} words")
    if exchanges * targeted_swap_words(of.nodes, of.degree, depth) > MAX_WORDS:
        raise OutOfDomain("exchanges", f"must be less: swaps may read at most {MAX_WORDS} words")
    return of.altered(of.nodes)


def links(nodes: int, ends: Ends, of: Traits, depth: int, exchanges: int, seed: int) -> Ends:
    """Return the links after edge swaps, sorted by source; the original links if disconnected.

    >>> circle = np.repeat(np.arange(13), 2), (np.arange(26) // 2 + np.array([1, 2] * 13)) % 13
    >>> simple = Traits(13, 2, 2, bidirectional=False, parallel=False, regular=True,
    ...                 vertex_transitive=True)
    >>> from topoloom.synth.edge_swaps.local_search import head_array, distant_pairs
    >>> shorter = links(13, circle, simple, 4, 100, 1)
    >>> [distant_pairs(head_array(13, *some), 4) for some in (circle, shorter)]
    [52, 0]
    """
    # Imported here: recipes are parsed without kernels.
    from topoloom.synth.edge_swaps.local_search import apply_targeted_swaps, head_array
    from topoloom.synth.kernels.reachability import is_connected
    from topoloom.synth.kernels.splitmix import seeded

    # In the order of a topology: equal graphs give equal results, however written.
    heads = np.sort(head_array(nodes, *ends), axis=1)
    sources = np.repeat(np.arange(nodes), of.degree)
    known = _swapped.get(digest_of([heads], depth, exchanges, seed, of.bidirectional))
    if known is not None:
        return sources, known.ravel()
    swapped = heads.copy()
    apply_targeted_swaps(
        swapped, depth, exchanges, of.bidirectional, seeded(seed, nodes, of.degree, depth)
    )
    chosen = swapped if is_connected(nodes, sources, swapped.ravel()) else heads
    return sources, chosen.ravel()


def cache_swaps(
    heads: NDArray[np.int64],
    shortened: NDArray[np.int64],
    depth: int,
    exchanges: int,
    seed: int,
    two_way: bool,
) -> None:
    """Cache the (n, d) heads of a topology after swaps that leave no distant pair.

    A frontier finds the number of swaps by applying them, and builds the graph later.
    """
    key = digest_of([heads], depth, exchanges, seed, two_way)
    _swapped.keep(key, shortened, shortened.size)
