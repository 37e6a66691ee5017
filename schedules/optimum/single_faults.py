"""Single faults of a fabric: one of each kind, with the number of equivalent faults.

Faults that an automorphism maps to each other leave the same optimum, so one of them suffices.
The kinds are the orbits of pairs of joined nodes, of hosts and of switches under the automorphisms
of the fabric, computed from its structure (`schedules.trees.symmetry.automorphisms`).  A network
card is a link where it joins a GPU to the network directly, and a switch where it is a node.
"""

from collections.abc import Collection, Iterator
from typing import Literal, NamedTuple, TypeAlias

from topoloom.schedules.errors import TooLarge
from topoloom.schedules.options import Options
from topoloom.schedules.trees.flow.demand import demand_of
from topoloom.schedules.trees.flow.network import Network, network_of
from topoloom.schedules.trees.symmetry.automorphisms import Ints, arc_images, generators, orbits
from topoloom.synth.topology.degrade import MOST_PAIRS, joined_pairs
from topoloom.synth.topology.topology import NodeId, Topology

FaultPart: TypeAlias = Literal["link", "host", "switch"]
FAULT_PARTS: tuple[FaultPart, ...] = ("link", "host", "switch")


class FaultKind(NamedTuple):
    """A lost node, or two nodes without the links between them; ``alike`` equivalent faults."""

    part: FaultPart
    lost: tuple[NodeId, ...]
    alike: int


def fault_kinds(
    topology: Topology, options: Options | None = None, parts: Collection[FaultPart] = FAULT_PARTS
) -> list[FaultKind]:
    """Return one fault of each kind, in the order of `FAULT_PARTS` and of the topology.

    Args:
        topology: Any fabric.
        options: As for the optimum: nodes are equivalent only if their shards have equal sizes and
            all or none of them take part.
        parts: Kinds of parts that may fail.

    Raises:
        TooLarge: More than `synth.topology.degrade.MOST_PAIRS` pairs of nodes are joined.
        InvalidTopology, NoSchedule: As `schedules.trees.rates.topology_rate`.

    >>> star = Topology("abcs", [x + "s" for x in "abc"] + ["s" + x for x in "abc"], switches="s")
    >>> fault_kinds(star)  # doctest: +NORMALIZE_WHITESPACE
    [FaultKind(part='link', lost=('a', 's'), alike=3), FaultKind(part='host', lost=('a',), alike=3),
     FaultKind(part='switch', lost=('s',), alike=1)]
    """
    network, images = _symmetry(topology, options or Options())
    found = [FaultKind("link", pairs[0], len(pairs)) for pairs in _pairs(network, topology, images)]
    found += _nodes(network, topology, images)
    found.sort(key=lambda kind: FAULT_PARTS.index(kind.part))
    return [kind for kind in found if kind.part in parts]


def link_kinds(topology: Topology, options: Options) -> list[list[tuple[NodeId, NodeId]]]:
    """Return the pairs of joined nodes, grouped by equivalence.

    Parameters and errors as of `fault_kinds`.

    >>> star = Topology("abs", ["as", "bs", "sa", "sb"], switches="s")
    >>> link_kinds(star, Options()), link_kinds(star, Options(root="a"))
    ([[('a', 's'), ('b', 's')]], [[('a', 's')], [('b', 's')]])
    """
    network, images = _symmetry(topology, options)
    return list(_pairs(network, topology, images))


def _symmetry(topology: Topology, options: Options) -> tuple[Network, list[Ints]]:
    """Return the network, and the automorphisms that preserve the options."""
    if (pairs := joined_pairs(topology)) > MOST_PAIRS:
        raise TooLarge("/topology", f"joins {pairs} pairs of nodes; at most {MOST_PAIRS}")
    demand = demand_of(topology, options.shards, options.participants, options.root)
    network, ranks = network_of(topology, demand), set(demand.ranks)
    colors = [
        (node in topology.switches, node in topology.multicast, node in ranks, size)
        for node, size in zip(topology.nodes, network.sizes.tolist(), strict=True)
    ]
    return network, generators(network, colors)


def _pairs(
    network: Network, topology: Topology, images: list[Ints]
) -> Iterator[list[tuple[NodeId, NodeId]]]:
    """Yield the kinds of pairs: automorphisms map the pairs of arcs to each other."""
    numbers = orbits(len(network.tail), arc_images(network, images)).tolist()
    members: dict[tuple[int, int], set[int]] = {}
    for arc, ends in enumerate(zip(network.tail.tolist(), network.head.tolist(), strict=True)):
        low, high = sorted(ends)
        members.setdefault((low, high), set()).add(numbers[arc])
    alike: dict[int, list[tuple[int, int]]] = {}
    for pair, orbit in members.items():
        alike.setdefault(min(orbit), []).append(pair)
    nodes = topology.nodes
    for pairs in alike.values():
        yield [(nodes[one], nodes[other]) for one, other in pairs]


def _nodes(network: Network, topology: Topology, images: list[Ints]) -> Iterator[FaultKind]:
    alike: dict[int, list[NodeId]] = {}
    numbers = orbits(network.node_count, images).tolist()
    for number, node in zip(numbers, topology.nodes, strict=True):
        alike.setdefault(number, []).append(node)
    for nodes in alike.values():
        part: FaultPart = "switch" if nodes[0] in topology.switches else "host"
        yield FaultKind(part, (nodes[0],), len(nodes))
