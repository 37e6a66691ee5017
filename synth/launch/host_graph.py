"""The graph of hosts: the compute nodes of one box are one vertex, each switch is another."""

import re
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.errors import InvalidTopology
from topoloom.synth.topology.topology import Capacity, NodeId, Topology

Arc = tuple[int, int]

MAX_HOSTS = 4096
"""Most hosts of an order: the distances of all pairs are held in memory."""

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?")
_NUMBER = re.compile(r"[0-9]+(?:-[0-9]+)?")
_IN_BOX = re.compile(r"(.+)\.gpu([0-9]+)")
_TRAYS = {"gb200-nvl72": 4, "gb300-nvl72": 4, "gh200-nvl32": 2}
"""GPUs of one host in racks whose box is the rack, by the name of the fabric."""


@dataclass(frozen=True)
class HostGraph:
    """Hosts and switches with their joint capacities; vertices are hosts, then switches.

    Args:
        hosts: The compute nodes of each host, in the order of the topology.
        labels: The id of each host: the id of its node, or the part before ``.gpu``.
        capacities: Arc between two vertices -> its capacity; parallel links add up.
        limits: Arcs that share a capacity, and that capacity.
        vertices: Number of hosts and switches.
    """

    hosts: tuple[tuple[NodeId, ...], ...]
    labels: tuple[str, ...]
    capacities: dict[Arc, Capacity]
    limits: tuple[tuple[tuple[Arc, ...], Capacity], ...]
    vertices: int

    @cached_property
    def successors(self) -> tuple[tuple[int, ...], ...]:
        """The vertices that each vertex sends to, ascending."""
        found: list[list[int]] = [[] for _ in range(self.vertices)]
        for source, target in sorted(self.capacities):
            found[source].append(target)
        return tuple(map(tuple, found))

    @cached_property
    def hops(self) -> NDArray[Any]:
        """The number of links from every vertex (column) to every host (row)."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import dijkstra

        arcs = np.array(list(self.capacities) or np.empty((0, 2)), np.int64)
        shape = (self.vertices, self.vertices)
        backward = csr_array((np.ones(len(arcs)), (arcs[:, 1], arcs[:, 0])), shape)
        return dijkstra(backward, unweighted=True, indices=range(len(self.hosts)))


def host_graph(topology: Topology) -> HostGraph:
    """Return the graph of the hosts of a topology.

    Compute nodes ``"<box>.gpu<i>"`` are in the host ``<box>``, in NVL72 racks in the host
    ``<box>-<tray>``; every other compute node is a host.

    >>> from topoloom.synth.fabrics import fabric
    >>> graph = host_graph(fabric("dgx-a100-2"))
    >>> graph.labels, len(graph.hosts[0]), graph.vertices
    (('0', '1'), 8, 6)

    Raises:
        InvalidTopology: There are more than `MAX_HOSTS` hosts, or two hosts cannot reach each
            other.
    """
    topology.require_connected()
    members: dict[str, list[NodeId]] = defaultdict(list)
    per_tray = next((n for rack, n in _TRAYS.items() if topology.name.startswith(rack)), None)
    for node in topology.compute_nodes:
        match = _IN_BOX.fullmatch(str(node))
        label = str(node) if match is None else match[1]
        if match is not None and per_tray is not None:
            label += f"-{int(match[2]) // per_tray}"
        members[label].append(node)
    if len(members) > MAX_HOSTS:
        raise InvalidTopology("/nodes", f"must be on at most {MAX_HOSTS} hosts to be ordered")
    groups = [*members.values(), *([node] for node in topology.nodes if node in topology.switches)]
    vertex = {node: index for index, group in enumerate(groups) for node in group}
    capacities: dict[Arc, Capacity] = defaultdict(int)
    for link in topology.links:
        arc = (vertex[link.source], vertex[link.target])
        if arc[0] != arc[1]:
            capacities[arc] += Fraction(link.capacity)
    limits = tuple(
        (
            tuple({(vertex[one], vertex[other]) for one, other in shared.links}),
            shared.capacity,
        )
        for shared in topology.shared
    )
    return HostGraph(
        tuple(map(tuple, members.values())), tuple(members), dict(capacities), limits, len(groups)
    )


def switch_names(topology: Topology) -> list[str]:
    """Return the ids of the switches in the order of their vertices.

    >>> from topoloom.synth.fabrics import fabric
    >>> switch_names(fabric("dgx-a100-2"))
    ['0.nvswitch', '1.nvswitch', 'plane0', 'plane1']
    """
    return [str(node) for node in topology.nodes if node in topology.switches]


def host_names(graph: HostGraph, prefix: str = "") -> list[str]:
    """Return the names of the hosts: their labels after a prefix.

    Raises:
        InvalidTopology: A label holds a character that host names do not have.
    """
    names = [prefix + label for label in graph.labels]
    for name in names:
        if _NAME.fullmatch(name) is None:
            raise InvalidTopology(
                "/nodes", f"must have ids of letters, digits and . _ - as host names; not {name!r}"
            )
    return names


def are_numbers(graph: HostGraph) -> bool:
    """Return whether all hosts are numbers, which name no host."""
    return all(_NUMBER.fullmatch(label) for label in graph.labels)
