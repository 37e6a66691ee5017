"""Costs of topologies: the cost model, lower bounds, and the effect of operators on a cost.

`synth.recipes.claims` derives the cost of a recipe.

The cost model.  N nodes of degree d; every link carries b bytes/s, so a node has
B = d * b; a hop takes ``alpha_seconds``; an allgather produces M bytes at every node, with a
shard of M / N from each.  A schedule runs in synchronous steps.

- ``steps``: T_L / alpha, the number of steps.
- ``bandwidth``: T_B in units of M / B, that is d / N times the sum over the steps of
  the largest number of shards on any link.

An allgather takes ``steps * alpha + bandwidth * M / B``.  Reduce-scatter is the reversed
allgather of the transposed graph; allreduce is a reduce-scatter followed by an allgather.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import prod

from topoloom.synth.errors import OutOfDomain


class Links(StrEnum):
    """Whether links may be one-way, or every link has a partner the other way."""

    UNIDIRECTIONAL = "unidirectional"
    BIDIRECTIONAL = "bidirectional"


@dataclass(frozen=True, slots=True, order=True)
class Cost:
    """The cost of an allgather; ordered by steps, then by bandwidth.

    >>> Cost(2, Fraction(11, 12)) < Cost(3, Fraction(1))
    True
    """

    steps: int
    bandwidth: Fraction


@dataclass(frozen=True, slots=True)
class Claim:
    """Cost of the breadth-first-broadcast allgather on a graph, by a theorem.

    Exact costs if ``exact``, otherwise upper bounds.
    """

    steps: int
    bandwidth: Fraction
    exact: bool

    @property
    def cost(self) -> Cost:
        """Steps and bandwidth as a cost."""
        return Cost(self.steps, self.bandwidth)

    def covers(self, cost: Cost) -> bool:
        """Return whether a cost meets the claim: equal if exact, otherwise no larger.

        >>> Claim(3, Fraction(1), exact=False).covers(Cost(2, Fraction(1)))
        True
        >>> Claim(3, Fraction(1), exact=True).covers(Cost(2, Fraction(1)))
        False
        """
        if self.exact:
            return cost == self.cost
        return cost.steps <= self.steps and cost.bandwidth <= self.bandwidth


def optimal_bandwidth(nodes: int) -> Fraction:
    """Return (N - 1) / N: every node must receive all shards but its own.

    >>> optimal_bandwidth(12)
    Fraction(11, 12)
    """
    return Fraction(nodes - 1, nodes)


def lower_bound(nodes: int, degree: int, links: Links = Links.UNIDIRECTIONAL) -> Cost:
    """Return lower bounds on steps and bandwidth of topologies of this size.

    Args:
        nodes, degree: At least 2 and at least 1; two-way links of degree 1 join 2 nodes only.
        links: With two-way links one of a node's links leads back, so at most d (d - 1)^(i - 1)
            nodes lie at distance i instead of d^i.

    Raises:
        OutOfDomain: No connected graph of this size, degree and kind of links exists.

    Steps: the Moore bound, the least k such that N nodes fit within distance k.  The bounds need
    not be attained, together or at all.  O(log N) operations for degrees above 2.

    >>> lower_bound(1024, 4)
    Cost(steps=5, bandwidth=Fraction(1023, 1024))
    >>> lower_bound(12, 4, Links.BIDIRECTIONAL).steps
    2
    """
    if nodes < 2:
        raise OutOfDomain("nodes", "must be at least 2")
    if degree < 1:
        raise OutOfDomain("degree", "must be at least 1")
    growth = degree if links is Links.UNIDIRECTIONAL else degree - 1
    if growth == 0 and nodes > 2:
        raise OutOfDomain("degree", "must be at least 2: two-way links of degree 1 join 2 nodes")
    if growth == 1:
        return Cost(-(-(nodes - 1) // degree), optimal_bandwidth(nodes))
    steps, sphere, ball = 0, degree, 1
    while ball < nodes:
        ball += sphere
        sphere *= growth
        steps += 1
    return Cost(steps, optimal_bandwidth(nodes))


def all_to_all_bound(nodes: int, degree: int, links: Links = Links.UNIDIRECTIONAL) -> Fraction:
    """Return the lower bound on T_B of an all-to-all of this size, in M / B.

    Each rank has M / N bytes for every other.  At most d^i nodes lie at distance i, which bounds
    the sum D of the distances from a node from below.  The data of a node takes D M / N bytes on
    links in total, shared by its d links: T_B = D / N.  Two-way links, domain and errors as in
    `lower_bound`.

    >>> all_to_all_bound(1024, 4)
    Fraction(4667, 1024)
    """
    lower_bound(nodes, degree, links)
    growth = degree if links is Links.UNIDIRECTIONAL else degree - 1
    left, sphere, distance, total = nodes - 1, degree, 1, 0
    while left > 0:
        found = min(sphere, left)
        if growth == 1:
            # Spheres of constant size: q full spheres and a remainder in closed form.
            whole, rest = divmod(left, degree)
            return Fraction(degree * whole * (whole + 1) // 2 + rest * (whole + 1), nodes)
        total += distance * found
        left -= found
        sphere *= growth
        distance += 1
    return Fraction(total, nodes)


def expand_line_graph(cost: Cost, nodes: int, degree: int, times: int = 1) -> Cost:
    """Return an upper bound on the cost of the line graph taken ``times`` times.

    ``cost``, ``nodes`` and ``degree`` describe the original graph, which must be regular.  Proof
    and cases of equality: `synth.recipes.expansions.line_graph`.

    >>> expand_line_graph(Cost(3, Fraction(15, 16)), nodes=16, degree=4, times=3)
    Cost(steps=6, bandwidth=Fraction(261, 256))
    """
    extra = sum((Fraction(1, nodes * degree**i) for i in range(times)), Fraction(0))
    return Cost(cost.steps + times, cost.bandwidth + extra)


def expand_degree(cost: Cost, nodes: int, degree: int, factor: int) -> Cost:
    """Return an upper bound on the cost of the degree expansion by ``factor``.

    Conditions: `synth.recipes.expansions.degree_expansion`; two-way links suffice.

    >>> expand_degree(Cost(1, Fraction(1, 2)), nodes=2, degree=1, factor=4)
    Cost(steps=2, bandwidth=Fraction(7, 8))
    """
    if factor == 1:
        return cost
    return Cost(cost.steps + 1, cost.bandwidth + Fraction(factor - 1, factor * nodes))


def expand_product(costs: Sequence[Cost], nodes: Sequence[int]) -> Cost | None:
    """Return the cost of the Cartesian product, or None where no theorem applies.

    If every factor has the optimal bandwidth, so does the product, provided that all factors join
    neighbors by the same number of parallel links.  The caller checks the latter
    (`synth.recipes.expansions.cartesian_product`).

    >>> expand_product([Cost(3, Fraction(3, 4)), Cost(7, Fraction(7, 8))], [4, 8])
    Cost(steps=10, bandwidth=Fraction(31, 32))
    >>> expand_product([Cost(3, Fraction(1)), Cost(7, Fraction(7, 8))], [4, 8]) is None
    True
    """
    pairs = zip(costs, nodes, strict=True)
    if any(cost.bandwidth != optimal_bandwidth(count) for cost, count in pairs):
        return None
    return Cost(sum(cost.steps for cost in costs), optimal_bandwidth(prod(nodes)))
