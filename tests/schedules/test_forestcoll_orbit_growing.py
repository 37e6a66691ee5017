"""Trees grown over orbits of arcs are those that looking at every arc for every edge gives."""

from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from topoloom.schedules.trees.flow.network import network_of
from topoloom.schedules.trees.forests.topology_trees import named_trees
from topoloom.schedules.trees.symmetry.automorphisms import Ints
from topoloom.schedules.trees.symmetry.orbit_tree_growing import grow_orbit_trees
from topoloom.schedules.trees.symmetry.path_trees import PathTree
from topoloom.schedules.trees.symmetry.widest_paths import Arcs, sorted_arcs
from topoloom.synth.topology.topology import Topology

TOLLS = (1 << 31, 1 << 29, 1 << 20, 0)


@st.composite
def fabrics(draw: st.DrawFn) -> Topology:
    """Up to seven ranks and three switches, joined at random, some through several switches."""
    ranks = [f"r{i}" for i in range(draw(st.integers(2, 7)))]
    switches = [f"s{i}" for i in range(draw(st.integers(0, 3)))]
    pairs = [(u, v) for u in ranks + switches for v in ranks + switches if u != v]
    links = draw(st.lists(st.sampled_from(pairs), min_size=len(ranks), max_size=40, unique=True))
    ring = [(u, v) for u, v in zip(ranks, ranks[1:] + ranks[:1], strict=True)]
    return Topology(ranks + switches, sorted({*links, *ring}), switches=switches)


class Way(NamedTuple):
    """What it keeps, the depth at which it begins, how many arcs it has, and the last of them."""

    wide: int
    near: int
    size: int
    arc: int


class Slow:
    """One tree, edge by edge, for each of which all arcs are looked at."""

    def __init__(
        self,
        arcs: Arcs,
        is_rank: NDArray[np.bool_],
        left: Ints,
        total: Ints,
        ample: list[bool],
        depth: dict[int, int],
        weight: int,
        toll: int,
    ) -> None:
        ends = arcs.tail.tolist(), arcs.head.tolist()
        self.arcs = list(zip(*ends, arcs.orbit.tolist(), strict=True))
        self.ranks, self.from_ranks, self.is_rank = arcs.ranks.tolist(), arcs.from_ranks, is_rank
        self.left, self.total, self.ample, self.toll = left, total, ample, toll
        self.depth, self.weight = depth, weight
        self.edges: list[tuple[int, tuple[int, ...]]] = []

    def keeps(self, orbit: int) -> int:
        left, total = int(self.left[orbit]), int(self.total[orbit])
        if left < self.weight:
            return -1
        return int(Fraction(left - self.weight, total) * 2**31) + (self.ample[orbit] << 46)

    def worth(self, way: Way) -> tuple[int, int, int]:
        return way.wide - self.toll * way.near, -way.near, -way.size

    def ways(self) -> tuple[dict[int, Way], dict[int, Way]]:
        """The best way to each node by one arc, and by any arcs between switches behind it.

        Of those as good as each other the one offered first.
        """
        near: dict[int, Way] = {}
        for arc, (tail, head, orbit) in enumerate(self.arcs[: self.from_ranks]):
            if tail in self.depth:
                self.offer(near, head, Way(self.keeps(orbit), self.depth[tail], 1, arc))
        far, again = dict(near), True
        while again:
            again = False
            for arc, (tail, head, _) in enumerate(self.arcs):
                if arc >= self.from_ranks and tail in far and not self.is_rank[head]:
                    again = self.offer(far, head, self.onward(far[tail], arc)) or again
        return near, far

    def offer(self, ways: dict[int, Way], head: int, way: Way) -> bool:
        better = (
            way.wide >= 0
            and head not in self.depth
            and (head not in ways or self.worth(way) > self.worth(ways[head]))
        )
        if better:
            ways[head] = way
        return better

    def onward(self, way: Way, arc: int) -> Way:
        wide = min(way.wide, self.keeps(self.arcs[arc][2]))
        return Way(wide, way.near, way.size + 1, arc)

    def next_edge(self) -> tuple[int, ...] | None:
        """Take the arcs of the widest way to a rank; None if there is none, or too little room."""
        near, far = self.ways()
        found: list[tuple[tuple[int, ...], int, int, dict[int, Way]]] = []

        def see(rank: int, way: Way, ways: dict[int, Way]) -> None:
            if way.wide >= 0 and rank in self.ranks and rank not in self.depth:
                wide, early, short = self.worth(way)
                place = self.ranks.index(rank)
                found.append(((wide, early, -place, short, -way.arc), rank, way.arc, ways))

        for rank, way in near.items():
            see(rank, way, near)
        for ways in (near, far):
            for arc, (tail, head, _) in enumerate(self.arcs):
                if arc >= self.from_ranks and tail in ways:
                    see(head, self.onward(ways[tail], arc), ways)
        if not found:
            return None
        _, rank, arc, ways = max(found, key=lambda one: one[0])
        path = [rank]
        while path[0] not in self.depth:
            tail, _, orbit = self.arcs[arc]
            self.left[orbit] -= self.weight
            path.insert(0, tail)
            if self.left[orbit] < 0 or len(path) > 16:
                return None
            arc = ways[tail].arc if tail in ways else -1
        return tuple(path)

    def whole(self) -> bool:
        while not self.depth.keys() >= set(self.ranks):
            path = self.next_edge()
            if path is None:
                return False
            self.depth[path[-1]] = self.depth[path[0]] + 1
            self.edges.append((self.depth[path[-1]], path))
        return True


@given(fabrics(), st.integers(0, 2**32), st.sampled_from(TOLLS), st.integers(0, 3))
def test_trees_are_those_that_looking_at_every_arc_gives(
    topology: Topology, seed: int, toll: int, order: int
) -> None:
    network, rng = network_of(topology), np.random.default_rng(seed)
    orbit = rng.integers(0, rng.integers(1, len(network.tail) + 1), len(network.tail))
    total = rng.integers(1, 12, int(orbit.max()) + 1)
    ample = rng.integers(0, 2, len(total)) > 0
    # Ranks outside the wanted ones may be in a tree that is begun, or are left out.
    wanted = rng.permutation(network.terminals)[: rng.integers(1, len(network.terminals) + 1)]
    begun = np.full((int(rng.integers(1, 4)), network.node_count), -1)
    for row in begun:
        some = rng.permutation(network.terminals)[: rng.integers(1, 4)]
        row[some] = np.arange(len(some))
    weights = rng.integers(1, 4, len(begun))
    arcs = sorted_arcs(network, wanted, orbit, order)
    left, slow_left = total.copy(), total.copy()
    made = grow_orbit_trees(arcs, left, total, ample, begun, weights, toll)
    grown = iter(made)
    for row, weight in enumerate(weights.tolist()):
        rest = share = weight
        while rest:
            before = slow_left.copy()
            depth = {node: int(at) for node, at in enumerate(begun[row]) if at >= 0}
            listed = ample.tolist()
            slow = Slow(arcs, network.is_rank, slow_left, total, listed, depth, share, toll)
            if not slow.whole():
                if share == 1:
                    assert next(grown)[3:] == (0, row)
                    assert next(grown, None) is None
                    assert (left == slow_left).all()
                    return
                slow_left[:], share = before, (share + 1) // 2
                continue
            nodes, ends, depths, copies, place = next(grown)
            edges = sorted(slow.edges, key=lambda edge: edge[0])
            assert (copies, place) == (share, row)
            assert edges == [
                (level, tuple(nodes[low:high].tolist()))
                for level, (low, high) in zip(depths.tolist(), pairwise(ends), strict=True)
            ]
            rest -= share
            share = min(share, rest)
    assert next(grown, None) is None
    assert (left == slow_left).all()


@st.composite
def drawn(draw: st.DrawFn, base: int) -> PathTree:
    """Edges of a tree, or of none: naming does not ask."""
    paths = draw(st.lists(st.lists(st.integers(0, base - 1), min_size=2, max_size=9), max_size=12))
    nodes = np.array([node for path in paths for node in path], np.int64)
    ends = np.cumsum([0, *map(len, paths)])
    return PathTree(draw(st.integers(0, base - 1)), draw(st.integers(1, 3)), nodes, ends)


@pytest.mark.parametrize("base", [1, 5, 300, 70_000])
@pytest.mark.one_in(3)
def test_names_are_those_of_the_nodes_one_by_one(base: int) -> None:
    names = [f"node {number}" for number in range(base)]

    @given(st.lists(drawn(base), max_size=4))
    def holds(trees: list[PathTree]) -> None:
        for one, tree in zip(trees, named_trees(names, trees), strict=True):
            cuts = pairwise(one.ends.tolist())
            edges = [tuple(names[node] for node in one.nodes[low:high]) for low, high in cuts]
            assert (tree.root, tree.weight) == (names[one.root], one.multiplicity)
            assert tree.edges == tuple(edges)

    holds()
