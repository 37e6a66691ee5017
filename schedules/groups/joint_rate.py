"""The best rate of the collectives of several groups that run at once, sharing the links."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from math import ceil, floor

from topoloom.schedules.groups.group_symmetry import GroupOrbits, group_orbits
from topoloom.schedules.groups.joint_program import JointProgram
from topoloom.schedules.groups.joint_trees import JointTrees, joint_trees
from topoloom.schedules.groups.process_groups import HostGroups, require_groups
from topoloom.schedules.groups.rate import GroupRate, LinkPrice, require_collective
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.trees.flow.demand import demand_of, require_paths
from topoloom.schedules.trees.flow.network import Network, network_of
from topoloom.schedules.trees.rates.allreduce_rate import allreduce_bound
from topoloom.schedules.trees.rates.topology_rate import optimum
from topoloom.synth.topology.topology import NodeId, Topology

_FINEST = Fraction(1, 10**12)


def joint_rate(
    topology: Topology, groups: Iterable[Sequence[NodeId]], collective: Collective
) -> GroupRate:
    """Return the best rate of a collective in every group, with all groups at once.

    Parameters
    ----------
    topology : Topology
    groups : iterable of groups
        As for `require_groups`.  All other hosts forward, as switches do.
    collective : Collective
        One of `schedules.groups.rate.COLLECTIVES`.

    Returns
    -------
    GroupRate
        The rate of every group; all groups move the same amount of data in the same time.

    Raises
    ------
    NoSchedule
        As `require_groups` and `require_collective`.
    Unreachable
        A member does not reach another.
    TooLarge
        As `schedules.groups.joint_program.JointProgram`.

    Notes
    -----
    Time grows with the orbits of links and of members under the automorphisms that map groups to
    groups: below a second for 1,024 hosts of a torus, a minute without symmetry.

    Examples
    --------
    Two halves of a two-way ring; the links between the halves do not help:

    >>> ring = Topology(range(8), [(i, (i + s) % 8) for i in range(8) for s in (1, 7)])
    >>> joint_rate(ring, [(0, 1, 2, 3), (4, 5, 6, 7)], Collective.ALLGATHER).algbw
    Fraction(4, 3)
    """
    require_collective(collective)
    groups = require_groups(topology, groups)
    network = network_of(topology)
    places = [[topology.position[member] for member in members] for members in groups]
    found = group_orbits(network, places)
    program = JointProgram(network, places, collective, found)
    require_connected_groups(program, topology, groups)
    trees = joint_trees(program)
    whole = network.unit * (1 if collective is Collective.ALLREDUCE else len(groups[0]))
    reached, bound = whole / trees.reached, whole / trees.least
    if reached < bound:
        # A lower rate is reached as well, and a higher bound holds as well.
        reached, bound = _multiple(reached, floor), _multiple(bound, ceil)
    if topology.multicast and collective is not Collective.ALL_TO_ALL:
        # Trees do not use copies by switches; one group alone with such copies is a bound.
        bound = _copying_bound(topology, groups[0], collective)
    return GroupRate(reached, bound, prices=tuple(_prices(topology, network, found, trees)))


def require_connected_groups(program: JointProgram, topology: Topology, groups: HostGroups) -> None:
    """Raise Unreachable, with two hosts, unless the members of every group reach each other."""
    if program.connected:
        return
    for members in groups:
        for inward in (False, True):
            require_paths(topology, demand_of(topology, participants=members), inward=inward)


def _multiple(rate: Fraction, to_whole: Callable[[Fraction], int]) -> Fraction:
    """Return a rate with a long denominator as a multiple of `_FINEST`."""
    if rate.denominator <= 1 / _FINEST:
        return rate
    return to_whole(rate / _FINEST) * _FINEST


def _copying_bound(
    topology: Topology, members: Sequence[NodeId], collective: Collective
) -> Fraction:
    """Return an upper bound on the rate of one group, with copies by multicast switches."""
    if collective is Collective.ALLREDUCE:
        return allreduce_bound(topology, members).rate
    best = optimum(topology, participants=members, inward=collective.inward)
    return best.data / min(best.inverse_rate, best.bound or best.inverse_rate)


def _prices(
    topology: Topology, network: Network, found: GroupOrbits, trees: JointTrees
) -> Iterator[LinkPrice]:
    """Yield the links with a length in the proof, by orbit."""
    kinds = [(int(kind), (arc,)) for arc, kind in enumerate(found.arcs)]
    past = max(kind for kind, _ in kinds) + 1
    limits = zip(found.limits.tolist(), network.shared, strict=True)
    kinds += [(past + kind, limit.arcs) for kind, limit in limits]
    first: dict[int, int] = {}
    count = Counter[int]()
    for kind, arcs in kinds:
        first.setdefault(kind, arcs[0])
        count[kind] += len(arcs)
    for kind, arc in sorted(first.items()):
        if length := int(trees.lengths[kind]):
            ends = topology.nodes[network.tail[arc]], topology.nodes[network.head[arc]]
            yield LinkPrice(ends, count[kind], length)
