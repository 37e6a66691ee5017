"""The best rate of one group: on the links among its members, or with all other nodes as relays."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.groups.member_topology import member_topology
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.routes import all_to_all
from topoloom.schedules.trees.flow.demand import demand_of, require_paths
from topoloom.schedules.trees.flow.network import copying_nodes, network_of
from topoloom.schedules.trees.flow.optimality import best_rate
from topoloom.schedules.trees.rates.allreduce_rate import allreduce_bound
from topoloom.schedules.trees.rates.balanced_capacities import usable_network
from topoloom.synth.errors import Unreachable
from topoloom.synth.topology.topology import NodeId, Topology

COLLECTIVES = (
    Collective.ALLGATHER,
    Collective.REDUCE_SCATTER,
    Collective.ALLREDUCE,
    Collective.ALL_TO_ALL,
)
"""The collectives of groups; every rank of a group brings equal data."""


@dataclass(frozen=True, slots=True)
class GroupRate:
    """The rate of a collective in a group, between two exact bounds.

    ``algbw`` is reached and ``bound`` is never exceeded, in the topology's unit of bandwidth: M
    bytes take M / algbw, where M is the size in the convention of nccl-tests.  ``cut`` is a set of
    nodes whose links prove the bound; empty if no single cut does.
    """

    algbw: Fraction
    bound: Fraction
    cut: tuple[NodeId, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether the reached rate equals the bound."""
        return self.algbw == self.bound

    def seconds(self, size_bytes: int, unit_bytes_per_second: Fraction | float) -> float:
        """Return the time of M bytes without hop latency; a unit of bandwidth in bytes/s.

        >>> GroupRate(Fraction(2), Fraction(2)).seconds(10**9, 5e9)
        0.1
        """
        return float(size_bytes / (self.algbw * Fraction(unit_bytes_per_second)))

    @property
    def gap(self) -> Fraction:
        """The largest possible excess over the least time, as a share."""
        return self.bound / self.algbw - 1


def require_collective(collective: Collective) -> None:
    """Raise NoSchedule for collectives with one root."""
    if collective not in COLLECTIVES:
        names = ", ".join(COLLECTIVES)
        raise NoSchedule("/collective", f"must be one of {names} for groups; got {collective}")


def group_rate(topology: Topology, members: Sequence[NodeId], collective: Collective) -> GroupRate:
    """Return the best rate of one group with all links; other hosts forward as switches do.

    Parameters
    ----------
    topology : Topology
    members : sequence of node ids
        At least two compute nodes.
    collective : Collective
        One of `COLLECTIVES`.

    Raises
    ------
    NoSchedule, Unreachable, TooLarge, TookTooLong
        As `schedules.trees.forestcoll.optimum`, `schedules.trees.rates.allreduce_rate` and
        `schedules.routes.all_to_all.optimum`.

    Notes
    -----
    One small flow for each member, a linear program for an allreduce or an all-to-all.

    Examples
    --------
    Two neighbors of a one-way ring reach each other through the other hosts:

    >>> ring = Topology(range(4), [(i, (i + 1) % 4) for i in range(4)])
    >>> group_rate(ring, (0, 1), Collective.ALLGATHER)
    GroupRate(algbw=Fraction(2, 1), bound=Fraction(2, 1), cut=(1, 2, 3))
    """
    require_collective(collective)
    if collective is Collective.ALL_TO_ALL:
        whole = tuple(members) if len(members) < len(topology.compute_nodes) else ()
        found = all_to_all.optimum(topology, [whole] if whole else ())
        return GroupRate(len(members) / found.inverse_rate, len(members) / found.lower)
    if collective is Collective.ALLREDUCE:
        bound = allreduce_bound(topology, members)
        return GroupRate(bound.feasible, bound.rate)
    demand = demand_of(topology, participants=members)
    inward = collective.inward
    require_paths(topology, demand, inward=inward)
    network = network_of(topology.transpose() if inward else topology, demand)
    within = usable_network(network, copying_nodes(topology))
    found = best_rate(within.network)
    reached = within.network.data / found.inverse * within.network.unit
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


def member_hops(topology: Topology, members: Sequence[NodeId]) -> int:
    """Return the largest number of links on a shortest path from one member to another.

    Every schedule of the group takes at least as many hop latencies, an allreduce twice as many.

    Raises
    ------
    Unreachable
        A member cannot reach another.

    >>> ring = Topology(range(4), [(i, (i + 1) % 4) for i in range(4)])
    >>> member_hops(ring, (0, 1))
    3
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    ends = (topology.sources, topology.targets)
    shape = (topology.node_count, topology.node_count)
    links = csr_array((np.ones(topology.link_count), ends), shape=shape)
    at = [topology.position[member] for member in members]
    hops = dijkstra(links, indices=at, unweighted=True)[:, at]
    if not np.isfinite(hops).all():
        source, target = np.argwhere(~np.isfinite(hops))[0].tolist()
        rule = f"compute node {members[source]!r} must reach {members[target]!r}"
        raise Unreachable("/links", rule)
    return int(hops.max())
