"""The process groups of a training job, and the placement of its ranks on hosts."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import NamedTuple, TypeAlias

from topoloom.schedules.errors import NoSchedule
from topoloom.synth.naming.suggestions import one_of
from topoloom.synth.topology.topology import NodeId, Topology

DIMENSIONS = ("tensor", "context", "expert", "data", "pipeline")
"""The kinds of parallelism; without another order, ranks count through them in this order."""

HostGroups: TypeAlias = tuple[tuple[NodeId, ...], ...]
"""Disjoint groups of hosts; every group lists its members in rank order."""


@dataclass(frozen=True)
class ProcessGroups:
    """The sizes of the dimensions of a job; ranks count through the first dimension fastest.

    A *kind* of group is a dimension, or several joined by ``+``.  Ranks that differ only in the
    coordinates of these dimensions form one group of the kind.

    Raises:
        NoSchedule: A dimension is unknown or repeated, or a size is below 1.

    >>> job = ProcessGroups.parse("tensor=2,data=3")
    >>> job.rank_count, job.groups("tensor"), job.groups("data")
    (6, ((0, 1), (2, 3), (4, 5)), ((0, 2, 4), (1, 3, 5)))
    >>> job.coordinates(3)
    (1, 1)
    """

    sizes: tuple[tuple[str, int], ...]

    def __post_init__(self) -> None:
        names = [name for name, _ in self.sizes]
        if not names:
            raise NoSchedule("/groups", f"must name a dimension of {', '.join(DIMENSIONS)}")
        for name, size in self.sizes:
            if name not in DIMENSIONS:
                raise NoSchedule("/groups", one_of(name, DIMENSIONS))
            if names.count(name) > 1:
                raise NoSchedule("/groups", f"must name {name} once")
            if type(size) is not int or size < 1:
                raise NoSchedule("/groups", f"the size of {name} must be an integer from 1: {size}")

    @classmethod
    def of(cls, sizes: Mapping[str, int]) -> "ProcessGroups":
        """Return the groups of a mapping from dimension to size, in its order."""
        return cls(tuple(sizes.items()))

    @classmethod
    def parse(cls, text: str) -> "ProcessGroups":
        """Return the groups of a text such as ``tensor=8,data=4``.

        >>> ProcessGroups.parse("tensor=8,dat=4")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        topoloom.schedules.errors.NoSchedule: /groups: must be one of tensor, ...
        """
        return cls(tuple(_size(part) for part in text.split(",")))

    @property
    def rank_count(self) -> int:
        """The product of the sizes."""
        return prod(size for _, size in self.sizes)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The dimensions with more than one rank, in order."""
        return tuple(name for name, size in self.sizes if size > 1)

    def coordinates(self, rank: int) -> tuple[int, ...]:
        """Return the coordinates of a rank, in the order of the dimensions."""
        found = []
        for _, size in self.sizes:
            rank, at = divmod(rank, size)
            found.append(at)
        return tuple(found)

    def groups(self, kind: str) -> tuple[tuple[int, ...], ...]:
        """Return the groups of a kind, by first rank; every group in the order of its ranks.

        Raises:
            NoSchedule: The kind names no dimension of the job, or one rank alone would be a group.

        >>> ProcessGroups.parse("tensor=2,context=2,data=2").groups("tensor+data")
        ((0, 1, 4, 5), (2, 3, 6, 7))
        """
        inside = self._dimensions(kind)
        found: dict[tuple[int, ...], list[int]] = {}
        for rank in range(self.rank_count):
            at = self.coordinates(rank)
            outside = tuple(
                c for c, (name, _) in zip(at, self.sizes, strict=True) if name not in inside
            )
            found.setdefault(outside, []).append(rank)
        return tuple(tuple(group) for group in found.values())

    def _dimensions(self, kind: str) -> frozenset[str]:
        known = [name for name, _ in self.sizes]
        names = kind.split("+")
        for name in names:
            if name not in known:
                raise NoSchedule("/group", one_of(name, known))
        if prod(size for name, size in self.sizes if name in names) < 2:
            raise NoSchedule("/group", f"must have at least 2 ranks; {kind} has 1")
        return frozenset(names)

    def __str__(self) -> str:
        return ",".join(f"{name}={size}" for name, size in self.sizes)


class GroupRow(NamedTuple):
    """One group of a placement: its kind, its number from 0, its hosts in rank order."""

    kind: str
    number: int
    hosts: tuple[NodeId, ...]


@dataclass(frozen=True)
class Placement:
    """The ranks of a job on hosts: rank r runs on ``hosts[r]``.

    Raises:
        NoSchedule: The sizes of the job do not multiply to the number of hosts, or a host has two
            ranks.

    >>> ring = Topology("abcd", [(s, t) for s, t in ("ab", "bc", "cd", "da")])
    >>> placed = Placement.in_order(ProcessGroups.parse("tensor=2,data=2"), ring)
    >>> placed.groups("data"), placed.coordinates("c")
    ((('a', 'c'), ('b', 'd')), (0, 1))
    >>> Placement.in_order(ProcessGroups.parse("tensor=3"), ring)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.NoSchedule: /groups: the sizes must multiply to the 4 hosts; ...
    """

    processes: ProcessGroups
    hosts: tuple[NodeId, ...]

    def __post_init__(self) -> None:
        ranks, hosts = self.processes.rank_count, len(self.hosts)
        if ranks != hosts:
            rule = (
                f"the sizes must multiply to the {hosts} hosts; {self.processes} has {ranks} ranks"
            )
            raise NoSchedule("/groups", rule)
        _require_once([self.hosts])

    @classmethod
    def in_order(cls, processes: ProcessGroups, topology: Topology) -> "Placement":
        """Return the placement of rank r on the r-th compute node of the topology."""
        return cls(processes, topology.compute_nodes)

    def groups(self, kind: str) -> HostGroups:
        """Return the hosts of every group of a kind; errors as `ProcessGroups.groups`."""
        return tuple(
            tuple(self.hosts[rank] for rank in group) for group in self.processes.groups(kind)
        )

    def coordinates(self, host: NodeId) -> tuple[int, ...]:
        """Return the coordinates of the rank on a host, in the order of the dimensions."""
        return self.processes.coordinates(self._rank[host])

    @property
    def table(self) -> tuple[GroupRow, ...]:
        """The groups of every dimension with more than one rank."""
        return tuple(
            GroupRow(kind, number, hosts)
            for kind in self.processes.kinds
            for number, hosts in enumerate(self.groups(kind))
        )

    @cached_property
    def _rank(self) -> dict[NodeId, int]:
        return {host: rank for rank, host in enumerate(self.hosts)}


def require_groups(topology: Topology, groups: Iterable[Sequence[NodeId]]) -> HostGroups:
    """Return the groups, validated: compute nodes of the topology, in one group at most.

    Raises:
        NoSchedule: There is no group, a group has fewer than two hosts, groups have different
            sizes, a host is in two groups, or a member is no compute node of the topology.

    >>> pair = Topology("ab", [("a", "b"), ("b", "a")])
    >>> require_groups(pair, [["a", "b"], ["a", "b"]])
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.NoSchedule: /groups: must hold every host once; 'a' is in two groups
    """
    found = tuple(tuple(group) for group in groups)
    if not found:
        raise NoSchedule("/groups", "must hold at least one group")
    for number, group in enumerate(found):
        if len(group) < 2:
            raise NoSchedule("/groups", f"group {number} must have at least 2 hosts")
        for host in group:
            if host not in topology.position:
                raise NoSchedule("/groups", f"{host!r} is no node of the topology")
            if host in topology.switches:
                raise NoSchedule("/groups", f"{host!r} is a switch, not a compute node")
    if len({len(group) for group in found}) > 1:
        raise NoSchedule("/groups", "must all have the same number of hosts")
    _require_once(found)
    return found


def _require_once(groups: Iterable[Collection[NodeId]]) -> None:
    seen = set[NodeId]()
    for group in groups:
        own = set[NodeId]()
        for host in group:
            if host in own:
                raise NoSchedule(
                    "/groups", f"must hold every host once; {host!r} is twice in one group"
                )
            own.add(host)
            if host in seen:
                raise NoSchedule("/groups", f"must hold every host once; {host!r} is in two groups")
        seen |= own


def _size(part: str) -> tuple[str, int]:
    name, given, size = part.strip().partition("=")
    if not given or not size.strip().isdecimal():
        raise NoSchedule("/groups", f"must be sizes such as tensor=8,data=4; got {part!r}")
    return name.strip(), int(size)
