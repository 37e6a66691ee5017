"""The part of a topology that belongs to one group: its hosts, all switches, their links."""

from collections.abc import Collection

from topoloom.synth.topology.topology import NodeId, Topology


def member_topology(topology: Topology, members: Collection[NodeId]) -> Topology:
    """Return the topology without the hosts outside a group.

    Switches remain: a group may use every link that touches no other host.

    >>> ring = Topology(range(4), [(i, (i + s) % 4) for i in range(4) for s in (1, 3)])
    >>> member_topology(ring, (0, 1)).links
    (Link(source=0, target=1, capacity=1), Link(source=1, target=0, capacity=1))
    """
    kept = set(members) | topology.switches
    pairs = {(link.source, link.target) for link in topology.links if {*link[:2]} <= kept}
    return Topology(
        [node for node in topology.nodes if node in kept],
        [link for link in topology.links if (link.source, link.target) in pairs],
        switches=topology.switches,
        multicast=topology.multicast,
        shared=[
            (inside, limit.capacity)
            for limit in topology.shared
            if (inside := [pair for pair in limit.links if tuple(pair) in pairs])
        ],
        latencies={pair: time for pair, time in topology.latencies.items() if pair in pairs},
        name=topology.name,
        bandwidth_unit=topology.bandwidth_unit,
    )
