"""Links of a regular graph that exchange ends, so that few pairs of nodes stay far apart.

Degrees stay as they are, and of two-way links every one keeps a partner.  Nothing is claimed of
the cost.
"""

import numpy as np

from synth.bases.family import Ends
from synth.errors import OutOfDomain
from synth.expansions.traits import Traits

__all__ = ["MAX_NODES", "MAX_WALKS", "MAX_WALKS_FROM_A_NODE", "links", "traits"]

MAX_NODES = 4096
"""Two bytes are kept for each pair of nodes."""

MAX_WALKS_FROM_A_NODE = (1 << 16) - 1
"""Most walks of at most ``depth`` links out of one node."""

MAX_WALKS = 1 << 30
"""Most walks over links that are counted for all exchanges together, about ten seconds."""


def traits(of: Traits, depth: int, exchanges: int) -> Traits:
    """Return the traits of the graph after exchanges.

    One-way links are not said to have become two-way ones, even if by chance they have.

    Raises
    ------
    OutOfDomain
        The graph is not regular, has parallel links, one link at a node, too few nodes
        for links to be exchanged or more than `MAX_NODES`; or counting walks of ``depth`` links,
        or so many exchanges, would take too long.
    """
    from synth.drawable import walks_over

    if not of.regular or of.parallel:
        raise OutOfDomain("of", "must be regular and have no parallel links")
    if not 2 <= of.degree < of.nodes <= MAX_NODES:
        rule = f"must have more than one link at a node, and at most {MAX_NODES} nodes"
        raise OutOfDomain("of", rule)
    walks, length = 1, 0
    while length < depth and walks <= MAX_WALKS_FROM_A_NODE:
        length += 1
        walks += of.degree**length
    if walks > MAX_WALKS_FROM_A_NODE:
        rule = f"must be less: at most {MAX_WALKS_FROM_A_NODE} walks out of a node are counted"
        raise OutOfDomain("depth", rule)
    if exchanges * 4 * walks_over(of.degree, depth, MAX_WALKS) > MAX_WALKS:
        raise OutOfDomain("exchanges", f"must be less: at most {MAX_WALKS} walks are counted")
    return of.altered(of.nodes)


def links(nodes: int, ends: Ends, of: Traits, depth: int, exchanges: int, seed: int) -> Ends:
    """Return the links after exchanges, sorted by source; those before if it fell into parts.

    >>> circle = np.repeat(np.arange(13), 2), (np.arange(26) // 2 + np.array([1, 2] * 13)) % 13
    >>> simple = Traits(13, 2, 2, bidirectional=False, parallel=False, regular=True,
    ...                 vertex_transitive=True)
    >>> from synth.exchanges import heads_of, late_pairs
    >>> shorter = links(13, circle, simple, 4, 100, 1)
    >>> [late_pairs(heads_of(13, *some), 4) for some in (circle, shorter)]
    [52, 0]
    """
    # Kernels are imported where a graph is built: recipes are read without them.
    from synth.exchanges import heads_of
    from synth.reach import connected
    from synth.shortening import shorten
    from synth.splitmix import seeded

    # In the order of a topology, so that the same graph, however written, becomes the same.
    heads = np.sort(heads_of(nodes, *ends), axis=1)
    exchanged = heads.copy()
    shorten(exchanged, depth, exchanges, of.bidirectional, seeded(seed, nodes, of.degree, depth))
    sources = np.repeat(np.arange(nodes), of.degree)
    chosen = exchanged if connected(nodes, sources, exchanged.ravel()) else heads
    return sources, chosen.ravel()
