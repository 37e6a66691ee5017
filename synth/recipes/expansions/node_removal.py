"""Nodes of a regular graph taken out of the middle of links, so that few others come far apart.

A node x goes, and a -> b stands for a -> x and x -> b, where each link into x has one out of it.
The degree stays, and of two-way links every one keeps a partner, where x's neighbours are joined
in pairs; for an odd d two neighbours go at once.  Nothing is claimed of the cost.
"""

import numpy as np

from topoloom.synth.errors import OutOfDomain
from topoloom.synth.families.family import Ends
from topoloom.synth.recipes.expansions.node_insertion import MAX_WORDS
from topoloom.synth.recipes.expansions.properties import Traits

__all__ = ["links", "traits"]

_SPARE = 8


def traits(of: Traits, fewer: int, depth: int) -> Traits:
    """Return the traits of a graph with ``fewer`` nodes less.

    One-way links are not said to have become two-way ones, even if by chance they have.

    Raises
    ------
    OutOfDomain
        The graph is not regular, has parallel links or one link at each node; fewer than 2 d + 8
        nodes would stay; ``fewer`` does not fit two-way links; or counting would take too long.
    """
    from topoloom.synth.edge_swaps.work_estimates import count_words

    if not of.regular or of.parallel:
        raise OutOfDomain("of", "must be regular and have no parallel links")
    if of.degree == 1:
        raise OutOfDomain("of", "must have more than one link at a node")
    if of.nodes - fewer < 2 * of.degree + _SPARE:
        raise OutOfDomain(
            "fewer", f"must leave 2 degree + {_SPARE} = {2 * of.degree + _SPARE} nodes at least"
        )
    if of.bidirectional and of.degree % 2 and fewer % 2:
        raise OutOfDomain("fewer", "must be even where two-way links are odd in number at a node")
    if depth > of.nodes or fewer * count_words(of.nodes, of.degree, depth) > MAX_WORDS:
        raise OutOfDomain("depth", "must be less: counting who is so near would take too long")
    return of.altered(of.nodes - fewer)


def links(nodes: int, ends: Ends, of: Traits, fewer: int, depth: int, seed: int) -> Ends:
    """Return the links of the graph with ``fewer`` nodes less, sorted by source.

    Raises
    ------
    OutOfDomain
        What is left is in several parts.

    >>> circle = np.repeat(np.arange(13), 2), (np.arange(26) // 2 + np.array([1, 2] * 13)) % 13
    >>> simple = Traits(13, 2, 2, bidirectional=False, parallel=False, regular=True,
    ...                 vertex_transitive=True)
    >>> len(links(13, circle, simple, 1, 6, 1)[0])
    24
    """
    # Kernels are imported where a graph is built: recipes are read without them.
    from topoloom.synth.edge_swaps.local_search import head_array
    from topoloom.synth.edge_swaps.remove_nodes import remove_nodes
    from topoloom.synth.kernels.reachability import connected
    from topoloom.synth.kernels.splitmix import seeded

    state = seeded(seed, nodes, of.degree, fewer, depth)
    # In the order of a topology, so that the same graph, however written, becomes the same.
    heads = remove_nodes(
        np.sort(head_array(nodes, *ends), axis=1), fewer, depth, of.bidirectional, state
    )
    sources, targets = np.repeat(np.arange(len(heads)), of.degree), heads.ravel()
    if not connected(len(heads), sources, targets):
        raise OutOfDomain("seed", "must be another: what this one leaves is in several parts")
    return sources, targets
