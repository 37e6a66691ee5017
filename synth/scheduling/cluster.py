"""A cluster as schedulers see it: host names, levels of switches, blocks and, maybe, a torus."""

from dataclasses import dataclass

from topoloom.synth.launch.host_graph import (
    HostGraph,
    are_numbers,
    host_graph,
    host_names,
    switch_names,
)
from topoloom.synth.scheduling.blocks import Blocks, blocks, capacity_between
from topoloom.synth.scheduling.hierarchy import Group, hierarchy
from topoloom.synth.scheduling.torus import Dims, torus_dims
from topoloom.synth.topology.topology import Capacity, Topology


@dataclass(frozen=True, slots=True)
class Cluster:
    """The hosts of a topology in groups.

    Args:
        name: Name of the topology; may be empty.
        unit: Unit of capacities.
        names: Names of the hosts.
        levels: Groups below the switches of each level, from the leaves up; empty without switches.
        parts: The blocks, as indices of hosts.
        between: The capacity of the links that leave blocks, in total.
        torus: The sides of the three-dimensional torus that the hosts are.
    """

    name: str
    unit: str
    names: tuple[str, ...]
    levels: list[list[Group]]
    parts: Blocks
    between: Capacity
    torus: Dims | None

    def hosts(self, indices: tuple[int, ...]) -> str:
        """Return names of hosts, separated by commas."""
        return ",".join(self.names[index] for index in indices)

    @property
    def comment(self) -> str:
        """The sentence on the blocks, for comments in files."""
        sizes = sorted({len(part) for part in self.parts})
        hosts = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
        count = f"{len(self.parts)} block{'s' if len(self.parts) > 1 else ''}"
        leaving = f"{float(self.between):.6g} {self.unit}"
        return f"{count} of {hosts} hosts; links that leave blocks have {leaving} in total."


def cluster_of(topology: Topology) -> Cluster:
    """Return the cluster of a topology.

    >>> from topoloom.synth.fabrics import fabric
    >>> cluster_of(fabric("fat-tree-4")).comment
    '8 blocks of 2 hosts; links that leave blocks have 16 link in total.'

    Raises:
        InvalidTopology: A node has no id that can be a host name, or hosts cannot reach each other.
    """
    graph: HostGraph = host_graph(topology)
    parts = blocks(graph)
    return Cluster(
        topology.name,
        topology.bandwidth_unit,
        tuple(host_names(graph, "host" if are_numbers(graph) else "")),
        hierarchy(graph, switch_names(topology)),
        parts,
        capacity_between(graph, parts),
        torus_dims(graph),
    )
