"""The best rate of a network along a line of capacities: the value of more or less of some links.

The best rate of a network is a concave, piecewise linear function of its capacities: the minimum
over all *ceilings*, linear upper bounds of every schedule.  A cut S is a ceiling, with the capacity
out of S times data / w(S); so is a certificate, with the weights of its links.  The dual optima of
the network are the ceilings that equal its best rate.  The one-sided slope of the rate is the
minimum of their slopes.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple, TypeAlias

import numpy as np

from topoloom.schedules.errors import NoSchedule, TookTooLong, TooLarge
from topoloom.schedules.trees.flow.network import Network, guard
from topoloom.schedules.trees.flow.optimality import best_rate, data_inside
from topoloom.schedules.trees.rates.allreduce_rate import bound_within
from topoloom.schedules.trees.rates.balanced_capacities import usable_network
from topoloom.synth.topology.topology import NodeId


class Ceiling(NamedTuple):
    """A ceiling that the best rate ``algbw``, in the topology's unit, reaches.

    If the capacities of arcs e change, the rate rises by at most the sum of each change times
    ``weights[e]``.
    """

    algbw: Fraction
    weights: tuple[Fraction, ...]

    def along(self, arcs: Iterable[int]) -> Fraction:
        """Return the slope if each of these arcs is raised by 1."""
        return sum((self.weights[arc] for arc in arcs), Fraction(0))

    def above(self, amounts: Mapping[int, Fraction]) -> Fraction:
        """Return the value if arcs are raised by these amounts."""
        raised = (self.weights[arc] * amount for arc, amount in amounts.items())
        return sum(raised, self.algbw)


CeilingOf: TypeAlias = Callable[[Network], Ceiling]


class RateSlope(NamedTuple):
    """The best rate along a line: its first slope ``slope``, and ``algbw`` at the end."""

    slope: Fraction
    algbw: Fraction


def pass_ceiling(network: Network, copying: tuple[int, ...] = ()) -> Ceiling:
    """Return the ceiling of an allgather or broadcast that the best rate reaches.

    ``copying`` are nodes that copy.

    Raises:
        NoSchedule, TooLarge, TookTooLong: As `balanced_capacities.usable_network`.

    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.synth.topology.topology import Topology
    >>> ring = network_of(Topology(range(3), [(0, 1, 2), (1, 2, 3), (2, 0, 4)]))
    >>> pass_ceiling(ring)  # node 1 takes in 2, and wants two thirds of all data
    Ceiling(algbw=Fraction(3, 1), weights=(Fraction(3, 2), Fraction(0, 1), Fraction(0, 1)))
    """
    within = usable_network(network, copying)
    if within.bound is not None:
        raise NoSchedule("/values", "are unknown: no schedule is known to reach the bound")
    proof = within.proof
    if proof is not None:
        return Ceiling(proof.rate * network.unit, proof.weights)
    inside = best_rate(network).inside
    weight = Fraction(network.data, data_inside(network, inside))
    leaving = inside[network.tail] & ~inside[network.head]
    room = int(network.capacity[leaving].sum()) * network.unit
    none = Fraction(0)
    return Ceiling(weight * room, tuple([weight if out else none for out in leaving.tolist()]))


def allreduce_ceiling(copying: tuple[int, ...], names: tuple[NodeId, ...]) -> CeilingOf:
    """Return the function from networks to ceilings of an allreduce.

    ``copying`` are nodes that copy and reduce.  The function raises NoSchedule where the best rate
    is not known to be reached.
    """

    def ceiling(network: Network) -> Ceiling:
        bound = bound_within(network, copying, names)
        if bound.feasible < bound.rate:
            raise NoSchedule("/values", "are unknown: no schedule is known to reach the bound")
        return Ceiling(bound.rate, bound.proof.weights)

    return ceiling


def raised_capacities(network: Network, amounts: Mapping[int, Fraction]) -> Network:
    """Return the network with some arcs changed by amounts in the topology's unit.

    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.synth.topology.topology import Topology
    >>> ring = network_of(Topology("ab", [("a", "b", 2), ("b", "a", 4)]))
    >>> other = raised_capacities(ring, {0: Fraction(-1, 2)})
    >>> other.capacity.tolist(), other.unit
    ([3, 8], Fraction(1, 2))
    """
    steps = {arc: amount / network.unit for arc, amount in amounts.items()}
    scale = lcm(*(step.denominator for step in steps.values()))
    whole = [capacity * scale for capacity in network.capacity.tolist()]
    for arc, step in steps.items():
        whole[arc] += int(step * scale)
    limits = [one.capacity * scale for one in network.shared]
    common = gcd(*whole, *limits)
    guard(sum(whole) // common + sum(limits) // common)
    return replace(
        network,
        capacity=np.array([capacity // common for capacity in whole], np.int64),
        unit=network.unit * common / scale,
        shared=tuple(
            one._replace(capacity=limit // common)
            for one, limit in zip(network.shared, limits, strict=True)
        ),
    )


class ParametricRates:
    """The best rates of a network under changed capacities, with all known ceilings.

    Args:
        ceiling_of: Returns the ceiling that the best rate of a network reaches.
        reached: Returns a feasible rate of a network, faster to compute: if a known ceiling is no
            higher, that rate is the best.

    Raises:
        NoSchedule, TooLarge, TookTooLong: As ``ceiling_of`` raises for the network itself.

    One more unit into node 1 helps until node 2 is the bottleneck:

    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.synth.topology.topology import Topology
    >>> ring = network_of(Topology(range(3), [(0, 1, 2), (1, 2, 3), (2, 0, 4)]))
    >>> rates = ParametricRates(ring, pass_ceiling)
    >>> rates.algbw, rates.followed([0], Fraction(2))
    (Fraction(3, 1), RateSlope(slope=Fraction(3, 2), algbw=Fraction(9, 2)))
    """

    def __init__(
        self,
        network: Network,
        ceiling_of: CeilingOf,
        reached: Callable[[Network], Fraction] | None = None,
    ) -> None:
        self.network = network
        self._ceiling_of, self._reached = ceiling_of, reached
        base = ceiling_of(network)
        self.algbw = base.algbw
        # Each with its value above the capacities of the network itself.
        self._ceilings = [base]

    def at(self, amounts: Mapping[int, Fraction]) -> Ceiling | None:
        """Return the ceiling of the best rate where arcs are raised by amounts.

        None if the rate is not known exactly.
        """
        lowest = min(self._ceilings, key=lambda one: one.above(amounts))
        height = lowest.above(amounts)
        never_less = min(amounts.values()) >= 0
        if never_less and height == self.algbw:
            return Ceiling(height, lowest.weights)
        try:
            network = raised_capacities(self.network, amounts)
            if self._reached is not None and self._reached(network) == height:
                return Ceiling(height, lowest.weights)
            found = self._ceiling_of(network)
        except (NoSchedule, TooLarge, TookTooLong):
            return None
        back = {arc: -amount for arc, amount in amounts.items()}
        self._ceilings.append(Ceiling(found.above(back), found.weights))
        return found

    def followed(self, arcs: Collection[int], length: Fraction) -> RateSlope | None:
        """Follow the best rate where arcs are raised together, or lowered with ``length`` < 0.

        Args:
            arcs: All raised by the same amount.
            length: Length of the line, in the topology's unit; capacities remain above 0.

        Returns:
            ``slope`` is the one-sided derivative at the start, per unit raised or lowered; it is at
            most 0 for lowered capacities.  None where `at` returns None on the line.

        If the ceiling at the end also holds with equality at the start, it is the rate between, by
        concavity.  Otherwise the next evaluation is at its intersection with the lowest known
        ceiling of the start: each time a piece closer to the start.
        """
        sign = 1 if length > 0 else -1
        here = [one for one in self._ceilings if one.algbw == self.algbw]
        slope = min(sign * one.along(arcs) for one in here)
        at, end = abs(length), None
        while True:
            found = self.at(dict.fromkeys(arcs, sign * at))
            if found is None:
                return None
            end = found.algbw if end is None else end
            own = sign * found.along(arcs)
            start = found.algbw - own * at
            if found.algbw == self.algbw + slope * at:
                return RateSlope(slope, end)
            if start == self.algbw:
                return RateSlope(own, end)
            at = (start - self.algbw) / (slope - own)
