"""The bidirected graph: every link gets a partner the other way.

A one-way topology of d ports a node and its transpose, laid over each other, make one of two-way
links with 2 d ports (arXiv:2202.03356, from unidirectional to bidirectional).  Sending half of
the data by the schedule of either keeps the steps and the bandwidth in M / B.  Breadth-first
broadcast on the whole takes no more steps and usually fewer; nothing is claimed of its
bandwidth, which must be measured.

The transpose is the same graph.
"""

import numpy as np

from synth.bases.family import Ends, two_way
from synth.expansions.traits import Traits

__all__ = ["has_opposite_links", "links", "traits"]


def traits(of: Traits, opposite: bool) -> Traits:
    """Return the traits; ``opposite`` says whether the graph has links there and back.

    Automorphisms keep the directions of links, so they are automorphisms here too.
    """
    return Traits(
        nodes=of.nodes,
        degree=2 * of.degree,
        bidirectional=True,
        parallel=of.parallel or opposite,
        regular=of.regular,
        vertex_transitive=of.vertex_transitive,
    )


def has_opposite_links(nodes: int, ends: Ends) -> bool:
    """Return whether some link has a partner the other way.

    >>> has_opposite_links(3, (np.array([0, 1, 2]), np.array([1, 2, 0])))
    False
    """
    sources, targets = ends
    return bool(np.isin(sources * nodes + targets, targets * nodes + sources).any())


def links(ends: Ends) -> Ends:
    """Return the links followed by their partners the other way.

    >>> links((np.array([0, 1]), np.array([1, 2])))
    (array([0, 1, 1, 2]), array([1, 2, 0, 1]))
    """
    return two_way(*ends)
