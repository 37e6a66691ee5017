"""Node removal from a regular graph, with few distant pairs.

A node x is removed, and each pair a -> x and x -> b of its links becomes a -> b.  The degree stays.
With two-way links the neighbors of x are joined in pairs; for odd d two adjacent nodes are removed
at once.  The cost has no claim.
"""

import numpy as np

from topoloom.synth.errors import OutOfDomain
from topoloom.synth.families.family import Ends
from topoloom.synth.recipes.expansions.node_insertion import MAX_WORDS
from topoloom.synth.recipes.expansions.properties import Traits

_SPARE = 8


def traits(of: Traits, fewer: int, depth: int) -> Traits:
    """Return the traits of a graph without ``fewer`` nodes.

    One-way links count as one-way even if partners arise by chance.

    Raises:
        OutOfDomain: The graph is not regular, has parallel links or degree 1; fewer than 2 d + 8
            nodes would remain; ``fewer`` does not fit two-way links; or counting would take too
            long.
    """
    from topoloom.synth.edge_swaps.work_estimates import count_words

    if not of.regular or of.parallel:
        raise OutOfDomain("of", "must be regular and have no parallel links")
    if of.degree == 1:
        raise OutOfDomain("of", "must have more than one link at a node")
    if of.nodes - fewer < 2 * of.degree + _SPARE:
        raise OutOfDomain(
            "fewer", f"must leave at least 2 degree + {_SPARE} = {2 * of.degree + _SPARE} nodes"
        )
    if of.bidirectional and of.degree % 2 and fewer % 2:
        raise OutOfDomain("fewer", "must be even where two-way links are odd in number at a node")
    if depth > of.nodes or fewer * count_words(of.nodes, of.degree, depth) > MAX_WORDS:
        raise OutOfDomain("depth", "must be less: counting distant pairs would take too long")
    return of.altered(of.nodes - fewer)


def links(nodes: int, ends: Ends, of: Traits, fewer: int, depth: int, seed: int) -> Ends:
    """Return the links of the graph without ``fewer`` nodes, sorted by source.

    Raises:
        OutOfDomain: The remaining graph is disconnected.

    >>> circle = np.repeat(np.arange(13), 2), (np.arange(26) // 2 + np.array([1, 2] * 13)) % 13
    >>> simple = Traits(13, 2, 2, bidirectional=False, parallel=False, regular=True,
    ...                 vertex_transitive=True)
    >>> len(links(13, circle, simple, 1, 6, 1)[0])
    24
    """
    # Imported here: recipes are parsed without kernels.
    from topoloom.synth.edge_swaps.local_search import head_array
    from topoloom.synth.edge_swaps.remove_nodes import remove_nodes
    from topoloom.synth.kernels.reachability import is_connected
    from topoloom.synth.kernels.splitmix import seeded

    state = seeded(seed, nodes, of.degree, fewer, depth)
    # In the order of a topology: equal graphs give equal results, however written.
    heads = remove_nodes(
        np.sort(head_array(nodes, *ends), axis=1), fewer, depth, of.bidirectional, state
    )
    sources, targets = np.repeat(np.arange(len(heads)), of.degree), heads.ravel()
    if not is_connected(len(heads), sources, targets):
        raise OutOfDomain("seed", "must be another: with this seed the graph is disconnected")
    return sources, targets
