"""Node insertion into links of a regular graph, with few distant pairs.

A node x replaces d links a -> b with distinct ends by links a -> x and x -> b.  The degree stays.
With two-way links x replaces d / 2 of them; for odd d two nodes are inserted at once and joined.
The cost has no claim.
"""

import numpy as np

from topoloom.synth.errors import OutOfDomain
from topoloom.synth.families.family import Ends
from topoloom.synth.limits import require_size
from topoloom.synth.recipes.expansions.properties import Traits

MAX_WORDS = 1 << 31
"""Most words of 64 bits read to count distant pairs, once for every new node."""


def traits(of: Traits, more: int, depth: int) -> Traits:
    """Return the traits of a graph with ``more`` additional nodes.

    One-way links count as one-way even if partners arise by chance.

    Raises:
        OutOfDomain: The graph is not regular, has parallel links or fewer nodes than twice the
            degree; ``more`` does not fit two-way links; or counting would take too long.
    """
    from topoloom.synth.edge_swaps.work_estimates import count_words

    nodes = of.nodes + more
    require_size(nodes, of.degree)
    if not of.regular or of.parallel:
        raise OutOfDomain("of", "must be regular and have no parallel links")
    if of.nodes < 2 * of.degree:
        raise OutOfDomain("of", "must have at least twice as many nodes as links per node")
    if of.bidirectional and of.degree == 1:
        raise OutOfDomain("of", "must have more than one two-way link at a node")
    if of.bidirectional and of.degree % 2 and more % 2:
        raise OutOfDomain("more", "must be even where two-way links are odd in number at a node")
    if depth > nodes or more * count_words(nodes, of.degree, depth) > MAX_WORDS:
        raise OutOfDomain("depth", "must be less: counting distant pairs would take too long")
    return of.altered(nodes)


def links(nodes: int, ends: Ends, of: Traits, more: int, depth: int, seed: int) -> Ends:
    """Return the links of the graph with ``more`` additional nodes, sorted by source.

    >>> ring = np.array([0, 1, 2]), np.array([1, 2, 0])
    >>> simple = Traits(3, 1, 1, bidirectional=False, parallel=False, regular=True,
    ...                 vertex_transitive=True)
    >>> links(3, ring, simple, 1, 3, 1)[0]
    array([0, 1, 2, 3])
    """
    # Imported here: recipes are parsed without kernels.
    from topoloom.synth.edge_swaps.insert_nodes import insert_nodes
    from topoloom.synth.edge_swaps.local_search import head_array
    from topoloom.synth.kernels.splitmix import seeded

    state = seeded(seed, nodes, of.degree, more, depth)
    heads = insert_nodes(head_array(nodes, *ends), more, depth, of.bidirectional, state)
    return np.repeat(np.arange(len(heads)), of.degree), heads.ravel()


def distant_pairs(nodes: int, ends: Ends, of: Traits, more: int, depth: int, seed: int) -> int:
    """Return the number of distant pairs after insertion, before edge swaps."""
    from topoloom.synth.edge_swaps.insert_nodes import insert_without_swaps
    from topoloom.synth.edge_swaps.local_search import head_array
    from topoloom.synth.kernels.splitmix import seeded

    state = seeded(seed, nodes, of.degree, more, depth)
    return insert_without_swaps(head_array(nodes, *ends), more, depth, of.bidirectional, state)[1]
