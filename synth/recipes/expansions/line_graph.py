"""The line graph: links become nodes; a link leads to every link that starts at its end.

Theorem.  Let G be regular of degree d >= 1 with N nodes, and L^k(G) its k-fold line graph.  Then
steps(L^k(G)) <= steps(G) + k and

    bandwidth(L^k(G)) <= bandwidth(G) + (1 / N) (1 + 1/d + ... + 1/d^(k-1)),

with equality in both when every link of G has a partner the other way and N >= 3.

Proof.  Nodes of L^k(G) are the walks x0 x1 ... xk of G.  For t <= k a walk y comes at most t
steps before x when it ends in x0..x(k-t); each of the d links into x is passed by d^(t-1)
of these d^t walks.  For t > k the walks at distance t end in a node at distance t - k from x0
and enter by the links by which that node enters x0, so a step of G becomes one with d^k
times the load.  Walks that are nearer because they overlap x otherwise count at a smaller distance
and only reduce the load of the step.  The degree is unchanged and there are d^k N nodes, hence
the sum.  Equality: for t <= k take an x that never returns to x0, where nothing overlaps; such an x
exists, as x1 has a neighbor other than x0 when N >= 3.  For t > k take x0 of largest load
in step s = t - k of G.  Overlap removes only walks that end in a node of x at distance s to x0.
For s >= 2 the walk x0 x1 x0 x1 ... has no such node.  For s = 1 the load is set by a
neighbor w joined to x0 by the fewest links; the same walk with x1 != w does not contain w.

The bound is the line graph expansion of arXiv:2202.03356.

The transpose of a line graph is the line graph of the transpose, so the theorem holds there too.
"""

import numpy as np

from topoloom.synth.errors import OutOfDomain
from topoloom.synth.evaluation.cost import Claim, expand_line_graph
from topoloom.synth.families.family import Ends
from topoloom.synth.limits import capped_power, capped_product
from topoloom.synth.recipes.expansions.properties import Traits


def traits(of: Traits, times: int) -> Traits:
    """Return the traits of the ``times``-fold line graph of a regular graph.

    Raises:
        OutOfDomain: The graph is not regular.
    """
    if not of.regular:
        rule = "must take the line graph of a regular topology: equally many links in and out"
        raise OutOfDomain("recipe", rule)
    return Traits(
        nodes=capped_product(of.nodes, capped_power(of.degree, times)),
        out_degree=of.degree,
        in_degree=of.degree,
        # Two-way links ab and bc need c = a for all a -> b -> c: only two nodes.  The line graph
        # of d links each way between two nodes has 2 d nodes.
        bidirectional=of.nodes == 2 and (times == 1 or of.degree == 1),
        parallel=False,
        regular=True,
        # An automorphism acts on the links, the nodes of the line graph.  Among longer walks,
        # those that return to their start form an orbit of their own.
        vertex_transitive=of.degree == 1 or (times == 1 and of.arc_transitive),
        arc_transitive=of.degree == 1,
    )


def claim(of: Claim, base: Traits, times: int) -> Claim:
    """Return the cost by the theorem, given a claim and the traits of the base graph."""
    cost = expand_line_graph(of.cost, base.nodes, base.degree, times)
    exact = of.exact and base.bidirectional and base.nodes >= 3
    return Claim(cost.steps, cost.bandwidth, exact)


def links(nodes: int, ends: Ends, times: int) -> tuple[int, Ends]:
    """Return the number of nodes and the links of the ``times``-fold line graph.

    Node i is link i of the graph in the order (source, target); the order of parallel links does
    not matter.  O(links of the result).

    >>> links(2, (np.array([0, 1]), np.array([1, 0])), 1)
    (2, (array([0, 1]), array([1, 0])))
    """
    sources, targets = ends
    for _ in range(times):
        targets = np.sort(np.asarray(sources, np.int64) * nodes + targets) % nodes
        degree = len(targets) // nodes
        # Links out of node v have the numbers v * degree to v * degree + degree - 1.
        sources = np.repeat(np.arange(len(targets)), degree)
        nodes, targets = len(targets), (targets[:, None] * degree + np.arange(degree)).ravel()
    return nodes, (sources, targets)
