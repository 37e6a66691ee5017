"""Rates of links: what one unit of capacity of a topology carries."""

import re
from collections import defaultdict
from fractions import Fraction

from topoloom.synth.topology.assumptions import Assumption
from topoloom.synth.topology.topology import Capacity, Topology

UNITS = {"GB/s": Fraction(10**9), "Gbit/s": Fraction(10**9, 8)}
"""The bytes/s of one unit of capacity, by unit of the fabric."""

_SPELLINGS = {
    "GB/s": re.compile(r"[Gg](B|[Bb]ytes?)(/[Ss]|/sec|ps)"),
    "Gbit/s": re.compile(r"[Gg](b|[Bb]its?|BIT)(/[Ss]|/sec|ps)"),
}
"""Usual spellings of the units; a capital B alone is a byte."""

DEFAULT_NODE_GBPS = 100


def unit_name(unit: str) -> str:
    """Return the name in `UNITS` of a unit that is spelled otherwise; others as they are.

    >>> unit_name("gbps"), unit_name("GB/S"), unit_name(" Gb/s"), unit_name("lanes")
    ('Gbit/s', 'GB/s', 'Gbit/s', 'lanes')
    """
    spelled = "".join(unit.split())
    return next((name for name, known in _SPELLINGS.items() if known.fullmatch(spelled)), unit)


def node_capacity(topology: Topology) -> Fraction:
    """Return B, the largest capacity into or out of any compute node.

    >>> node_capacity(Topology("abc", [("a", "b"), ("a", "c", Fraction(1, 2)), ("b", "a")]))
    Fraction(3, 2)
    """
    leaving: dict[int, Capacity] = defaultdict(int)
    entering: dict[int, Capacity] = defaultdict(int)
    ends = zip(topology.sources.tolist(), topology.targets.tolist(), strict=True)
    for (source, target), capacity in zip(ends, topology.capacities, strict=True):
        leaving[source] += capacity
        entering[target] += capacity
    computing = [topology.position[node] for node in topology.compute_nodes]
    return max(Fraction(max(leaving[at], entering[at])) for at in computing)


def unit_bytes_per_second(topology: Topology, node_gbps: Fraction | None = None) -> Fraction:
    """Return the rate of one unit of capacity of a topology, in bytes/s.

    Args:
        node_gbps: Maximum rate of one node over all ports together, in Gbit/s.  Default: given by
            the topology's unit, or 100 if the unit counts links.

    >>> unit_bytes_per_second(Topology("ab", [("a", "b", 4), ("b", "a", 4)]), Fraction(80))
    Fraction(2500000000, 1)
    """
    known = UNITS.get(topology.bandwidth_unit)
    if node_gbps is None and known is not None:
        return known
    node = DEFAULT_NODE_GBPS if node_gbps is None else node_gbps
    return Fraction(node) * 10**9 / 8 / node_capacity(topology)


def rate_assumptions(topology: Topology, *, stated: bool) -> tuple[Assumption, ...]:
    """Return the rate of a host that counts where neither the unit nor an option states one.

    >>> print(rate_assumptions(Topology("ab", [("a", "b"), ("b", "a")]), stated=False)[0].text)
    Capacities count links: a host sends 100 Gbit/s over all its ports.
    """
    if stated or topology.bandwidth_unit in UNITS:
        return ()
    unit = topology.bandwidth_unit
    known = " or ".join(UNITS)
    reason = "Capacities count links" if unit == "link" else f"The unit {unit!r} is not {known}"
    text = f"a host sends {DEFAULT_NODE_GBPS} Gbit/s over all its ports."
    return (Assumption(f"{reason}: {text}", "node_gbps"),)
