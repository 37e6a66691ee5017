import random
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

from tests.cases import for_every
from tests.oracles import forest_faults, random_topology, torus
from topoloom.schedules.errors import NoSchedule, TooLarge
from topoloom.schedules.model.schedule import TreeSchedule
from topoloom.schedules.trees.forestcoll import allgather, optimum
from topoloom.schedules.trees.packing import spanning_trees
from topoloom.schedules.trees.packing.height_reduction import reduce_height
from topoloom.schedules.trees.switch_removal.path_bundles import Routes
from topoloom.synth.errors import InvalidTopology, Unreachable
from topoloom.synth.fabrics import fabric
from topoloom.synth.topology.topology import Topology

FABRICS = [
    ("dgx-1v", None),
    ("dgx-a100-1", None),
    ("dgx-a100-2", None),
    ("dgx-a100-2", 1),
    ("dgx-a100-2", 4),
    ("dgx-a100-3", None),
    ("dgx-a100-4", None),
    ("dgx-h100-2", None),
    ("dgx-h100-4", None),
    ("gb200-nvl72", None),
    ("mi250-1", None),
    ("mi250-2", None),
    ("mi250-2", 1),
    ("mi250-2", 5),
    ("mi300x", None),
]

TORI = [(3,), (2, 2), (4, 4), (3, 5), (4, 4, 4), (8, 8)]


def faults(topology: Topology, trees_per_root: int | None) -> list[str]:
    best = optimum(topology, trees_per_root)
    schedule = allgather(topology, trees_per_root)
    if schedule.trees_per_root != best.trees_per_root:
        return ["the schedule has another number of trees per root"]
    return forest_faults(schedule, topology, best.unit_bandwidth)


@pytest.mark.parametrize(("name", "trees"), FABRICS)
def test_a_fabric_gets_a_forest_that_keeps_to_every_link_at_the_optimal_rate(
    name: str, trees: int | None
) -> None:
    assert faults(fabric(name), trees) == []


@pytest.mark.parametrize("sides", TORI)
def test_a_torus_gets_a_forest_at_the_optimal_rate(sides: tuple[int, ...]) -> None:
    assert faults(torus(*sides, capacity=50), None) == []


@pytest.mark.slow
@for_every("seed", range(150))
def test_every_balanced_network_gets_an_optimal_forest(seed: int) -> None:
    assert faults(random_topology(random.Random(seed), balanced=True), None) == []


@pytest.mark.slow
@for_every("trees", [1, 2, 3, 5])
@for_every("seed", range(25))
def test_networks_of_cables_get_a_forest_for_any_given_number_of_trees(
    seed: int, trees: int
) -> None:
    topology = random_topology(random.Random(seed))
    cables = [link for s, t, c in topology.links for link in ((s, t, c), (t, s, c))]
    both = Topology(topology.nodes, cables, switches=topology.switches)
    assert faults(both, trees) == []


@for_every("seed", range(100))
def test_networks_without_switches_need_no_balance(seed: int) -> None:
    topology = random_topology(random.Random(seed))
    links = [link for link in topology.links if not {*link[:2]} & topology.switches]
    ring = [*topology.compute_nodes]
    links += [(s, t, 1) for s, t in zip(ring, ring[1:] + ring[:1], strict=True)]
    assert faults(Topology(ring, links), None) == []


@pytest.mark.slow
@for_every("seed", range(100))
def test_an_unbalanced_network_gets_an_optimal_forest_too(seed: int) -> None:
    assert faults(random_topology(random.Random(3000 + seed)), None) == []


def test_what_leaves_a_switch_has_entered_it() -> None:
    # One unit enters the switch and two leave it; without copies b and c share it.
    links = [("a", "w", 1), ("w", "b", 1), ("w", "c", 1), ("b", "a", 3), ("c", "a", 3)]
    topology = Topology("abcw", links, switches="w")
    assert optimum(topology).inverse_rate == 4
    assert faults(topology, None) == []


def test_a_switch_that_rounding_down_to_whole_trees_unbalances_is_named() -> None:
    links = [("a", "w", 3), ("w", "b", 2), ("w", "c", 1), ("b", "a", 5), ("c", "a", 5)]
    lame = Topology("abcw", [*links, ("b", "c", 1), ("c", "b", 1)], switches="w")
    for trees in (1, 2, 3, 4):
        try:
            assert faults(lame, trees) == []
        except NoSchedule as error:
            assert "'w'" in error.rule


def test_capacity_into_a_switch_that_cannot_leave_it_does_no_harm() -> None:
    pair = [("a", "w", 5), ("b", "w", 4), ("w", "a", 2), ("w", "b", 2)]
    assert faults(Topology("abw", pair, switches="w"), None) == []


def test_switches_behind_switches_are_crossed_in_order() -> None:
    chain = [("a", "u"), ("u", "v"), ("v", "w"), ("w", "b")]
    links = [link for s, t in chain for link in ((s, t), (t, s))]
    schedule = allgather(Topology("abuvw", links, switches="uvw"))
    assert [tree.edges for tree in schedule.trees] == [
        (("a", "u", "v", "w", "b"),),
        (("b", "w", "v", "u", "a"),),
    ]


def test_a_fat_tree_is_crossed_without_loss() -> None:
    links = []
    for leaf in range(4):
        for host in range(2):
            links += [(f"h{leaf}{host}", f"leaf{leaf}", 4), (f"leaf{leaf}", f"h{leaf}{host}", 4)]
        for spine in range(2):
            links += [(f"leaf{leaf}", f"spine{spine}", 4), (f"spine{spine}", f"leaf{leaf}", 4)]
    names = sorted({name for link in links for name in link[:2]})
    switches = [name for name in names if not name.startswith("h")]
    topology = Topology(names, links, switches=switches)
    assert optimum(topology).algbw == Fraction(8 * 4, 7)
    assert faults(topology, None) == []


def test_parallel_links_are_used_together() -> None:
    double = Topology(range(3), [(i, (i + 1) % 3) for i in range(3) for _ in range(2)])
    assert optimum(double).algbw == Fraction(3)
    assert faults(double, None) == []


def test_rational_capacities_are_exact() -> None:
    third = [(i, (i + step) % 4, Fraction(step, 3)) for i in range(4) for step in (1, 2)]
    topology = Topology(range(4), third)
    assert optimum(topology).inverse_rate == Fraction(3)
    assert faults(topology, None) == []


def test_the_same_topology_gets_the_same_forest() -> None:
    assert allgather(fabric("dgx-a100-2")) == allgather(fabric("dgx-a100-2"))


def height(schedule: TreeSchedule) -> int:
    tallest = 0
    for tree in schedule.trees:
        graph = nx.DiGraph([(path[0], path[-1]) for path in tree.edges])
        tallest = max(tallest, *nx.single_source_shortest_path_length(graph, tree.root).values())
    return tallest


@pytest.mark.parametrize(("name", "most"), [("dgx-a100-1", 1), ("gb200-nvl72", 1), ("mi300x", 1)])
def test_where_everyone_is_one_hop_away_trees_are_stars(name: str, most: int) -> None:
    assert height(allgather(fabric(name))) == most


def test_a_forest_for_the_wrong_requests_is_refused() -> None:
    with pytest.raises(NoSchedule) as caught:
        allgather(torus(3), 0)
    assert caught.value.field == "trees_per_root"
    with pytest.raises(Unreachable):
        allgather(Topology(range(3), [(0, 1), (1, 0), (1, 2)]))
    with pytest.raises(InvalidTopology):
        allgather(Topology([0], []))


def test_a_network_too_large_to_pack_is_refused_with_its_size() -> None:
    one_way = np.arange(20_000)
    ring = (one_way, (one_way + 1) % 20_000, np.full(20_000, 19_999))
    with pytest.raises(TooLarge, match="20000 nodes joined by 20000 arcs"):
        spanning_trees.pack(20_000, *ring, np.ones(20_000, dtype=np.int64))


def test_drawing_cuts_a_group_where_its_edges_take_several_paths() -> None:
    routes = Routes({(0, 8): 2, (8, 1): 2, (0, 9): 3, (9, 1): 3, (1, 2): 5})
    routes.join(0, 8, 1, 2)
    routes.join(0, 9, 1, 3)
    drawn = routes.draw([(0, 1), (1, 2)], 5)
    assert sorted(drawn) == [(2, [(0, 8, 1), (1, 2)]), (3, [(0, 9, 1), (1, 2)])]


def test_drawing_prefers_one_path_that_has_room() -> None:
    routes = Routes({(0, 8): 2, (8, 1): 2, (0, 9): 3, (9, 1): 3})
    routes.join(0, 9, 1, 3)
    routes.join(0, 8, 1, 2)
    assert routes.draw([(0, 1)], 2) == [(2, [(0, 8, 1)])]
    assert routes.draw([(0, 1)], 3) == [(3, [(0, 9, 1)])]


@pytest.mark.slow
@for_every("seed", range(25))
def test_networks_of_uneven_capacities_get_optimal_forests_of_many_trees(seed: int) -> None:
    rng = random.Random(seed)
    nodes = [f"c{i}" for i in range(rng.randint(4, 8))] + ["w0", "w1"]
    cables = []
    for _ in range(4 * len(nodes)):
        one, other = rng.sample(nodes, 2)
        amount = rng.randint(50, 500)
        cables += [(one, other, amount), (other, one, amount)]
    topology = Topology(nodes, cables, switches=["w0", "w1"])
    full = optimum(topology).inverse_rate.denominator
    assert full > 10
    assert faults(topology, None) == []
    assert faults(topology, full) == []


def arc_loads(arcs: np.ndarray, weights: np.ndarray) -> dict[int, int]:
    loads: dict[int, int] = {}
    for row, weight in zip(arcs.tolist(), weights.tolist(), strict=True):
        for arc in row:
            loads[arc] = loads.get(arc, 0) + weight
    return loads


@pytest.mark.parametrize("seed", range(30))
def test_shortening_keeps_every_load_and_every_root_and_makes_no_forest_taller(
    seed: int,
) -> None:
    rng = random.Random(seed)
    complete = [(s, t) for s in range(7) for t in range(7) if s != t]
    arcs = {pair: index for index, pair in enumerate(complete)}
    roots, weights, rows = [], [], []
    for _ in range(8):
        order = rng.sample(range(7), 7)
        roots.append(order[0])
        weights.append(rng.randint(1, 3))
        pairs = [(order[max(0, i - rng.randint(1, 2))], order[i]) for i in range(1, 7)]
        rows.append([arcs[pair] for pair in pairs])
    ends = np.array(complete)
    before = np.array(rows), np.array(weights)
    after = reduce_height(*ends.T.copy(), np.array(roots), before[1], before[0])

    def weight_of_roots(some_roots: np.ndarray, some_weights: np.ndarray) -> dict[int, int]:
        total = dict.fromkeys(range(7), 0)
        for root, weight in zip(some_roots.tolist(), some_weights.tolist(), strict=True):
            total[root] += weight
        return total

    def tallest(some_roots: np.ndarray, some_arcs: np.ndarray) -> int:
        heights = []
        for root, row in zip(some_roots.tolist(), some_arcs.tolist(), strict=True):
            graph = nx.DiGraph([complete[arc] for arc in row])
            assert nx.is_arborescence(graph)
            assert set(graph) == set(range(7))
            heights.append(max(nx.single_source_shortest_path_length(graph, root).values()))
        return max(heights)

    assert arc_loads(after[2], after[1]) == arc_loads(*before)
    assert weight_of_roots(after[0], after[1]) == weight_of_roots(np.array(roots), before[1])
    assert tallest(after[0], after[2]) <= tallest(np.array(roots), before[0])


@pytest.mark.parametrize(
    ("name", "most"), [("dgx-a100-2", 4), ("dgx-a100-4", 2), ("dgx-h100-4", 6), ("dgx-a100-8", 2)]
)
def test_trees_cross_a_cluster_in_few_hops(name: str, most: int) -> None:
    assert height(allgather(fabric(name))) <= most


@pytest.mark.parametrize("sides", [(4, 4), (4, 4, 4), (8, 8)])
def test_no_tree_of_a_torus_is_taller_than_the_distances_demand(sides: tuple[int, ...]) -> None:
    assert height(allgather(torus(*sides))) == sum(side // 2 for side in sides)


# Compiles all packing kernels once more, for numbers of 64 bits.
@pytest.mark.slow
def test_capacities_near_the_limit_of_the_machine_are_packed_exactly() -> None:
    big = 10**15 + 37
    links = [(i, (i + step) % 5, big * step + i) for i in range(5) for step in (1, 2)]
    topology = Topology(range(5), links)
    assert optimum(topology).trees_per_root > 10**14
    assert faults(topology, None) == []


def test_more_trees_than_the_machine_can_count_are_refused() -> None:
    with pytest.raises(TooLarge):
        allgather(torus(3), 10**19)
