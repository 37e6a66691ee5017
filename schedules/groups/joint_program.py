"""The trees of several groups that share the arcs of a network, reduced by symmetry.

Every group sends its data over trees; a tree loads the arcs of its paths.  The least time t is

    min t   with   sum of the loads of all trees on arc e <= t c_e   for every arc e,
                   and weights of the trees of every root with sum 1.

Any lengths y of the arcs prove a bound, as for an all-to-all:

    t * sum c_e y_e >= sum over all roots of the least length of a tree.

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
    """Equivalent roots: ``count`` of them, each with its data at one of ``places`` of its group.

    A class of an allreduce has one element for each group, and chooses among all its members.
    """

    group: int
    places: tuple[int, ...]
    count: int


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

    Parameters
    ----------
    network : Network
    groups : sequence of groups
        Disjoint groups of positions, all of one size.
    collective : Collective
        Allgather, reduce-scatter, allreduce or all-to-all.
    found : GroupOrbits
        Orbits under which all loads are averaged.

    Raises
    ------
    TooLarge
        Two trees of every root exceed `MAX_ENTRIES`.
    """

    def __init__(
        self,
        network: Network,
        groups: Sequence[Sequence[int]],
        collective: Collective,
        found: GroupOrbits,
    ) -> None:
        self._arcs = len(network.tail)
        self._incidence, self.room = _resources(network, found)
        free = collective is Collective.ALLREDUCE
        self.classes = list(_root_classes(groups, found, free=free))
        if 2 * len(self.classes) * len(self.room) > MAX_ENTRIES:
            raise TooLarge(
                "/groups",
                f"have {len(self.classes)} roots and {len(self.room)} links that no automorphism "
                "maps to each other, too many for the linear program",
            )
        direct, size = collective is Collective.ALL_TO_ALL, len(groups[0])
        ends = zip(network.tail.tolist(), network.head.tolist(), strict=True)
        arc_of = {pair: arc for arc, pair in enumerate(ends)}
        self._paths = {
            group: [
                GroupPaths(network, arc_of, groups[group], inward=inward, direct=direct)
                for inward in _INWARD[collective]
            ]
            for group in {one.group for one in self.classes}
        }
        searches = sum(size * len(passes) for passes in self._paths.values())
        trees = sum(len(one.places) for one in self.classes) * len(_INWARD[collective])
        pairs = size if direct else size**2
        self.work = searches * self._arcs + trees * pairs * _TREE_WORK

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
            total += one.count * costs[cheapest]
            trees = tuple(way.tree(root, tree) for way, root, tree in options[cheapest])
            columns.append(Column(kind, trees, self._loads(trees) * one.count))
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


def _root_classes(
    groups: Sequence[Sequence[int]], found: GroupOrbits, *, free: bool
) -> Iterator[RootClass]:
    """Yield the classes of roots: by orbit of members, or with ``free`` by orbit of groups."""
    sizes = np.bincount(found.groups)
    first = np.unique(found.groups, return_index=True)[1]
    for group in first.tolist():
        members = list(groups[group])
        kinds, places = np.unique(found.nodes[members], return_index=True)
        if free:
            yield RootClass(group, tuple(places.tolist()), int(sizes[found.groups[group]]))
            continue
        for kind, place in zip(kinds.tolist(), places.tolist(), strict=True):
            yield RootClass(group, (place,), int((found.nodes == kind).sum()))
