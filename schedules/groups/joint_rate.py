"""The best rate of the collectives of several groups that run at once, sharing the links."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from math import ceil, floor

from topoloom.schedules.groups.group_symmetry import GroupOrbits, group_orbits
from topoloom.schedules.groups.joint_program import JointProgram
from topoloom.schedules.groups.joint_trees import JointTrees, joint_trees
from topoloom.schedules.groups.rate import GroupRate, LinkPrice
from topoloom.schedules.groups.traffic import GroupTraffic, placed_traffic, require_traffic
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

    Args:
        groups: As for `require_groups`.  All other hosts forward, as switches do.
        collective: One of `schedules.groups.rate.COLLECTIVES`.

    Returns:
        The rate of every group; all groups move the same amount of data in the same time.

    Raises:
        NoSchedule: As `require_groups` and `require_collective`.
        Unreachable: A member does not reach another.
        TooLarge: As `schedules.groups.joint_program.JointProgram`.

    Time grows with the orbits of links and of members under the automorphisms that map groups to
    groups: below a second for 1,024 hosts of a torus, a minute without symmetry.

    Two halves of a two-way ring; the links between the halves do not help:

    >>> ring = Topology(range(8), [(i, (i + s) % 8) for i in range(8) for s in (1, 7)])
    >>> joint_rate(ring, [(0, 1, 2, 3), (4, 5, 6, 7)], Collective.ALLGATHER).algbw
    Fraction(4, 3)
    """
    return traffic_rates(topology, [GroupTraffic("", tuple(map(tuple, groups)), collective, 1)])[0]


def traffic_rates(topology: Topology, traffic: Iterable[GroupTraffic]) -> tuple[GroupRate, ...]:
    """Return the best rate of every kind, with all groups of all kinds at once.

    All groups start and end together: the time is the least in which all move their data.

    Args:
        traffic: A host may be in one group of each kind.

    Raises:
        NoSchedule: As `schedules.groups.traffic.require_traffic` and `placed_traffic`.
        Unreachable, TooLarge: As `joint_rate`.

    Rows of a torus reduce while columns exchange; neither uses the links of the other:

    >>> from topoloom.synth.recipes.build import build
    >>> from topoloom.synth.recipes.recipe import parse
    >>> rows = tuple(tuple(range(4 * i, 4 * i + 4)) for i in range(4))
    >>> columns = tuple(zip(*rows, strict=True))
    >>> both = [
    ...     GroupTraffic("tensor", rows, Collective.ALLGATHER, 3 << 20),
    ...     GroupTraffic("expert", columns, Collective.ALL_TO_ALL, 2 << 20),
    ... ]
    >>> [str(one.algbw) for one in traffic_rates(build(parse("Torus(4, 4)")), both)]
    ['8/3', '16/9']
    """
    traffic = require_traffic(topology, traffic)
    network = network_of(topology)
    placed = placed_traffic(topology, traffic)
    found = group_orbits(network, *(one.groups for one in placed))
    program = JointProgram(network, placed, found)
    require_connected_groups(program, topology, traffic)
    trees = joint_trees(program)
    prices = tuple(_prices(topology, network, found, trees))
    root = network.unit * placed[0].data / traffic[0].root_data
    reached, least = trees.reached / root, trees.least / root
    if topology.multicast and any(t.collective is not Collective.ALL_TO_ALL for t in traffic):
        # Trees do not use copies by switches; each kind alone with such copies is a bound.
        least = max(one.size_bytes / _copying_bound(topology, one) for one in traffic)
    return tuple(_rate(one.size_bytes / reached, one.size_bytes / least, prices) for one in traffic)


def _rate(reached: Fraction, bound: Fraction, prices: tuple[LinkPrice, ...]) -> GroupRate:
    if reached < bound:
        # A lower rate is reached as well, and a higher bound holds as well.
        reached, bound = _multiple(reached, floor), _multiple(bound, ceil)
    return GroupRate(reached, bound, prices=prices)


def require_connected_groups(
    program: JointProgram, topology: Topology, traffic: Iterable[GroupTraffic]
) -> None:
    """Raise Unreachable, with two hosts, unless the members of every group reach each other."""
    if program.connected:
        return
    for members in (members for one in traffic for members in one.groups):
        for inward in (False, True):
            require_paths(topology, demand_of(topology, participants=members), inward=inward)


def _multiple(rate: Fraction, to_whole: Callable[[Fraction], int]) -> Fraction:
    """Return a rate with a long denominator as a multiple of `_FINEST`."""
    if rate.denominator <= 1 / _FINEST:
        return rate
    return to_whole(rate / _FINEST) * _FINEST


def _copying_bound(topology: Topology, traffic: GroupTraffic) -> Fraction:
    """Return an upper bound on the rate of a kind alone, with copies by multicast switches.

    One group stands for all of them, except in an all-to-all, which has no copies.
    """
    if traffic.collective is Collective.ALL_TO_ALL:
        return traffic_rates(topology, [traffic])[0].bound
    members = traffic.groups[0]
    if traffic.collective is Collective.ALLREDUCE:
        return allreduce_bound(topology, members).rate
    best = optimum(topology, participants=members, inward=traffic.collective.inward)
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
