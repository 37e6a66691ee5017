"""The Cartesian product and power: a node is a tuple, and a link changes one component.

Theorem.  If every factor attains the optimal bandwidth (N_i - 1) / N_i under breadth-first
broadcast, and all factors join neighbors by the same number of parallel links, the product attains
the optimum too, with the sum of the factors' steps.  (arXiv:2202.03356, Cartesian product of
bandwidth-optimal graphs.)

The condition on parallel links is necessary: in the first step each of p parallel links carries
1 / p shards, and a single link 1, so a product of both is unbalanced.  Products of other factors
have no claim: the known bound for powers, T_B * N / (N - 1) * (N^n - 1) / N^n, belongs to a
schedule dimension by dimension, and breadth-first broadcast may exceed it, as on the square of
DeBruijn(2, 3): 2 against 63 / 32.

The transpose of a product is the product of the transposes.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from topoloom.synth.evaluation.cost import Claim, expand_product
from topoloom.synth.families.family import Ends, join
from topoloom.synth.limits import capped_product
from topoloom.synth.recipes.expansions.properties import Traits


def traits(factors: Sequence[Traits]) -> Traits:
    """Return the traits of the product: those that all factors share.

    For vertex-transitivity, automorphisms of the factors act componentwise.
    """
    most_out = sum(factor.out_degree for factor in factors)
    most_in = sum(factor.in_degree for factor in factors)
    return _together(factors, most_out, most_in)


def power_traits(of: Traits, times: int) -> Traits:
    """Return the traits of a Cartesian power; ``times`` is at least 1."""
    # Two nodes to the power of 64 exceed every limit.
    found = _together([of] * min(times, 64), of.out_degree * times, of.in_degree * times)
    # Components of a power may also be permuted.
    return replace(found, arc_transitive=of.arc_transitive)


def _together(factors: Sequence[Traits], most_out: int, most_in: int) -> Traits:
    return Traits(
        nodes=capped_product(*(factor.nodes for factor in factors)),
        out_degree=most_out,
        in_degree=most_in,
        bidirectional=all(factor.bidirectional for factor in factors),
        parallel=any(factor.parallel for factor in factors),
        regular=all(factor.regular for factor in factors),
        vertex_transitive=all(factor.vertex_transitive for factor in factors),
    )


def claim(claims: Sequence[Claim], factors: Sequence[Traits]) -> Claim | None:
    """Return the cost by the theorem, given claims and traits of the factors.

    A single claim stands for a power, whose factors are equal.
    """
    power = len(claims) == 1
    if power and len(factors) == 1:
        return claims[0]
    if any(factor.parallel for factor in factors) and not power:
        return None
    if not all(of.exact for of in claims):
        return None
    claims = [*claims] * len(factors) if power else claims
    cost = expand_product([of.cost for of in claims], [factor.nodes for factor in factors])
    return cost and Claim(cost.steps, cost.bandwidth, exact=True)


def links(graphs: Sequence[tuple[int, Ends]]) -> tuple[int, Ends]:
    """Return the number of nodes and the links of the product of (nodes, links) pairs.

    Node numbers are mixed radix, with the first factor most significant.

    >>> edge = (2, (np.array([0]), np.array([1])))
    >>> links([edge, edge])
    (4, (array([0, 1, 0, 2]), array([2, 3, 1, 3])))
    """
    total = int(np.prod([nodes for nodes, _ in graphs]))
    parts, below = [], total
    for nodes, (sources, targets) in graphs:
        above, below = total // below, below // nodes
        high = np.arange(above)[:, None, None] * (nodes * below)
        low = np.arange(below)[None, None, :]
        parts.append(
            (
                (high + sources[None, :, None] * below + low).ravel(),
                (high + targets[None, :, None] * below + low).ravel(),
            )
        )
    return total, join(parts)
