"""Routings of an all-to-all on a topology: the fastest, that of the fewest hops, and a bound."""

from dataclasses import dataclass
from fractions import Fraction

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.routes.all_to_all import AllToAll, optimum, shortest
from topoloom.synth.topology.rates import node_capacity
from topoloom.synth.topology.topology import Topology


@dataclass(frozen=True, slots=True)
class RoutingChoice:
    """A routing: its method, its largest number of hops, and its time per unit of data.

    ``inverse_rate`` is in 1 / (bandwidth unit), with every node sending one unit to every other.
    """

    method: str
    hops: int
    inverse_rate: Fraction


@dataclass(frozen=True, slots=True)
class AllToAllChoices:
    """The routings and the bound of an all-to-all on a topology of ``nodes`` compute nodes.

    Attributes:
        lower: Lower bound on the inverse rate of any routing.
        unit: Factor from an inverse rate to T_B, in units of M / B: capacity of a node over compute
            nodes.
        ways: The routing with the fewest hops, then the fastest if different.

    >>> direct = RoutingChoice("shortest-paths", 1, Fraction(1))
    >>> pair = AllToAllChoices(2, Fraction(1), Fraction(1, 2), (direct,))
    >>> pair.proved, pair.gap, pair.bandwidth_bound
    (True, Fraction(0, 1), Fraction(1, 2))
    """

    nodes: int
    lower: Fraction
    unit: Fraction
    ways: tuple[RoutingChoice, ...]

    @property
    def best(self) -> RoutingChoice:
        """The fastest routing for large messages."""
        return self.ways[-1]

    @property
    def proved(self) -> bool:
        """Whether the fastest routing reaches the bound."""
        return self.best.inverse_rate == self.lower

    @property
    def gap(self) -> Fraction:
        """The largest possible excess of the fastest routing over the optimum, as a share."""
        return self.best.inverse_rate / self.lower - 1

    @property
    def algbw(self) -> Fraction:
        """Data of all nodes per unit of time, in the bandwidth unit of the topology."""
        return self.nodes / self.best.inverse_rate

    @property
    def bandwidth_bound(self) -> Fraction:
        """Lower bound on T_B of any routing on this topology, in units of M / B."""
        return self.lower * self.unit

    def bandwidth(self, way: RoutingChoice) -> Fraction:
        """Return T_B of a routing, in units of M / B."""
        return way.inverse_rate * self.unit


def routing_choices(topology: Topology) -> AllToAllChoices:
    """Return the best all-to-all of a topology, and the one with the fewest hops if different.

    Raises:
        Unreachable, InvalidTopology, TooLarge: As `schedules.routes.all_to_all.optimum`.
        NoSchedule: Links of the topology share a limit.

    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> found = routing_choices(ring)
    >>> found.best.inverse_rate, found.proved, len(found.ways)
    (Fraction(3, 1), True, 1)
    """
    if topology.shared:
        raise NoSchedule("/topology", "has links that share a limit, unsupported by all-to-all")
    found, near = optimum(topology), shortest(topology)
    chosen = [near, found] if found.inverse_rate < near.inverse_rate else [near]
    nodes = chosen[-1].compute_nodes
    return AllToAllChoices(
        nodes,
        max(found.lower, near.lower),
        node_capacity(topology) / nodes,
        tuple(_way(one) for one in chosen),
    )


def _way(found: AllToAll) -> RoutingChoice:
    return RoutingChoice(found.method, found.hops, found.inverse_rate)
