"""Forests of limited height: valid, as low as was asked for, and as fast as they say."""

import random
from fractions import Fraction

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import for_every
from tests.oracles import random_topology
from topoloom.schedules.compare.height_tradeoff import height_tradeoff
from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.generate.collectives import make
from topoloom.schedules.model.schedule import (
    Collective,
    Schedule,
    TreeSchedule,
    schedule_parts,
    tree_height,
)
from topoloom.schedules.options import Options
from topoloom.schedules.trees.flow.demand import demand_of
from topoloom.schedules.trees.flow.network import network_of
from topoloom.schedules.trees.flow.rank_distances import least_height
from topoloom.schedules.trees.forestcoll import allgather, optimum
from topoloom.schedules.trees.forests.forests_by_height import low_forests
from topoloom.schedules.verify import require_valid, tree_inverse_rate
from topoloom.synth.fabrics import fabric
from topoloom.synth.topology.topology import Topology


def farthest(topology: Topology) -> int:
    graph: nx.DiGraph = nx.DiGraph()
    for source, target, _ in topology.links:
        graph.add_edge(source, target, weight=int(target not in topology.switches))
    ranks = topology.compute_nodes
    found = dict(nx.all_pairs_dijkstra_path_length(graph))
    return int(max(found[root][rank] for root in ranks for rank in ranks))


@for_every("seed", range(40))
def test_no_tree_can_be_lower_than_the_farthest_rank_is_away(seed: int) -> None:
    topology = random_topology(random.Random(seed))
    assert least_height(network_of(topology)) == farthest(topology)


def heights_of(part: Schedule) -> int:
    assert isinstance(part, TreeSchedule)
    return max(map(tree_height, part.trees))


def require_curve(topology: Topology) -> None:
    """Each forest spans the ranks, is as low and as fast as it says, and beats all lower ones."""
    best, forests = optimum(topology).inverse_rate, low_forests(topology, demand_of(topology))
    assert forests[0].height >= farthest(topology)
    rates = [low.inverse_rate for low in forests]
    assert rates == sorted(set(rates), reverse=True) and rates[-1] >= best
    for low in forests:
        made = allgather(topology, max_height=low.height)
        require_valid(made, topology)
        assert max(tree_height(tree) for tree in made.trees) == low.height
        assert tree_inverse_rate(made, topology) <= low.inverse_rate


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6))
def test_every_height_has_the_forest_that_it_says(seed: int) -> None:
    require_curve(random_topology(random.Random(seed), balanced=bool(seed % 2)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [900188, 900848, 900964, 901140, 901248])
@pytest.mark.one_in(3)
def test_other_orders_are_packed_in_the_same_capacities_of_unbalanced_switches(seed: int) -> None:
    require_curve(random_topology(random.Random(seed)))


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ["dgx-1v", "mi250-1", "dgx-a100-2"])
def test_some_forest_is_as_low_as_the_farthest_rank_and_one_is_optimal(name: str) -> None:
    topology = fabric(name)
    forests = low_forests(topology, demand_of(topology))
    assert forests[-1].inverse_rate == optimum(topology).inverse_rate
    lowest = allgather(topology, max_height=farthest(topology))
    require_valid(lowest, topology)
    assert max(tree_height(tree) for tree in lowest.trees) == farthest(topology)


def test_other_orders_of_the_nodes_give_lower_optimal_forests() -> None:
    chips = fabric("mi250-1")
    packed = max(tree_height(tree) for tree in allgather(chips).trees)
    low = low_forests(chips, demand_of(chips))[-1]
    assert (packed, low.height, low.inverse_rate) == (9, 8, optimum(chips).inverse_rate)


@pytest.mark.slow
def test_two_boxes_of_mi250_take_ten_hops() -> None:
    boxes = fabric("mi250-2")
    assert max(map(tree_height, (tree for tree in allgather(boxes).trees))) == 10
    low = low_forests(boxes, demand_of(boxes))[-1]
    assert (low.height, low.inverse_rate) == (10, optimum(boxes).inverse_rate)


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
def test_every_pass_keeps_to_the_height(collective: str) -> None:
    boxes = fabric("dgx-1v")
    made = make(boxes, collective, "forestcoll", max_height=2)
    require_valid(made, boxes)
    assert max(map(heights_of, schedule_parts(made))) == 2


@pytest.mark.parametrize("collective", ["broadcast", "reduce"])
def test_a_broadcast_of_limited_height_has_one_root(collective: str) -> None:
    chips = fabric("mi250-1")
    made = make(chips, collective, "forestcoll", root="0.gpu0", max_height=4)
    require_valid(made, chips)
    assert isinstance(made, TreeSchedule)
    assert heights_of(made) <= 4 and made.root == "0.gpu0"


def test_a_number_of_trees_and_a_group_go_with_a_height() -> None:
    boxes = fabric("dgx-a100-2")
    group = ("0.gpu0", "0.gpu1", "1.gpu0")
    made = make(boxes, "allgather", "forestcoll", 2, participants=group, max_height=1)
    require_valid(made, boxes)
    assert isinstance(made, TreeSchedule)
    assert made.trees_per_root == 2 and heights_of(made) == 1


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"max_height": 1}, "at least 2, the distance of some rank from a root"),
        ({"max_height": 0}, "at least 2"),
        ({"max_height": 3, "max_gap": Fraction(1, 10)}, "together"),
    ],
)
def test_a_height_that_cannot_be_is_refused(options, rule) -> None:
    with pytest.raises(NoSchedule, match=rule) as caught:
        make(fabric("dgx-1v"), "allgather", "forestcoll", **options)
    assert caught.value.field.strip("/") in options


def test_the_curve_ends_at_the_optimum_and_each_point_is_faster_than_the_last() -> None:
    points = height_tradeoff(fabric("dgx-1v"), Collective.ALLREDUCE, Options())
    assert [point.algbw for point in points] == sorted({point.algbw for point in points})
    assert points[-1].gap == 0 and points[0].gap > 0


def test_all_to_all_has_no_height() -> None:
    with pytest.raises(NoSchedule, match="no trees"):
        height_tradeoff(fabric("dgx-1v"), Collective.ALL_TO_ALL, Options())
