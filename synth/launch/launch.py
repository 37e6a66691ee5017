"""A launch: hosts in rank order with their ports, and what the order is worth."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from topoloom.synth.fabrics.desk_side import port_names
from topoloom.synth.launch.host_graph import HostGraph, are_numbers, host_graph, host_names
from topoloom.synth.launch.ring_load import RingLoad, ring_load
from topoloom.synth.launch.ring_search import ring_order
from topoloom.synth.topology.topology import NodeId, Topology

PortNames = Callable[[int, int], Sequence[str]]
"""Number of a host and of one of its cables -> the device names of that port."""


@dataclass(frozen=True, slots=True)
class LaunchPort:
    """A cable of a host: the device names of its port if known, and the host at the other end."""

    names: tuple[str, ...]
    peer: str


@dataclass(frozen=True, slots=True)
class LaunchHost:
    """A host: its name, its compute nodes by local rank, its cables to other hosts."""

    name: str
    nodes: tuple[NodeId, ...]
    first_rank: int
    ports: tuple[LaunchPort, ...] = ()


@dataclass(frozen=True, slots=True)
class Launch:
    """Hosts in rank order, and the load of a ring in three orders.

    Args:
        name: Name of the topology; may be empty.
        unit: Unit of the bottlenecks.
        hosts: All hosts; ranks are consecutive in a host.
        loads: ``cables`` (this order), ``topology`` (the order of its nodes) and ``text`` (sorted
            by name, as torchrun sorts hosts) -> the load of a ring.
        needs_relays: Whether two hosts have neither a cable nor a switch between them.
        is_cabled: Whether cables in both directions join all hosts, without a switch.
        is_renamed: Whether host names are ``host`` and a number, because the ids are numbers.
    """

    name: str
    unit: str
    hosts: tuple[LaunchHost, ...]
    loads: Mapping[str, RingLoad]
    needs_relays: bool
    is_cabled: bool
    is_renamed: bool

    @property
    def ranks(self) -> int:
        """The number of ranks: one for each compute node."""
        return sum(len(host.nodes) for host in self.hosts)

    @property
    def reasons(self) -> list[str]:
        """The sentences that say what the order is worth, for comments in files."""
        cables = self.loads["cables"]
        if cables.bottleneck is None:
            return ["There is one host: its order needs no ring."]
        others = (
            f"{self.rate('topology')} in the order of the topology, "
            f"{self.rate('text')} sorted by name."
        )
        found = [
            f"Ranks follow the cables: in a ring each host sends {self.rate('cables')} to the "
            f"next; {others}"
        ]
        if cables.longest > 1 and self.needs_relays:
            found.append(f"Some neighbors are {cables.longest} cables apart.")
        if self.is_renamed:
            found.append("The topology numbers its hosts: host0 stands for node 0.")
        return found

    def rate(self, order: str) -> str:
        """Return the bottleneck of a ring in an order, with its unit."""
        value = self.loads[order].bottleneck
        if value is None:
            return ""
        unit = self.unit if self.unit != "link" else f"link rate{'' if value == 1 else 's'}"
        return f"{float(value):.6g} {unit}"


def launch_of(topology: Topology, ports: PortNames | None = None) -> Launch:
    """Return the launch of a topology, in an order of hosts that follows its cables.

    ``ports`` names the ports of hosts whose cables lead to hosts; by default the names of the
    desk-side fabrics (`synth.fabrics.desk_side`), of other topologies none.

    >>> from topoloom.synth.fabrics import fabric
    >>> launch = launch_of(fabric("dgx-spark-4"))
    >>> [host.name for host in launch.hosts], launch.rate("cables")
    (['spark0', 'spark1', 'spark2', 'spark3'], '25 GB/s')

    Raises:
        InvalidTopology: A node has no id that can be a host name, or hosts cannot reach each other.
    """
    graph = host_graph(topology)
    is_renamed = ports is None and are_numbers(graph)
    names = host_names(graph, "host" if is_renamed else "")
    order = ring_order(graph)
    natural = range(len(names))
    orders = {"cables": order, "topology": natural, "text": sorted(natural, key=names.__getitem__)}
    named = ports or port_names(topology.name)
    hosts: list[LaunchHost] = []
    for index in order:
        first = sum(len(host.nodes) for host in hosts)
        found = _ports(graph, names, index, named)
        hosts.append(LaunchHost(names[index], graph.hosts[index], first, found))
    is_direct = len(names) == graph.vertices
    relays = is_direct and len(graph.capacities) < len(names) * (len(names) - 1)
    cabled = is_direct and all(arc[::-1] in graph.capacities for arc in graph.capacities)
    loads = {key: ring_load(graph, value) for key, value in orders.items()}
    unit = topology.bandwidth_unit
    return Launch(topology.name, unit, tuple(hosts), loads, relays, cabled, is_renamed)


def _ports(
    graph: HostGraph, names: list[str], host: int, named: PortNames | None
) -> tuple[LaunchPort, ...]:
    peers = [other for other in graph.successors[host] if other < len(names)]
    return tuple(
        LaunchPort(() if named is None else tuple(named(host, cable)), names[peer])
        for cable, peer in enumerate(peers)
    )
