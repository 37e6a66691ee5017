"""Networks of ASTRA-sim's analytical back ends: products of rings, full meshes and switches."""

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from topoloom.synth.errors import InvalidTopology
from topoloom.synth.formats.cables import (
    USUAL,
    LinkModel,
    assumptions,
    cables_of,
    decimal,
)
from topoloom.synth.topology.topology import Topology

RING, MESH, SWITCH = "Ring", "FullyConnected", "Switch"
GBPS_PER_GB = Fraction(8 * 2**30, 10**9)
"""Gbit/s of one GB/s of ASTRA-sim, whose GB has 2^30 bytes."""

Joined: TypeAlias = dict[tuple[int, ...], Fraction]
"""Gbit/s of each cable between two hosts, and of each cable of the hosts of a switch.

The key has the ranks of the hosts in order, and -1 at the end for a switch."""


class Dimension(NamedTuple):
    """One factor of the product: its kind, its hosts, and the Gbit/s of each of its links."""

    kind: str
    size: int
    gbps: Fraction


def astra_sim(topology: Topology, model: LinkModel = USUAL) -> str:
    r"""Return a network of ASTRA-sim's analytical back ends, in YAML.

    The congestion-aware back end takes one dimension, the other back end several.  The first
    dimension joins hosts of neighboring numbers.  Source: astra-network-analytical, "input".

    >>> from topoloom.synth.recipes.build import build
    >>> from topoloom.synth.recipes.recipe import parse
    >>> print(astra_sim(build(parse("Torus(4, 3)"))).splitlines()[3])
    topology: [FullyConnected, Ring]

    Raises:
        InvalidTopology: The fabric is no product of rings, full meshes and switches over its
            numbered hosts, or its links have different latencies.
    """
    dimensions = dimensions_of(topology, model)
    latency = model.one_latency_us(topology, "astra-sim")
    notes = [*assumptions(topology, model), "Bandwidths are in GB/s of 2^30 bytes."]
    rates = (decimal(one.gbps / GBPS_PER_GB) for one in dimensions)
    rows = (
        ("topology", (one.kind for one in dimensions)),
        ("npus_count", (str(one.size) for one in dimensions)),
        ("bandwidth", rates),
        ("latency", (decimal(latency * 1000) for _ in dimensions)),
    )
    lines = [f"# {note}" for note in notes]
    lines += [f"{key}: [{', '.join(values)}]" for key, values in rows]
    return "\n".join(lines) + "\n"


def dimensions_of(topology: Topology, model: LinkModel) -> list[Dimension]:
    """Return the factors of a fabric, that of neighboring numbers first.

    O(F * L) for L links and F factorizations that fit the links of the first host.
    """
    joined, count = _joined(topology, model), len(topology.compute_nodes)
    row = {
        other: (SWITCH if hosts[-1] < 0 else "", gbps)
        for hosts, gbps in joined.items()
        for other in hosts[1:]
        if hosts[0] == 0 and other > 0
    }
    for found in _factors(row, 1, count):
        # The links of the first host decide most cases before the whole product is made.
        if sum(_neighbors(one) for one in found) == len(row) and _product(found) == joined:
            return found
    raise InvalidTopology(
        "/links",
        "must be a product of rings, full meshes and switches over hosts in order for astra-sim: "
        "write ns3, which takes any fabric",
    )


def _joined(topology: Topology, model: LinkModel) -> Joined:
    """Return the hosts that a cable or a switch joins, and the Gbit/s of the cables."""
    rank = {topology.position[node]: at for at, node in enumerate(topology.compute_nodes)}
    joined: Joined = defaultdict(Fraction)
    stars: dict[int, dict[int, Fraction]] = defaultdict(dict)
    for one, other, gbps in cables_of(topology, "astra-sim", model):
        if one in rank and other in rank:
            joined[rank[one], rank[other]] += gbps
            continue
        host, switch = (one, other) if one in rank else (other, one)
        if host not in rank or rank[host] in stars[switch]:
            raise InvalidTopology("/links", "must join each switch to hosts, once, in astra-sim")
        stars[switch][rank[host]] = gbps
    for switch, star in stars.items():
        if len({*star.values()}) > 1:
            name = topology.nodes[switch]
            raise InvalidTopology("/links", f"must be equally fast at {name} in astra-sim")
        joined[*sorted(star), -1] += min(star.values())
    return joined


def _factors(
    row: dict[int, tuple[str, Fraction]], stride: int, count: int
) -> Iterator[list[Dimension]]:
    """Yield the lists of dimensions that the links of the first host allow from a stride on."""
    if stride == count:
        yield []
        return
    link = row.get(stride)
    for size in range(2, count // stride + 1) if link else ():
        if count % (stride * size):
            continue
        steps = [row.get(stride * step) == link for step in range(1, size)]
        kinds = []
        if link and link[0]:
            kinds = [SWITCH] if all(steps) else []
        else:
            kinds += [RING] if size > 3 and steps[-1] else []
            kinds += [MESH] if all(steps) else []
        for kind in kinds:
            for rest in _factors(row, stride * size, count):
                yield [Dimension(kind, size, link[1] if link else Fraction(0)), *rest]


def _neighbors(one: Dimension) -> int:
    return 2 if one.kind == RING else one.size - 1


def _product(dimensions: list[Dimension]) -> Joined:
    """Return the Gbit/s of each pair of hosts of a product."""
    count = 1
    for one in dimensions:
        count *= one.size
    made: Joined = defaultdict(Fraction)
    stride = 1
    for kind, size, gbps in dimensions:
        steps = (1, size - 1) if kind == RING else range(1, size)
        for host in range(count):
            place = host // stride % size
            others = {host + ((place + step) % size - place) * stride for step in steps}
            if kind == SWITCH and place == 0:
                made[host, *sorted(others), -1] += gbps
            elif kind != SWITCH:
                made.update({(host, other): gbps for other in others if host < other})
        stride *= size
    return made
