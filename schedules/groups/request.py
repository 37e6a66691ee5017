"""Groups as a user states them: sizes of dimensions, or lists of hosts."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.groups.process_groups import (
    HostGroups,
    Placement,
    ProcessGroups,
    require_groups,
)
from topoloom.schedules.groups.traffic import GroupTraffic
from topoloom.schedules.model.schedule import Collective
from topoloom.synth.topology.topology import NodeId, Topology

StatedGroups: TypeAlias = str | Mapping[str, int] | Sequence[Sequence[NodeId]]
"""A text such as ``tensor=8,data=4``, the same as a mapping, or lists of hosts."""

LISTED = "hosts"
"""The kind of groups that are lists of hosts."""


def asked_groups(
    topology: Topology, stated: StatedGroups, kind: str | None = None
) -> tuple[dict[str, HostGroups], Placement | None]:
    """Return the groups by kind, and the placement of the ranks where sizes are stated.

    Args:
        topology: Rank r of the sizes runs on the r-th compute node.
        stated: See `StatedGroups`.  A text matches an integer id with the same digits.
        kind: One kind only, such as ``tensor`` or ``expert+data``; default: every dimension.

    Raises:
        NoSchedule: As `ProcessGroups`, `Placement` and `require_groups`; or a kind is given with
            lists, or no dimension has two ranks.

    >>> ring = Topology(range(4), [(i, (i + s) % 4) for i in range(4) for s in (1, 3)])
    >>> asked_groups(ring, "tensor=2,data=2", "data")[0]
    {'data': ((0, 2), (1, 3))}
    >>> asked_groups(ring, [["0", "1"]])
    ({'hosts': ((0, 1),)}, None)
    """
    if not isinstance(stated, str | Mapping):
        if kind is not None:
            raise NoSchedule("/group", "must be absent where groups are lists of hosts")
        ids = {str(node): node for node in topology.nodes}
        found = [[ids.get(str(host), host) for host in members] for members in stated]
        return {LISTED: require_groups(topology, found)}, None
    job = ProcessGroups.parse(stated) if isinstance(stated, str) else ProcessGroups.of(stated)
    placement = Placement.in_order(job, topology)
    kinds = job.kinds if kind is None else (kind,)
    if not kinds:
        raise NoSchedule("/groups", f"must have a dimension of at least 2 ranks; got {job}")
    return {name: placement.groups(name) for name in kinds}, placement


def asked_traffic(
    topology: Topology, stated: StatedGroups, traffic: Mapping[str, tuple[Collective, int]]
) -> tuple[tuple[GroupTraffic, ...], Placement | None]:
    """Return the traffic of every named kind, and the placement where sizes are stated.

    Args:
        topology, stated: As for `asked_groups`.
        traffic: Collective and size in bytes by kind; the kind of lists of hosts is ``hosts``.

    Raises:
        NoSchedule: As `asked_groups`, or traffic names another kind than ``hosts`` with lists.

    >>> ring = Topology(range(4), [(i, (i + s) % 4) for i in range(4) for s in (1, 3)])
    >>> both = {"tensor": (Collective.ALLREDUCE, 8), "data": (Collective.ALLGATHER, 4)}
    >>> [one.groups for one in asked_traffic(ring, "tensor=2,data=2", both)[0]]
    [((0, 1), (2, 3)), ((0, 2), (1, 3))]
    """
    listed = not isinstance(stated, str | Mapping)
    found, placement = list[GroupTraffic](), None
    for kind, (collective, size) in traffic.items():
        if listed and kind != LISTED:
            raise NoSchedule("/traffic", f"must name {LISTED} where groups are lists of hosts")
        try:
            groups, placement = asked_groups(topology, stated, None if listed else kind)
        except NoSchedule as error:
            place = "/traffic" if error.field == "/group" else error.field
            raise NoSchedule(place, error.rule) from None
        found.append(GroupTraffic(kind, groups[kind], collective, size))
    return tuple(found), placement
