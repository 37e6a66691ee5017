"""The Cartesian product and power: a node is a tuple, and a link changes one of its places.

Theorem.  If every factor reaches the optimal bandwidth (N_i - 1) / N_i under breadth-first
broadcast, and all join neighbours by the same number of parallel links (say, by one), the
product reaches it too; its steps are the sum of those of the factors.  (arXiv:2202.03356,
Cartesian product of bandwidth-optimal graphs.)

The condition on parallel links is needed: in the first step a link carries 1 / p shards where
p links run side by side, and 1 where one does, so a product of both is out of balance.  Of
products with other factors nothing is claimed: the known bound for powers,
T_B * N / (N - 1) * (N^n - 1) / N^n, belongs to a schedule that goes dimension by dimension, and
breadth-first broadcast may exceed it, as on the square of DeBruijn(2, 3): 2 against 63 / 32.

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
    """Return the traits of the product: a trait that all factors have, it has.

    For vertex-transitivity, automorphisms of the factors act place by place.
    """
    most_out = sum(factor.out_degree for factor in factors)
    most_in = sum(factor.in_degree for factor in factors)
    return _together(factors, most_out, most_in)


def power_traits(of: Traits, times: int) -> Traits:
    """Return the traits of a Cartesian power; ``times`` is at least 1."""
    # Two nodes to the power of 64 are beyond every limit already.
    found = _together([of] * min(times, 64), of.out_degree * times, of.in_degree * times)
    # The places of a power change places too.
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
    """Return what the theorem says, given claims and traits of the factors.

    One claim stands for a power, whose factors are alike.
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

    Node numbers are mixed radix: the place of the first factor is the most significant.

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
