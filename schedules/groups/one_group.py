"""The best rate of one group: on the links among its members, or with all other nodes as relays."""

from collections.abc import Collection, Sequence

import numpy as np

from topoloom.schedules.groups.joint_rate import joint_rate
from topoloom.schedules.groups.rate import GroupRate, require_collective
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.trees.flow.demand import demand_of, require_paths
from topoloom.schedules.trees.flow.network import copying_nodes, network_of
from topoloom.schedules.trees.flow.optimality import best_rate
from topoloom.schedules.trees.rates.balanced_capacities import usable_network
from topoloom.synth.errors import Unreachable
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


def group_rate(topology: Topology, members: Sequence[NodeId], collective: Collective) -> GroupRate:
    """Return the best rate of one group with all links; other hosts forward as switches do.

    Args:
        members: At least two compute nodes.
        collective: One of `schedules.groups.rate.COLLECTIVES`.

    Raises:
        NoSchedule, Unreachable, TooLarge, TookTooLong: As `schedules.trees.forestcoll.optimum` and
            `joint_rate`.

    One small flow for each member; for an allreduce or an all-to-all the program of `joint_rate`.

    Two neighbors of a one-way ring reach each other through the other hosts:

    >>> ring = Topology(range(4), [(i, (i + 1) % 4) for i in range(4)])
    >>> found = group_rate(ring, (0, 1), Collective.ALLGATHER)
    >>> found.algbw, found.exact, found.cut
    (Fraction(2, 1), True, (1, 2, 3))
    """
    require_collective(collective)
    if collective in (Collective.ALLREDUCE, Collective.ALL_TO_ALL):
        return joint_rate(topology, [members], collective)
    demand = demand_of(topology, participants=members)
    inward = collective.inward
    require_paths(topology, demand, inward=inward)
    network = network_of(topology.transpose() if inward else topology, demand)
    within = usable_network(network, copying_nodes(topology))
    found = best_rate(within.network)
    reached = within.rate
    cut = () if within.proof else tuple(topology.nodes[at] for at in np.flatnonzero(found.inside))
    best = reached if within.bound is None else within.bound * network.unit
    return GroupRate(reached, best, cut)


def members_only_rate(
    topology: Topology, members: Sequence[NodeId], collective: Collective
) -> GroupRate | None:
    """Return the best rate of a group without other hosts; None if its links do not connect it.

    Parameters and errors as for `group_rate`.

    >>> ring = Topology(range(4), [(i, (i + s) % 4) for i in range(4) for s in (1, 3)])
    >>> members_only_rate(ring, (0, 1, 2), Collective.ALLGATHER).algbw
    Fraction(3, 2)
    >>> members_only_rate(ring, (0, 2), Collective.ALLGATHER) is None
    True
    """
    require_collective(collective)
    own = member_topology(topology, members)
    try:
        own.require_connected()
    except Unreachable:
        return None
    return group_rate(own, own.compute_nodes, collective)
