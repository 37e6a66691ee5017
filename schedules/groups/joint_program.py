"""The trees of several groups that share the arcs of a network, reduced by symmetry.

Every group sends its data over trees; a tree loads the arcs of its paths with the data m_r of its
root r.  The least time t is

    min t   with   sum of the loads of all trees on arc e <= t c_e   for every arc e,
                   and weights of the trees of every root with sum 1.

Any lengths y of the arcs prove a bound, as for an all-to-all:

    t * sum c_e y_e >= sum over all roots r of m_r times the least length of a tree.

Links with a shared limit are one more arc in both sums.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topoloom.schedules.errors import TooLarge
from topoloom.schedules.groups.cheapest_trees import GroupPaths, GroupTree
from topoloom.schedules.groups.group_symmetry import GroupOrbits
from topoloom.schedules.groups.traffic import PlacedTraffic
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.trees.flow.network import Network

Ints = NDArray[np.int64]

_INWARD = {
    Collective.ALLGATHER: (False,),
    Collective.REDUCE_SCATTER: (True,),
    Collective.ALLREDUCE: (True, False),
    Collective.ALL_TO_ALL: (False,),
}


MAX_ENTRIES = 1 << 25
"""Maximum trees times links: the loads of all known trees, 8 bytes each."""

_TREE_WORK = 40
"""Time of a tree for each pair of members, in times that a search looks at an arc."""


@dataclass(frozen=True, slots=True)
class RootClass:
    """Equivalent roots: ``count`` of them, each with ``data`` at one of ``places`` of its group.

    A class of an allreduce has one element for each group, and chooses among all its members.
    Groups are numbered through all kinds; ``kind`` is the number of theirs.
    """

    kind: int
    group: int
    places: tuple[int, ...]
    count: int
    data: int

    @property
    def total(self) -> int:
        """The data of all roots of the class."""
        return self.count * self.data


class Column(NamedTuple):
    """The trees of one root, one for each pass, and their loads in all images by resource."""

    kind: int
    trees: tuple[GroupTree, ...]
    loads: Ints


class Priced(NamedTuple):
    """The cheapest column of every class under lengths, and the bound on t that they prove."""

    lengths: Ints
    bound: Fraction
    columns: tuple[Column, ...]


class JointProgram:
    """The trees of all groups at once, their loads and their bound.

    A *resource* is an orbit of arcs, or of shared limits; ``room`` is its total capacity.

    Args:
        traffic: The groups of a kind are disjoint, and all of one size.
        found: Orbits under which all loads are averaged.

    Raises:
        TooLarge: Two trees of every root exceed `MAX_ENTRIES`.
    """

    def __init__(
        self,
        network: Network,
        traffic: Sequence[PlacedTraffic],
        found: GroupOrbits,
    ) -> None:
        self._arcs = len(network.tail)
        self._incidence, self.room = _resources(network, found)
        self.classes = list(_root_classes(traffic, found))
        if 2 * len(self.classes) * len(self.room) > MAX_ENTRIES:
            raise TooLarge(
                "/groups",
                f"have {len(self.classes)} roots and {len(self.room)} links that no automorphism "
                "maps to each other, too many for the linear program",
            )
        groups = [members for one in traffic for members in one.groups]
        ends = zip(network.tail.tolist(), network.head.tolist(), strict=True)
        arc_of = {pair: arc for arc, pair in enumerate(ends)}
        collective_of = {one.group: traffic[one.kind].collective for one in self.classes}
        self._paths = {
            group: [
                GroupPaths(
                    network,
                    arc_of,
                    groups[group],
                    inward=inward,
                    direct=collective is Collective.ALL_TO_ALL,
                )
                for inward in _INWARD[collective]
            ]
            for group, collective in collective_of.items()
        }
        searches = sum(len(groups[group]) * len(way) for group, way in self._paths.items())
        trees = sum(
            len(one.places)
            * len(self._paths[one.group])
            * len(groups[one.group]) ** (1 if self._paths[one.group][0].direct else 2)
            for one in self.classes
        )
        self.work = searches * self._arcs + trees * _TREE_WORK

    @property
    def connected(self) -> bool:
        """Whether the members of every group reach each other."""
        lengths = np.ones(self._arcs, np.int64)
        return all(one.under(lengths).connected for way in self._paths.values() for one in way)

    def priced(self, lengths: Ints) -> Priced:
        """Return the cheapest columns under lengths of the resources, integers from 0."""
        by_arc = self._incidence @ lengths
        near = {group: [one.under(by_arc) for one in way] for group, way in self._paths.items()}
        total, columns = 0, list[Column]()
        for kind, one in enumerate(self.classes):
            passes = near[one.group]
            options = [[(way, root, way.parents(root)) for way in passes] for root in one.places]
            costs = [sum(way.length(tree) for way, _, tree in option) for option in options]
            cheapest = min(range(len(costs)), key=costs.__getitem__)
            total += one.total * costs[cheapest]
            trees = tuple(way.tree(root, tree) for way, root, tree in options[cheapest])
            columns.append(Column(kind, trees, self._loads(trees) * one.total))
        room = sum(int(y) * size for y, size in zip(lengths, self.room, strict=True))
        return Priced(lengths, Fraction(total, room) if room else Fraction(0), tuple(columns))

    def _loads(self, trees: tuple[GroupTree, ...]) -> Ints:
        used = [arc for tree in trees for arc in tree.arcs]
        return self._incidence.T @ np.bincount(used, minlength=self._arcs)


def _resources(network: Network, found: GroupOrbits) -> tuple[csr_array, list[int]]:
    """Return by arc and resource how many of its limits the arc is in, and the total capacities."""
    kinds = int(found.arcs.max()) + 1
    rows, columns = list(range(len(network.tail))), found.arcs.tolist()
    room = np.zeros(kinds + (int(found.limits.max()) + 1 if len(found.limits) else 0), np.int64)
    np.add.at(room, found.arcs, network.capacity)
    for limit, kind in zip(network.shared, found.limits.tolist(), strict=True):
        rows += limit.arcs
        columns += [kinds + kind] * len(limit.arcs)
        room[kinds + kind] += limit.capacity
    ones = np.ones(len(rows), np.int64)
    shape = (len(network.tail), len(room))
    return csr_array((ones, (rows, columns)), shape=shape), room.tolist()


def _root_classes(traffic: Sequence[PlacedTraffic], found: GroupOrbits) -> Iterator[RootClass]:
    """Yield the classes of roots: by orbit of members, or of groups for an allreduce."""
    sizes = np.bincount(found.groups)
    first = np.unique(found.groups, return_index=True)[1]
    numbered = [(kind, members) for kind, one in enumerate(traffic) for members in one.groups]
    for group in first.tolist():
        kind, members = numbered[group]
        data = traffic[kind].data
        orbits, places = np.unique(found.nodes[members], return_index=True)
        if traffic[kind].collective is Collective.ALLREDUCE:
            count = int(sizes[found.groups[group]])
            yield RootClass(kind, group, tuple(places.tolist()), count, data)
            continue
        for orbit, place in zip(orbits.tolist(), places.tolist(), strict=True):
            yield RootClass(kind, group, (place,), int((found.nodes == orbit).sum()), data)
