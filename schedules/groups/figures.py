"""Rates of every kind of group: own links, the whole fabric alone, all groups or kinds at once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from topoloom.schedules.groups.group_symmetry import group_orbits
from topoloom.schedules.groups.joint_rate import joint_rate, traffic_rates
from topoloom.schedules.groups.one_group import group_rate, members_only_rate
from topoloom.schedules.groups.process_groups import HostGroups, require_groups
from topoloom.schedules.groups.rate import GroupRate
from topoloom.schedules.groups.traffic import GroupTraffic, require_traffic
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.trees.flow.network import network_of
from topoloom.synth.topology.topology import Topology


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """The rates of one kind of group; the slowest group counts.

    ``members_only`` is the rate without other hosts, None where the links of some group do not
    connect it.  ``alone`` is the rate of one group with the whole fabric, ``together`` that of
    every group with all groups of the kind at once.  ``all_kinds`` is the rate with the groups of
    all kinds at once, None unless the traffic of every kind is given.
    """

    kind: str
    groups: HostGroups
    collective: Collective
    members_only: GroupRate | None
    alone: GroupRate
    together: GroupRate
    all_kinds: GroupRate | None = None
    size_bytes: int | None = None


def group_figures(
    topology: Topology, kinds: Mapping[str, HostGroups], collective: Collective
) -> tuple[GroupFigures, ...]:
    """Return the three rates of every kind of group.

    Args:
        kinds: Disjoint groups of hosts by the name of their kind.
        collective: One of `schedules.groups.rate.COLLECTIVES`.

    Raises:
        NoSchedule, Unreachable, TooLarge, TookTooLong: As `joint_rate` and `group_rate`.

    Groups that an automorphism maps to each other have equal rates; one of each orbit is measured.

    >>> ring = Topology(range(4), [(i, (i + s) % 4) for i in range(4) for s in (1, 3)])
    >>> found = group_figures(ring, {"tensor": ((0, 1), (2, 3))}, Collective.ALLGATHER)[0]
    >>> found.members_only.algbw, found.alone.algbw, found.together.algbw
    (Fraction(2, 1), Fraction(4, 1), Fraction(2, 1))
    """
    return tuple(
        _figures(topology, kind, require_groups(topology, groups), collective)
        for kind, groups in kinds.items()
    )


def traffic_figures(
    topology: Topology, traffic: Iterable[GroupTraffic]
) -> tuple[GroupFigures, ...]:
    """Return the rates of kinds of groups with a collective and a size each, all at once, too.

    Parameters and errors as for `schedules.groups.joint_rate.traffic_rates` and `group_rate`.

    >>> ring = Topology(range(4), [(i, (i + s) % 4) for i in range(4) for s in (1, 3)])
    >>> pairs = GroupTraffic("tensor", ((0, 1), (2, 3)), Collective.ALLREDUCE, 600)
    >>> across = GroupTraffic("data", ((0, 2), (1, 3)), Collective.ALLGATHER, 400)
    >>> [(str(one.together.algbw), str(one.all_kinds.algbw))
    ...  for one in traffic_figures(ring, [pairs, across])]
    [('1', '3/4'), ('2', '1/2')]
    """
    traffic = require_traffic(topology, traffic)
    together = traffic_rates(topology, traffic)
    return tuple(
        replace(
            _figures(topology, one.kind, one.groups, one.collective),
            all_kinds=rate,
            size_bytes=one.size_bytes,
        )
        for one, rate in zip(traffic, together, strict=True)
    )


def _figures(
    topology: Topology, kind: str, groups: HostGroups, collective: Collective
) -> GroupFigures:
    together = joint_rate(topology, groups, collective)
    places = [[topology.position[member] for member in members] for members in groups]
    orbit = group_orbits(network_of(topology), places).groups.tolist()
    first = dict(zip(orbit[::-1], groups[::-1], strict=True))
    alone = [group_rate(topology, members, collective) for members in first.values()]
    own = [members_only_rate(topology, members, collective) for members in first.values()]
    connected = [rate for rate in own if rate is not None]
    return GroupFigures(
        kind,
        groups,
        collective,
        _slowest(connected) if len(connected) == len(own) else None,
        _slowest(alone),
        together,
    )


def _slowest(rates: list[GroupRate]) -> GroupRate:
    """Return the rate that every group reaches, with the least bound."""
    reached = min(rates, key=lambda rate: rate.algbw)
    bound = min(rates, key=lambda rate: rate.bound)
    return GroupRate(reached.algbw, bound.bound, bound.cut, bound.prices)
