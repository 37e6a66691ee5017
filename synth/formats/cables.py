"""Cables of a fabric with the rates and latencies that simulators need."""

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from topoloom.synth.errors import InvalidTopology
from topoloom.synth.topology.hops import hop_seconds
from topoloom.synth.topology.rates import UNITS, unit_bytes_per_second
from topoloom.synth.topology.topology import Capacity, Topology


@dataclass(frozen=True, slots=True)
class LinkModel:
    """Latency and rate of links, which a topology may not state and a simulator needs.

    Args:
        alpha_us: Latency of every link, in microseconds.  Default: the latencies that the topology
            states, or 10.
        node_gbps: Rate of one node over all its links, in Gbit/s.  Default: given by the unit of
            the topology, or 100 if the unit counts links.
    """

    alpha_us: Fraction | None = None
    node_gbps: Fraction | None = None

    def latency_us(self, topology: Topology, one: int, other: int) -> Fraction:
        """Return the latency of the links from one position to another, in microseconds.

        >>> pair = Topology("ab", ["ab"], latencies={("a", "b"): Fraction(1, 10**6)})
        >>> LinkModel().latency_us(pair, 0, 1), LinkModel(Fraction(2)).latency_us(pair, 0, 1)
        (Fraction(1, 1), Fraction(2, 1))
        """
        seconds = hop_seconds(topology, self.alpha_us)
        if seconds is None:
            seconds = topology.latencies[topology.nodes[one], topology.nodes[other]]
        return seconds * 10**6

    def one_latency_us(self, topology: Topology, form: str) -> Fraction:
        """Return the latency of all links, in microseconds; raise if links differ.

        >>> LinkModel().one_latency_us(Topology("ab", ["ab"]), "htsim")
        Fraction(10, 1)
        """
        ends = zip(topology.sources.tolist(), topology.targets.tolist(), strict=True)
        found = {self.latency_us(topology, *pair) for pair in ends}
        if len(found) > 1:
            raise InvalidTopology(
                "/links", f"must have one latency in {form}: state alpha_us, or write ns3"
            )
        return found.pop()


USUAL = LinkModel()
"""The model where no option states another."""


class Cable(NamedTuple):
    """A link each way between two nodes, given by position; ``gbps`` is Gbit/s per direction."""

    one: int
    other: int
    gbps: Fraction


def cables_of(topology: Topology, form: str, model: LinkModel) -> list[Cable]:
    """Return the cables of a topology, sorted by their nodes; parallel cables are several entries.

    Raises:
        InvalidTopology: A link has no opposite link of equal capacity and latency, links share a
            limit, or no node computes.

    >>> pair = Topology("ab", [("a", "b", 25), ("b", "a", 25)], bandwidth_unit="GB/s")
    >>> cables_of(pair, "ns3", LinkModel())
    [Cable(one=0, other=1, gbps=Fraction(200, 1))]
    """
    if topology.shared:
        raise InvalidTopology("/shared", f"must be empty: {form} has no limits of several links")
    if not topology.compute_nodes or not topology.link_count:
        raise InvalidTopology("/links", f"must join compute nodes: {form} simulates their messages")
    rate = unit_bytes_per_second(topology, model.node_gbps) * 8 / 10**9
    ways: dict[tuple[int, int], list[Capacity]] = defaultdict(list)
    ends = zip(topology.sources.tolist(), topology.targets.tolist(), strict=True)
    for pair, capacity in zip(ends, topology.capacities, strict=True):
        ways[pair].append(capacity)
    for (source, target), capacities in ways.items():
        if sorted(capacities) != sorted(ways.get((target, source), [])):
            names = topology.nodes[source], topology.nodes[target]
            raise InvalidTopology(
                "/links",
                f"must have as much capacity back from {names[1]} to {names[0]} for {form}, whose "
                "cables carry data both ways",
            )
        if model.latency_us(topology, source, target) != model.latency_us(topology, target, source):
            names = topology.nodes[source], topology.nodes[target]
            raise InvalidTopology(
                "/links", f"must have one latency between {names[0]} and {names[1]} in {form}"
            )
    return sorted(
        Cable(one, other, capacity * rate)
        for (one, other), capacities in ways.items()
        if one < other
        for capacity in capacities
    )


def hosts_first(topology: Topology) -> list[int]:
    """Return the positions of the compute nodes in order, then those of the switches.

    >>> hosts_first(Topology("sab", [], switches="s"))
    [1, 2, 0]
    """
    return sorted(
        range(topology.node_count), key=lambda at: topology.nodes[at] in topology.switches
    )


def assumptions(topology: Topology, model: LinkModel) -> list[str]:
    """Return sentences about the facts that the topology does not state.

    >>> assumptions(Topology("ab", [("a", "b"), ("b", "a")]), LinkModel())[0]
    'Every link has a latency of 10 us (alpha_us).'
    """
    made = []
    if (seconds := hop_seconds(topology, model.alpha_us)) is not None:
        made.append(f"Every link has a latency of {decimal(seconds * 10**6)} us (alpha_us).")
    if model.node_gbps is not None or topology.bandwidth_unit not in UNITS:
        unit = unit_bytes_per_second(topology, model.node_gbps) * 8 / 10**9
        made.append(f"A unit of capacity is {decimal(unit)} Gbit/s (node_gbps).")
    return made


def decimal(value: Fraction) -> str:
    """Return a number as a decimal, exact where 17 digits suffice.

    >>> decimal(Fraction(200)), decimal(Fraction(1, 8)), decimal(Fraction(1, 3))
    ('200', '0.125', '0.3333333333333333')
    """
    return str(value.numerator) if value.denominator == 1 else repr(float(value))
