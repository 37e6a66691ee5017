"""Topologies of the ns-3 back ends of ASTRA-sim and SimAI: nodes, switches and cables as text."""

from collections import defaultdict
from fractions import Fraction

from topoloom.synth.formats.cables import (
    USUAL,
    Cable,
    LinkModel,
    assumptions,
    cables_of,
    decimal,
    hosts_first,
)
from topoloom.synth.topology.topology import Topology

GPU_TYPE = "NONE"
"""The type of GPU in SimAI's first line; SimAI knows A100, A800, H100 and H800 by name."""


def ns3(topology: Topology, model: LinkModel = USUAL) -> str:
    r"""Return a physical topology of ASTRA-sim's ns-3 back end.

    The first line counts nodes, switches and links, the second has the switches.  Compute nodes
    are 0, 1, ... in the order of ranks, and the switches follow.  ns-3 routes over switches
    only, so a message goes to a neighbor or across switches.  Source: astra-network-ns3,
    "scratch/topology".

    >>> pair = Topology("ab", [("a", "b", 25), ("b", "a", 25)], bandwidth_unit="GB/s")
    >>> ns3(pair)
    '2 0 1\n\n0 1 200Gbps 0.01ms 0\n# Every link has a latency of 10 us (alpha_us).\n'

    Raises:
        InvalidTopology: A link has no opposite link of equal capacity, or links share a limit.
    """
    hosts = len(topology.compute_nodes)
    cables = cables_of(topology, "ns3", model)
    head = f"{topology.node_count} {topology.node_count - hosts} {len(cables)}"
    return _text(head, hosts_first(topology), cables, topology, model)


def simai(topology: Topology, model: LinkModel = USUAL) -> str:
    r"""Return a topology of SimAI's simulation, for ns-3-alibabacloud.

    The first line counts nodes, GPUs of a server, NVSwitches, other switches and links, and has
    the type of GPU.  NVSwitches follow the compute nodes.  Source: SimAI, "docs/Tutorial.md",
    "TOPO Setting".

    >>> from topoloom.synth.fabrics import fabric
    >>> simai(fabric("dgx-a100-2")).splitlines()[0]
    '20 8 2 2 32 NONE'

    Raises:
        InvalidTopology: A link has no opposite link of equal capacity, or links share a limit.

    The NVSwitch of a host is its fastest switch, if such switches join hosts only, and servers of
    equally many hosts in order.  Without them a server has one GPU.
    """
    hosts = len(topology.compute_nodes)
    cables = cables_of(topology, "simai", model)
    servers = _servers(cables, hosts_first(topology)[:hosts])
    order = hosts_first(topology)
    order[hosts:] = sorted(order[hosts:], key=lambda at: at not in servers)
    size = hosts // len(servers) if servers else 1
    others = topology.node_count - hosts - len(servers)
    head = f"{topology.node_count} {size} {len(servers)} {others} {len(cables)} {GPU_TYPE}"
    return _text(head, order, cables, topology, model)


def _text(
    head: str, order: list[int], cables: list[Cable], topology: Topology, model: LinkModel
) -> str:
    """Return the lines of a topology whose node number i is at position ``order[i]``.

    The simulators read as many lines of cables as the first line states; notes follow.
    """
    number = {at: new for new, at in enumerate(order)}
    rows = (
        f"{number[one]} {number[other]} {decimal(gbps)}Gbps "
        f"{decimal(model.latency_us(topology, one, other) / 1000)}ms 0"
        for one, other, gbps in cables
    )
    notes = (f"# {note}" for note in assumptions(topology, model))
    switches = " ".join(map(str, range(len(topology.compute_nodes), topology.node_count)))
    return "\n".join([head, switches, *rows, *notes]) + "\n"


def _servers(cables: list[Cable], hosts: list[int]) -> list[int]:
    """Return the NVSwitches in the order of their servers, if they make equal servers."""
    rank = {at: number for number, at in enumerate(hosts)}
    speeds: dict[int, dict[int, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    backbone: set[int] = set()
    for one, other, gbps in cables:
        for host, switch in ((one, other), (other, one)):
            if host in rank and switch not in rank:
                speeds[host][switch] += gbps
            elif host not in rank and switch not in rank:
                backbone |= {host, switch}
    members: dict[int, list[int]] = defaultdict(list)
    for at in hosts:
        fastest = max(speeds[at], key=lambda switch: speeds[at][switch], default=-1)
        members[fastest].append(rank[at])
    size = len(hosts) // len(members)
    found = list(members)
    equal = [members[one] for one in found] == [
        [*range(first, first + size)] for first in range(0, len(hosts), size)
    ]
    return found if equal and backbone.isdisjoint(found) and -1 not in found else []
