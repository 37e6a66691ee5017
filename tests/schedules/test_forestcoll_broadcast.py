import random
from fractions import Fraction

import networkx as nx
import pytest

from tests.cases import for_every
from tests.flow_oracles import flow_rate
from tests.oracles import data_cuts, forest_faults, random_topology, torus, worst_data_ratio
from tests.schedule_oracles import ring, two_boxes
from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.generate.collectives import make, reverse
from topoloom.schedules.model.schedule import Collective, tree_height
from topoloom.schedules.trees.forestcoll import broadcast, optimum
from topoloom.schedules.verify import tree_inverse_rate, violations
from topoloom.synth.errors import InvalidTopology, Unreachable
from topoloom.synth.fabrics import fabric
from topoloom.synth.topology.topology import NodeId, Topology


def least_flow(topology: Topology, root: NodeId) -> Fraction:
    """Return the least max-flow from the root to any compute node, by another program."""
    graph = nx.DiGraph()
    for source, target, capacity in topology.links:
        before = graph.get_edge_data(source, target, {"capacity": Fraction(0)})["capacity"]
        graph.add_edge(source, target, capacity=before + capacity)
    others = [node for node in topology.compute_nodes if node != root]
    return min(nx.maximum_flow_value(graph, root, node) for node in others)


@pytest.mark.slow
@for_every("seed", range(100))
def test_the_best_broadcast_rate_is_the_least_flow_to_any_node(seed: int) -> None:
    topology = random_topology(random.Random(seed))
    for root in topology.compute_nodes:
        best = optimum(topology, root=root)
        sizes = dict.fromkeys(topology.compute_nodes, 0) | {root: 1}
        if best.proof is not None:
            assert best.algbw < least_flow(topology, root)
            assert float(best.algbw) == pytest.approx(flow_rate(topology, sizes, "o"))
            continue
        assert best.algbw == least_flow(topology, root)
        assert best.inverse_rate == worst_data_ratio(
            topology, dict.fromkeys(topology.compute_nodes, 0) | {root: 1}
        )


@for_every("seed", range(40))
def test_the_bottleneck_holds_the_root_and_is_the_tightest_of_all_cuts(seed: int) -> None:
    topology = random_topology(random.Random(seed))
    root = topology.compute_nodes[-1]
    best = optimum(topology, shards={root: 5})
    assert best.bottleneck is not None
    assert root in best.bottleneck
    assert set(topology.compute_nodes) - best.bottleneck
    exits = {
        inside: leaving
        for inside, _, leaving in data_cuts(
            topology, dict.fromkeys(topology.compute_nodes, 0) | {root: 1}
        )
    }
    assert exits[best.bottleneck] == best.exit_capacity == min(exits.values())
    assert (best.data, best.data_inside) == (1, 1)


@pytest.mark.slow
@for_every("seed", range(100))
def test_every_balanced_network_gets_an_optimal_broadcast(seed: int) -> None:
    topology = random_topology(random.Random(seed), balanced=True)
    root = topology.compute_nodes[seed % len(topology.compute_nodes)]
    best, schedule = optimum(topology, root=root), broadcast(topology, root)
    sizes = dict.fromkeys(topology.compute_nodes, 0) | {root: 1}
    assert forest_faults(schedule, topology, best.unit_bandwidth, sizes) == []
    assert {tree.root for tree in schedule.trees} == {root}
    assert violations(schedule, topology) == []
    assert tree_inverse_rate(schedule, topology) == best.inverse_rate


@for_every("seed", range(40))
def test_networks_without_switches_need_no_balance_and_no_way_back(seed: int) -> None:
    rng = random.Random(seed)
    order = rng.sample(range(6), 6)
    links = [(order[rng.randrange(i)], order[i], rng.randint(1, 4)) for i in range(1, 6)]
    links += [(*rng.sample(range(6), 2), rng.randint(1, 5)) for _ in range(6)]
    topology = Topology(range(6), links)
    root = order[0]
    schedule = broadcast(topology, root)
    assert violations(schedule, topology) == []
    assert tree_inverse_rate(schedule, topology) == 1 / least_flow(topology, root)


@for_every("trees", [1, 2, 3])
@for_every("seed", range(15))
def test_the_number_of_trees_of_a_broadcast_can_be_given(seed: int, trees: int) -> None:
    topology = random_topology(random.Random(seed))
    topology = Topology(
        topology.nodes,
        [link for s, t, c in topology.links for link in ((s, t, c), (t, s, c))],
        switches=topology.switches,
    )
    root = topology.compute_nodes[0]
    schedule = broadcast(topology, root, trees)
    assert violations(schedule, topology) == []
    assert sum(tree.weight for tree in schedule.trees) == trees == schedule.trees_per_root
    best = optimum(topology, trees, root=root)
    assert tree_inverse_rate(schedule, topology) == best.inverse_rate
    least = worst_data_ratio(topology, dict.fromkeys(topology.compute_nodes, 0) | {root: 1})
    assert best.inverse_rate == least * (1 + best.gap)


@pytest.mark.parametrize(
    ("topology", "rate"),
    [
        (torus(4, 4), Fraction(4)),
        (torus(8, 8), Fraction(4)),
        (fabric("dgx-a100-1"), Fraction(300)),
        (fabric("dgx-a100-2"), Fraction(200)),  # its box sends out eight times 25
        (fabric("mi300x"), Fraction(448)),
    ],
    ids=str,
)
def test_a_broadcast_is_as_fast_as_the_root_and_its_box_can_send(
    topology: Topology, rate: Fraction
) -> None:
    root = topology.compute_nodes[0]
    schedule = broadcast(topology, root)
    assert violations(schedule, topology) == []
    assert 1 / tree_inverse_rate(schedule, topology) == rate


@pytest.mark.parametrize(("name", "height"), [("rail-4-8", 6), ("rail-8-8", 8), ("mi250-4", 14)])
def test_trees_of_one_root_differ_and_are_no_chains(name: str, height: int) -> None:
    """Every rank sends as much as it receives, so one with several children is a leaf elsewhere."""
    topology = fabric(name)
    schedule = broadcast(topology, topology.compute_nodes[0])
    assert violations(schedule, topology) == []
    assert max(map(tree_height, schedule.trees)) <= height


@pytest.mark.parametrize("topology", [two_boxes(), torus(3, 4), fabric("dgx-1v")], ids=str)
def test_reduce_is_a_broadcast_of_the_transpose_run_backwards(topology: Topology) -> None:
    root = topology.compute_nodes[1]
    schedule = make(topology, "reduce", "forestcoll", root=root)
    assert schedule.collective is Collective.REDUCE
    assert violations(schedule, topology) == []
    turned = topology.transpose()
    assert reverse(schedule, turned) == broadcast(turned, root)
    assert tree_inverse_rate(schedule, topology) == 1 / least_flow(turned, root)


def test_only_the_root_must_reach_the_others_and_be_reached_by_them_to_reduce() -> None:
    line = Topology("abc", [("a", "b"), ("b", "c")])
    assert violations(make(line, "broadcast", "forestcoll", root="a"), line) == []
    assert violations(make(line, "reduce", "forestcoll", root="c"), line) == []
    with pytest.raises(Unreachable, match="'b' must reach 'a'"):
        make(line, "broadcast", "forestcoll", root="b")
    with pytest.raises(Unreachable, match="'c' must reach 'b'"):
        make(line, "reduce", "forestcoll", root="b")


@pytest.mark.parametrize("collective", ["broadcast", "reduce"])
@pytest.mark.parametrize(
    ("root", "rule"),
    [("0.nvswitch", "is a switch"), ("nobody", "is no node"), (None, "must name"), (7, "no node")],
)
def test_a_root_that_is_no_compute_node_is_refused(collective, root, rule) -> None:
    with pytest.raises(NoSchedule, match=rule) as caught:
        make(two_boxes(), collective, "forestcoll", root=root)
    assert caught.value.field.strip("/") == "root"
    if root is not None:
        with pytest.raises(NoSchedule, match=rule) as caught:
            broadcast(two_boxes(), root)
        assert caught.value.field == "root"


def test_what_makes_no_sense_together_is_refused() -> None:
    for collective in ("allgather", "reduce-scatter", "allreduce"):
        with pytest.raises(NoSchedule) as caught:
            make(ring(3), collective, "forestcoll", root=0)
        assert caught.value.field == "/root"
    with pytest.raises(NoSchedule) as caught:
        make(ring(3), "broadcast", "bfb", root=0)
    assert caught.value.field == "/algorithm"
    with pytest.raises(NoSchedule) as caught:
        make(ring(3), "broadcast", "forestcoll", root=0, shards={0: 1})
    assert caught.value.field == "/shards"
    with pytest.raises(InvalidTopology):
        broadcast(Topology([0], []), 0)


def test_the_fewest_trees_within_a_gap_are_found_for_a_broadcast_too() -> None:
    lopsided = Topology("abc", [("a", "b", 17), ("a", "c", 16), ("b", "c", 5), ("c", "b", 5)])
    best = optimum(lopsided, root="a")
    few = optimum(lopsided, root="a", max_gap=Fraction(1, 10))
    assert (few.trees_per_root, best.trees_per_root) == (4, 21)
    assert few.gap <= Fraction(1, 10)
    schedule = broadcast(lopsided, "a", max_gap=Fraction(1, 10))
    assert violations(schedule, lopsided) == []
    assert schedule.trees_per_root == 4
