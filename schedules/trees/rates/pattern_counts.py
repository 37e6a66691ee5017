"""Numbers of trees where several patterns of copies together reach the best rate.

The trees of each pattern have their own number per root and bandwidth.  The bandwidth that divides
all of these is that of one tree of the whole forest.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple

from topoloom.schedules.trees.flow.optimality import Rate, best_rate
from topoloom.schedules.trees.linear_program.pattern_parts import PatternPart
from topoloom.schedules.trees.rates.fewest_trees import least_trees


class PatternCounts(NamedTuple):
    """``trees_per_root`` k of the forest, and for each part its rate and the weight of a tree."""

    trees_per_root: int
    rates: tuple[Rate, ...]
    weights: tuple[int, ...]


def pattern_counts(parts: Sequence[PatternPart], rate: Fraction) -> PatternCounts:
    """Return the numbers of trees of parts that reach a rate together.

    Args:
        rate: Of a shard of size 1, in the unit of the divided network.

    Half of the data of a butterfly's sender takes each of three trees, so that k is 3:

    >>> from topoloom.schedules.trees.flow.demand import demand_of
    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.schedules.trees.linear_program.copy_patterns import pattern_division
    >>> from topoloom.synth.topology.topology import Topology
    >>> wires = ["su", "sv", "ua", "vb", "um", "vm", "mn", "na", "nb"]
    >>> butterfly = Topology("sabuvmn", map(tuple, wires), switches="uvmn", multicast="uvmn")
    >>> network = network_of(butterfly, demand_of(butterfly, root="s"))
    >>> found = pattern_division(network, (3, 4, 5, 6))
    >>> counts = pattern_counts(found.parts, found.rate)
    >>> counts.trees_per_root, counts.weights
    (3, (1, 1, 1))
    """
    rates, bandwidths = [], []
    for part in parts:
        best = best_rate(part.network)
        trees = least_trees(part.network, best).trees
        rates.append(Rate(best.inverse * trees, trees, best.inside))
        bandwidths.append(part.share / trees)
    scale = lcm(*(one.denominator for one in bandwidths))
    whole = [int(one * scale) for one in bandwidths]
    common = gcd(*whole)
    return PatternCounts(
        int(rate * scale / common), tuple(rates), tuple(one // common for one in whole)
    )
