"""The collectives of several kinds of groups that run at once, each with its own size."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.groups.process_groups import HostGroups, require_groups
from topoloom.schedules.groups.rate import require_collective
from topoloom.schedules.model.schedule import Collective
from topoloom.synth.topology.topology import NodeId, Topology

MAX_DATA = 1 << 32
"""Maximum data of a root, where the sizes of all kinds are integers without a common divisor."""


@dataclass(frozen=True, slots=True)
class GroupTraffic:
    """The collective of every group of a kind, with ``size_bytes`` each.

    The size is M in the convention of nccl-tests: the output of an allgather, the input of a
    reduce-scatter, the buffer of every rank of an allreduce, all data that one rank sends in an
    all-to-all.
    """

    kind: str
    groups: HostGroups
    collective: Collective
    size_bytes: int

    @property
    def root_data(self) -> Fraction:
        """The bytes of a root: its shard; of an allreduce, all data of the group."""
        whole = Fraction(self.size_bytes)
        return whole if self.collective is Collective.ALLREDUCE else whole / len(self.groups[0])


class PlacedTraffic(NamedTuple):
    """Groups of node positions, their collective, and the data of every root."""

    groups: list[list[int]]
    collective: Collective
    data: int


def require_traffic(
    topology: Topology, traffic: Iterable[GroupTraffic]
) -> tuple[GroupTraffic, ...]:
    """Return the traffic, validated.

    Raises:
        NoSchedule: There is none, a kind is repeated, a size is not positive, or as
            `require_groups` and `require_collective`.

    >>> pair = Topology("ab", [("a", "b"), ("b", "a")])
    >>> require_traffic(pair, [GroupTraffic("data", (("a", "b"),), Collective.ALLGATHER, 0)])
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.NoSchedule: /traffic: the size of data must be at least 1 byte: 0
    """
    found = list[GroupTraffic]()
    for one in traffic:
        if one.size_bytes < 1:
            rule = f"the size of {one.kind} must be at least 1 byte: {one.size_bytes}"
            raise NoSchedule("/traffic", rule)
        if one.kind in {other.kind for other in found}:
            raise NoSchedule("/traffic", f"must name {one.kind} once")
        require_collective(one.collective)
        groups = require_groups(topology, one.groups)
        found.append(GroupTraffic(one.kind, groups, one.collective, one.size_bytes))
    if not found:
        raise NoSchedule("/traffic", "must name at least one kind of group")
    return tuple(found)


def placed_traffic(topology: Topology, traffic: Sequence[GroupTraffic]) -> list[PlacedTraffic]:
    """Return validated traffic by positions; the data of all roots has no common divisor.

    Raises:
        NoSchedule: The data of a root exceeds `MAX_DATA`.
    """
    exact = [one.root_data for one in traffic]
    scale = lcm(*(data.denominator for data in exact))
    whole = [int(data * scale) for data in exact]
    common = gcd(*whole)
    if max(whole) // common > MAX_DATA:
        sizes = ", ".join(str(one.size_bytes) for one in traffic)
        rule = f"the sizes must be multiples of a larger number of bytes; {sizes} differ too much"
        raise NoSchedule("/traffic", rule)
    return [
        PlacedTraffic(_positions(topology, one.groups), one.collective, data // common)
        for one, data in zip(traffic, whole, strict=True)
    ]


def _positions(topology: Topology, groups: Sequence[Sequence[NodeId]]) -> list[list[int]]:
    return [[topology.position[member] for member in members] for members in groups]
