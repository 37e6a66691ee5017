"""The degree expansion: every node becomes ``factor`` copies, every link all links between them.

Theorem.  Let G be regular with N nodes and steps S.  If every link has a partner the other way,
the expansion by n >= 2 takes max(S, 2) steps; if G is a one-way ring, S + 1.  In both cases its
bandwidth is at most bandwidth(G) + (n - 1) / (n N), with equality for the ring and where G attains
the optimal (N - 1) / N.

Proof.  Copies of different nodes are as far apart as the nodes, and n times as many of them share
n times as many links: the shards per link and step stay the same.  The distance between copies of
one node is the length of its shortest closed walk: 2, or N on the one-way ring.  The n - 1 other
copies may then enter by any of the n d links, because all neighbors are equally near to them.
This adds at most (n - 1) / (n d) to that step; multiply by the d / N of the cost.  With an optimal
base the bound is the optimum of the expansion.  (arXiv:2202.03356, degree expansion, gives S + 1
for every regular G by a schedule that sends to the copies last.  Breadth-first broadcast does not
meet this bound on one-way graphs in general, so these have no claim.)
"""

from dataclasses import replace

import numpy as np

from topoloom.synth.evaluation.cost import Claim, expand_degree, optimal_bandwidth
from topoloom.synth.families.family import Ends
from topoloom.synth.limits import capped_product
from topoloom.synth.recipes.expansions.properties import Traits


def traits(of: Traits, factor: int) -> Traits:
    """Return the traits of the expansion, all inherited.

    An automorphism of the graph moves all copies of a node together, and copies of one node may
    be permuted, so the expansion of a vertex-transitive graph is vertex-transitive.  The copies of
    each node may be permuted separately, so the same holds for arc-transitive graphs.
    """
    return replace(
        of,
        nodes=capped_product(of.nodes, factor),
        out_degree=of.out_degree * factor,
        in_degree=of.in_degree * factor,
    )


def claim(of: Claim, base: Traits, factor: int) -> Claim | None:
    """Return the cost by the theorem, given a claim and the traits of the base graph."""
    if factor == 1:
        return of
    if not base.regular or not (base.bidirectional or base.degree == 1):
        return None
    cost = expand_degree(of.cost, base.nodes, base.degree, factor)
    steps = max(of.steps, 2) if base.bidirectional else cost.steps
    exact = of.exact and of.bandwidth == optimal_bandwidth(base.nodes)
    return Claim(steps, cost.bandwidth, exact)


def links(nodes: int, ends: Ends, factor: int) -> tuple[int, Ends]:
    """Return the number of nodes and the links; copy c of node v is c * nodes + v.

    >>> links(2, (np.array([0]), np.array([1])), 2)[1]
    (array([0, 0, 2, 2]), array([1, 3, 1, 3]))
    """
    shift = np.arange(factor) * nodes
    sources = np.add.outer(shift, np.repeat(ends[0], factor)).ravel()
    targets = np.tile(np.add.outer(ends[1], shift).ravel(), factor)
    return nodes * factor, (sources, targets)
