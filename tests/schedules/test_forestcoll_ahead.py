import random

import numpy as np
import pytest

from benchmarks.bench_forestcoll import generalized_kautz
from tests.oracles import random_topology, torus
from topoloom.schedules.trees.flow.demand import demand_of
from topoloom.schedules.trees.flow.network import network_of
from topoloom.schedules.trees.flow.optimality import tree_capacities
from topoloom.schedules.trees.forestcoll import optimum
from topoloom.schedules.trees.packing.spanning_trees import TreeGroup, pack
from topoloom.schedules.trees.packing.speculative_roots import GrownForest, SpeculativeGrowth
from topoloom.synth.topology.topology import Topology


def packed(topology: Topology, factor: int = 1) -> list[tuple[int, int, list[int]]]:
    """Return the forest of the general way, with so many times the fewest trees."""
    network = network_of(topology, demand_of(topology))
    best = optimum(topology)
    each = best.trees_per_root * factor
    room = tree_capacities(network, factor * network.unit / best.unit_bandwidth, each)
    trees = each * network.sizes
    groups: list[TreeGroup] = pack(network.node_count, network.tail, network.head, room, trees)
    return [(group.root, group.multiplicity, group.arcs.tolist()) for group in groups]


def same_if_tested(topology: Topology, monkeypatch: pytest.MonkeyPatch, factor: int = 1) -> int:
    """Compare with the forest for which every arc is tested; return how many roots were not."""
    untested: list[int] = []
    asked = SpeculativeGrowth.grown

    def noted(self: SpeculativeGrowth, index: int) -> GrownForest | None:
        found = asked(self, index)
        untested.append(0 if found is None else found.next_root - index)
        return found

    def never(self: SpeculativeGrowth, index: int) -> None:
        self.tested = 1

    with monkeypatch.context() as context:
        context.setattr(SpeculativeGrowth, "grown", noted)
        found = packed(topology, factor)
    with monkeypatch.context() as context:
        context.setattr(SpeculativeGrowth, "grown", never)
        assert packed(topology, factor) == found
    return sum(untested)


@pytest.mark.parametrize(
    "topology",
    [torus(6, 6), torus(4, 4, 3), torus(12, 3), generalized_kautz(4, 60), generalized_kautz(3, 50)],
    ids=["6x6", "4x4x4", "12x3", "kautz-4-60", "kautz-3-50"],
)
def test_where_single_nodes_are_narrowest_many_roots_are_grown_untested_to_the_same_effect(
    topology: Topology, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 3 * same_if_tested(topology, monkeypatch) > len(topology.compute_nodes)


def of_random_cycles(rng: random.Random) -> Topology:
    nodes = list(range(rng.randint(8, 30)))
    links = []
    for _ in range(rng.randint(2, 5)):
        order = rng.sample(nodes, len(nodes))
        capacity = rng.choice([1, 1, 2])
        links += [(order[i - 1], order[i], capacity) for i in range(len(nodes))]
    return Topology(nodes, links)


@pytest.mark.parametrize("seed", range(20))
def test_a_graph_of_random_cycles_gets_the_forest_that_testing_every_arc_gives(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    same_if_tested(of_random_cycles(rng), monkeypatch, rng.choice([1, 1, 2]))


@pytest.mark.parametrize("seed", range(20))
def test_any_network_gets_the_forest_that_testing_every_arc_gives(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    topology = random_topology(random.Random(seed))
    if not topology.switches:
        same_if_tested(topology, monkeypatch, 1 + seed % 3)


@pytest.mark.parametrize("seed", range(8))
def test_fewer_trees_at_once_make_the_same_forest(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    topology = of_random_cycles(random.Random(seed))
    whole = packed(topology, 3)
    monkeypatch.setattr(
        "topoloom.schedules.trees.packing.speculative_roots.AT_ONCE", 3 * topology.node_count
    )
    assert packed(topology, 3) == whole


def test_a_network_too_narrow_for_its_trees_is_refused_however_they_are_grown() -> None:
    nodes = np.arange(4)
    wide, narrow = np.full(4, 3), np.array([3, 3, 3, 2])
    assert len(pack(4, nodes, (nodes + 1) % 4, wide, np.ones(4, np.int64))) == 4
    with pytest.raises(RuntimeError):
        pack(4, nodes, (nodes + 1) % 4, narrow, np.ones(4, np.int64))
