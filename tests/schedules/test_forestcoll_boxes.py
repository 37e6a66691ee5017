"""Forests packed between boxes and spread inside each box."""

from collections import Counter
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import for_every
from topoloom.schedules.model.schedule import Collective, TreeSchedule, tree_height
from topoloom.schedules.trees.flow.network import network_of
from topoloom.schedules.trees.flow.optimality import best_rate
from topoloom.schedules.trees.forestcoll import allgather
from topoloom.schedules.trees.forests.box_contraction import contract_boxes
from topoloom.schedules.trees.forests.box_forest import box_forest
from topoloom.schedules.trees.forests.inner_trees import has_room, one_hop_trees, packed_trees
from topoloom.schedules.verify import require_valid, tree_inverse_rate
from topoloom.synth.boxes.expression import topology_of_boxes
from topoloom.synth.fabrics import fabric
from topoloom.synth.topology.topology import Topology


def forest_of(topology: Topology) -> TreeSchedule | None:
    network = network_of(topology)
    rate = best_rate(network)
    trees = box_forest(topology.nodes, network, rate)
    if trees is None:
        return None
    ranks = topology.compute_nodes
    return TreeSchedule(
        Collective.ALLGATHER, topology.digest, ranks, rate.trees_per_root, tuple(trees)
    )


def heights(schedule: TreeSchedule) -> int:
    return max(map(tree_height, schedule.trees))


@for_every(
    ("text", "hops"),
    [
        # Two hops a box but the last, and one inside the first box.
        ("Boxes(dgx-h100, Circulant(16, 1, 2, 3, 4))", 5),
        ("Boxes(mi300x, Circulant(16, 1, 2, 3, 4))", 5),
        ("Boxes(dgx-h100, GeneralizedKautz(8, 20))", 7),
        ("Boxes(dgx-h100, Complete(9))", 3),
    ],
)
def test_trees_of_boxes_are_at_the_optimum_and_as_low_as_their_paths(text: str, hops: int) -> None:
    topology = topology_of_boxes(text)
    schedule = forest_of(topology)
    assert schedule is not None
    require_valid(schedule, topology)
    assert tree_inverse_rate(schedule, topology) == best_rate(network_of(topology)).inverse / (
        network_of(topology).unit
    )
    assert heights(schedule) <= hops


@settings(max_examples=30)
@given(st.data())
def test_forests_of_random_boxes_are_valid_and_optimal_where_they_exist(data) -> None:
    box = data.draw(st.sampled_from(["Complete(3)", "BiRing(4)", "dgx-1v", "mi300x", "dgx-h100"]))
    between = data.draw(
        st.sampled_from(["Complete(4)", "Kautz(2, 2)", "DeBruijn(2, 3)", "BiRing(5)", "UniRing(3)"])
    )
    rate = data.draw(st.sampled_from(["1/5", "1", "7/2", "40"]))
    rule = data.draw(st.sampled_from(["even", "round-robin"]))
    topology = topology_of_boxes(f"Boxes({box}, {between}, cable={rate}, ports={rule})")
    schedule = forest_of(topology)
    if schedule is not None:
        require_valid(schedule, topology)
        network = network_of(topology)
        assert tree_inverse_rate(schedule, topology) == best_rate(network).inverse / network.unit


@for_every("box", ["dgx-1v", "mi250", "dgx-h100"])
def test_an_allgather_over_boxes_is_no_higher_than_trees_between_boxes(box: str) -> None:
    topology = topology_of_boxes(f"Boxes({box}, Circulant(5, 1, 2), cable=12)")
    schedule, low = allgather(topology), forest_of(topology)
    require_valid(schedule, topology)
    assert low is not None
    assert heights(schedule) <= heights(low)


@for_every("name", ["dgx-a100-2", "mi300x", "fat-tree-4", "dgx-spark-4"])
def test_fabrics_without_cables_between_ranks_of_boxes_are_no_boxes(name: str) -> None:
    network = network_of(fabric(name))
    assert contract_boxes(fabric(name).nodes, network, network.capacity) is None


def test_a_box_that_cannot_spread_its_data_has_no_forest() -> None:
    # 16 cables of 50 GB/s bring more into a box than the 450 GB/s that each GPU receives inside.
    wide = topology_of_boxes("Boxes(dgx-h100, DegreeExpansion(2, Circulant(8, 1, 2, 3, 4)))")
    assert forest_of(wide) is None
    require_valid(allgather(wide), wide)


def test_inside_a_box_data_goes_one_hop_where_the_links_allow_it() -> None:
    network = network_of(fabric("mi300x"))
    trees = one_hop_trees(network)
    assert trees is not None
    assert {tree_height(tree) for tree in trees} == {1}
    assert one_hop_trees(network_of(fabric("dgx-1v"))) is None


def test_packed_trees_inside_a_box_are_as_many_as_enter_at_each_rank() -> None:
    ring = Topology("abc", [(s, t, 4) for s, t in ("ab", "ba", "bc", "cb", "ca", "ac")])
    network = network_of(
        Topology(ring.nodes, [(*link[:2], 4) for link in ring.links] + [("a", "b")])
    )
    network.sizes[:] = 3, 2, 1
    assert has_room(network)
    trees = packed_trees(network)
    assert trees is not None
    started = Counter[int]()
    used = Counter[tuple[int, ...]]()
    for tree in trees:
        started[tree.root] += tree.weight
        used.update(dict.fromkeys(tree.edges, tree.weight))
    assert started == {0: 3, 1: 2, 2: 1}
    room = dict(
        zip(
            zip(network.tail.tolist(), network.head.tolist(), strict=True),
            network.capacity.tolist(),
            strict=True,
        )
    )
    assert all(used[edge] <= room[edge] for edge in used)
    network.sizes[:] = 9, 9, 9
    assert not has_room(network)


def test_unequal_shards_start_at_their_ranks() -> None:
    topology = topology_of_boxes("Boxes(mi300x, Circulant(5, 1, 2))")
    shards = {node: 1 + at % 3 for at, node in enumerate(topology.compute_nodes)}
    schedule = allgather(topology, shards=shards)
    require_valid(schedule, topology)
    assert Fraction(sum(tree.weight for tree in schedule.trees)) == schedule.trees_per_root * sum(
        schedule.sizes
    )
