"""What an all-to-all takes on a topology: the fastest routing, the one of fewest hops, a bound."""

from dataclasses import dataclass
from fractions import Fraction

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.routes.all_to_all import AllToAll, optimum, shortest
from topoloom.schedules.verify.costs import node_capacity
from topoloom.synth.topology.topology import Topology

__all__ = ["Exchange", "Way", "exchange"]


@dataclass(frozen=True, slots=True)
class Way:
    """One routing: how it was found, its most hops, and its time per unit of data.

    ``inverse_rate`` is in 1 / (bandwidth unit), every node sending one unit to every other.
    """

    method: str
    hops: int
    inverse_rate: Fraction


@dataclass(frozen=True, slots=True)
class Exchange:
    """What can be said of all-to-all on a topology of so many compute nodes.

    Attributes
    ----------
    lower : Fraction
        The inverse rate that no routing can undercut.
    unit : Fraction
        What turns an inverse rate into T_B, in units of M / B: capacity of a node over
        compute nodes.
    ways : tuple of Way
        The one of fewest hops, then the fastest if that is another.

    >>> pair = Exchange(2, Fraction(1), Fraction(1, 2), (Way("shortest-paths", 1, Fraction(1)),))
    >>> pair.proved, pair.gap, pair.bandwidth_bound
    (True, Fraction(0, 1), Fraction(1, 2))
    """

    nodes: int
    lower: Fraction
    unit: Fraction
    ways: tuple[Way, ...]

    @property
    def best(self) -> Way:
        """The fastest routing for much data."""
        return self.ways[-1]

    @property
    def proved(self) -> bool:
        """Whether the fastest routing meets the bound."""
        return self.best.inverse_rate == self.lower

    @property
    def gap(self) -> Fraction:
        """By what share of the bound the fastest routing may miss the optimum at most."""
        return self.best.inverse_rate / self.lower - 1

    @property
    def algbw(self) -> Fraction:
        """Data of all nodes per unit of time, in the bandwidth unit of the topology."""
        return self.nodes / self.best.inverse_rate

    @property
    def bandwidth_bound(self) -> Fraction:
        """T_B that no routing on this topology can undercut, in units of M / B."""
        return self.lower * self.unit

    def bandwidth(self, way: Way) -> Fraction:
        """Return T_B of a routing, in units of M / B."""
        return way.inverse_rate * self.unit


def exchange(topology: Topology) -> Exchange:
    """Return the best all-to-all of a topology, and the one of fewest hops where it differs.

    Raises
    ------
    Unreachable, InvalidTopology, TooLarge
        As `schedules.routes.all_to_all.optimum`.
    NoSchedule
        Links of the topology share a limit.

    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> found = exchange(ring)
    >>> found.best.inverse_rate, found.proved, len(found.ways)
    (Fraction(3, 1), True, 1)
    """
    if topology.shared:
        raise NoSchedule("/topology", "has links that share a limit, which no all-to-all knows")
    found, near = optimum(topology), shortest(topology)
    chosen = [near, found] if found.inverse_rate < near.inverse_rate else [near]
    nodes = chosen[-1].compute_nodes
    return Exchange(
        nodes,
        max(found.lower, near.lower),
        node_capacity(topology) / nodes,
        tuple(_way(one) for one in chosen),
    )


def _way(found: AllToAll) -> Way:
    return Way(found.method, found.hops, found.inverse_rate)
