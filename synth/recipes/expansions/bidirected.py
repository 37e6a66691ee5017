"""The bidirected graph: every link gets a partner the other way.

A one-way topology with d ports per node and its transpose together form a two-way topology with
2 d ports (arXiv:2202.03356, from unidirectional to bidirectional).  Sending half of the data by
the schedule of each keeps the steps and the bandwidth in M / B.  Breadth-first broadcast on the
union takes no more steps and usually fewer.  Its bandwidth has no claim and must be measured.

Links with a partner stay as they are: they get no second partner, and their ends use fewer than
2 d ports.  The transpose is the same graph.
"""

from dataclasses import replace

import numpy as np

from topoloom.synth.families.family import Ends
from topoloom.synth.recipes.expansions.properties import Traits


def traits(of: Traits, degrees: tuple[int, int]) -> Traits:
    """Return the traits, given the least and the largest degree of the result.

    Automorphisms keep the directions of links, so they remain automorphisms.
    """
    least, most = degrees
    return replace(
        of,
        out_degree=most,
        in_degree=most,
        bidirectional=True,
        regular=least == most,
        arc_transitive=False,
    )


def links(nodes: int, ends: Ends) -> Ends:
    """Return every pair of opposite links, with the larger multiplicity of the two.

    >>> links(3, (np.array([0, 1, 1]), np.array([1, 0, 2])))
    (array([0, 1, 1, 2]), array([1, 0, 2, 1]))
    """
    sources, targets = ends
    both = []
    for pairs in (sources * nodes + targets, targets * nodes + sources):
        pairs = np.sort(pairs)
        # Number equal pairs, so that a union keeps the larger number of them.
        first = np.searchsorted(pairs, pairs)
        both.append(pairs * len(pairs) + np.arange(len(pairs)) - first)
    # Both are sorted: their union merges two runs.
    pairs = np.sort(np.concatenate(both), kind="stable")
    pairs = pairs[np.diff(pairs, prepend=-1) > 0] // len(sources)
    return pairs // nodes, pairs % nodes
