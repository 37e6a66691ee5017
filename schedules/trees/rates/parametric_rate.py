"""What more or less of some links would bring: the best rate, followed along a line of capacities.

The best rate of a network is a concave function of its capacities, made of linear pieces: the
least over all *ceilings*, functions that no schedule passes.  A cut S is one, the capacity of
what leaves it by data / w(S); so is a `proof`, with the weights of its links.  The dual optima
of the network are the ceilings that its best rate touches, and the slope of the rate to one
side is the least of theirs along it.
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
from topoloom.schedules.trees.rates.balanced_capacities import balanced
from topoloom.synth.topology.topology import NodeId


class Ceiling(NamedTuple):
    """``algbw`` is the best rate of some capacities, in the topology's unit, and reached.

    Whatever the capacity of arc e is raised or lowered by, the rate changes by at most the sum
    of that times ``weights[e]``.
    """

    algbw: Fraction
    weights: tuple[Fraction, ...]

    def along(self, arcs: Iterable[int]) -> Fraction:
        """Return by how much it rises where each of these arcs is raised by 1."""
        return sum((self.weights[arc] for arc in arcs), Fraction(0))

    def above(self, amounts: Mapping[int, Fraction]) -> Fraction:
        """Return what it is where arcs are raised by these amounts."""
        raised = (self.weights[arc] * amount for arc, amount in amounts.items())
        return sum(raised, self.algbw)


CeilingOf: TypeAlias = Callable[[Network], Ceiling]


class Margin(NamedTuple):
    """How the best rate goes on along a line: by ``slope`` at first, to ``algbw`` at its end."""

    slope: Fraction
    algbw: Fraction


def of_pass(network: Network, copying: tuple[int, ...] = ()) -> Ceiling:
    """Return the ceiling of an allgather or broadcast that its best rate touches.

    ``copying`` are nodes that copy.

    Raises
    ------
    NoSchedule, TooLarge, TookTooLong
        As `balance.balanced`.

    Examples
    --------
    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.synth.topology.topology import Topology
    >>> ring = network_of(Topology(range(3), [(0, 1, 2), (1, 2, 3), (2, 0, 4)]))
    >>> of_pass(ring)  # node 1 takes in 2, and wants two thirds of all data
    Ceiling(algbw=Fraction(3, 1), weights=(Fraction(3, 2), Fraction(0, 1), Fraction(0, 1)))
    """
    within = balanced(network, copying)
    if within.bound is not None:
        raise NoSchedule("/values", "are not known: nothing is known to reach the bound")
    proof = within.proof
    if proof is not None:
        return Ceiling(proof.rate * network.unit, proof.weights)
    inside = best_rate(network).inside
    weight = Fraction(network.data, data_inside(network, inside))
    leaving = inside[network.tail] & ~inside[network.head]
    room = int(network.capacity[leaving].sum()) * network.unit
    none = Fraction(0)
    return Ceiling(weight * room, tuple([weight if out else none for out in leaving.tolist()]))


def of_allreduce(copying: tuple[int, ...], names: tuple[NodeId, ...]) -> CeilingOf:
    """Return what gives the ceilings of an allreduce; ``copying`` are nodes that copy and add up.

    Where its best rate is not known to be reached, that raises NoSchedule.
    """

    def ceiling(network: Network) -> Ceiling:
        bound = bound_within(network, copying, names)
        if bound.feasible < bound.rate:
            raise NoSchedule("/values", "are not known: nothing is known to reach the bound")
        return Ceiling(bound.rate, bound.proof.weights)

    return ceiling


def raised(network: Network, amounts: Mapping[int, Fraction]) -> Network:
    """Return the network with some arcs changed by amounts in the topology's unit.

    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.synth.topology.topology import Topology
    >>> ring = network_of(Topology("ab", [("a", "b", 2), ("b", "a", 4)]))
    >>> other = raised(ring, {0: Fraction(-1, 2)})
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


class Rates:
    """The best rates of a network and of those with other capacities, with all ceilings known.

    Parameters
    ----------
    network : Network
    ceiling_of : callable
        Gives the ceiling that the best rate of a network touches.
    reached : callable, optional
        A rate that a network reaches, and that takes less time to tell: where a known ceiling is
        no higher, that is the best.

    Raises
    ------
    NoSchedule, TooLarge, TookTooLong
        Whatever ``ceiling_of`` raises of the network itself.

    Examples
    --------
    One more unit into node 1 helps until node 2 is the narrowest:

    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.synth.topology.topology import Topology
    >>> ring = network_of(Topology(range(3), [(0, 1, 2), (1, 2, 3), (2, 0, 4)]))
    >>> rates = Rates(ring, of_pass)
    >>> rates.algbw, rates.followed([0], Fraction(2))
    (Fraction(3, 1), Margin(slope=Fraction(3, 2), algbw=Fraction(9, 2)))
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
        # Each with its height over the capacities of the network itself.
        self._ceilings = [base]

    def at(self, amounts: Mapping[int, Fraction]) -> Ceiling | None:
        """Return the best rate where arcs are raised by amounts, and the ceiling touched there.

        None where it is not known exactly.
        """
        lowest = min(self._ceilings, key=lambda one: one.above(amounts))
        height = lowest.above(amounts)
        never_less = min(amounts.values()) >= 0
        if never_less and height == self.algbw:
            return Ceiling(height, lowest.weights)
        try:
            network = raised(self.network, amounts)
            if self._reached is not None and self._reached(network) == height:
                return Ceiling(height, lowest.weights)
            found = self._ceiling_of(network)
        except (NoSchedule, TooLarge, TookTooLong):
            return None
        back = {arc: -amount for arc, amount in amounts.items()}
        self._ceilings.append(Ceiling(found.above(back), found.weights))
        return found

    def followed(self, arcs: Collection[int], length: Fraction) -> Margin | None:
        """Follow the best rate where arcs are raised, or with ``length`` < 0 lowered, together.

        Parameters
        ----------
        arcs : collection of int
            All raised by the same amount.
        length : Fraction
            How far, in the topology's unit; their capacities stay above 0.

        Returns
        -------
        Margin or None
            ``slope`` is the one-sided derivative at the start, by each unit more, or less; of
            lowered capacities it is not positive.  None where `at` knows no answer on the way.

        Notes
        -----
        The ceiling touched at the end, if it is touched at the start too, is the rate between,
        for that is concave.  Otherwise it crosses the lowest one known of the start, and there is
        looked next: each time a piece nearer the start.
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
                return Margin(slope, end)
            if start == self.algbw:
                return Margin(own, end)
            at = (start - self.algbw) / (slope - own)
