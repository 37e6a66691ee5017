"""Forests beside a fault: images of a few trees, completed by the ranks near the fault."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topoloom.schedules.model.schedule import Collective, TreeSchedule, tree_height
from topoloom.schedules.trees.flow.demand import demand_of
from topoloom.schedules.trees.flow.network import Network, network_of
from topoloom.schedules.trees.flow.optimality import Rate, tree_capacities
from topoloom.schedules.trees.forestcoll import allgather, optimum
from topoloom.schedules.trees.forests.completed_forest import completed_trees
from topoloom.schedules.trees.forests.joint_rank import joint_trees
from topoloom.schedules.trees.forests.topology_trees import named_trees
from topoloom.schedules.trees.rates.balanced_capacities import excess
from topoloom.schedules.trees.rates.topology_rate import rates
from topoloom.schedules.trees.symmetry.equivalent_ranks import equivalent_ranks
from topoloom.schedules.trees.symmetry.neighbor_order import neighbor_order, renumbered
from topoloom.schedules.trees.symmetry.rotations import Action, rotations
from topoloom.schedules.verify import tree_inverse_rate, violations
from topoloom.synth.errors import SynthError
from topoloom.synth.fabrics import fabric
from topoloom.synth.topology.topology import Link, Topology

SMALL = ("dgx-a100-3", "dgx-a100-4", "dgx-h100-3", "rail-4-2", "rail-5-4", "mi250-3", "ndv2-3")


def with_links(topology: Topology, links: list[Link]) -> Topology:
    return Topology(
        topology.nodes, links, switches=topology.switches, bandwidth_unit=topology.bandwidth_unit
    )


def pairs(topology: Topology) -> list[frozenset[object]]:
    """Joined nodes, without repetition."""
    return list(dict.fromkeys(frozenset(link[:2]) for link in topology.links))


def without_link(topology: Topology, lost: frozenset[object]) -> Topology:
    return with_links(topology, [link for link in topology.links if set(link[:2]) != lost])


def slowed(topology: Topology, slow: frozenset[object], divisor: int) -> Topology:
    links = [
        Link(link.source, link.target, link.capacity * (1 if set(link[:2]) == slow else divisor))
        for link in topology.links
    ]
    return with_links(topology, links)


def without_node(topology: Topology, lost: object) -> Topology:
    links = [link for link in topology.links if lost not in link[:2]]
    nodes = [node for node in topology.nodes if node != lost]
    return Topology(nodes, links, switches=topology.switches & set(nodes))


@st.composite
def faults(draw: st.DrawFn) -> Topology:
    """A fabric of several boxes with one link lost or slow, or one node lost."""
    topology = fabric(draw(st.sampled_from(SMALL)))
    kind = draw(st.sampled_from(["link", "slow", "node"]))
    if kind == "node":
        return without_node(topology, draw(st.sampled_from(topology.nodes)))
    pair = draw(st.sampled_from(pairs(topology)))
    if kind == "link":
        return without_link(topology, pair)
    return slowed(topology, pair, draw(st.integers(2, 4)))


def moving(network: Network) -> tuple[Network, list[int], Action | None]:
    """The network in the order of its neighbors, and the group that moves equivalent ranks."""
    order = neighbor_order(network)
    listed = renumbered(network, order)
    return listed, order.tolist(), rotations(replace(listed, terminals=equivalent_ranks(listed)))


def completed(topology: Topology) -> tuple[TreeSchedule, Rate] | None:
    """The forest of the best rate by completed images; None if there is none."""
    network = network_of(topology)
    if excess(network):
        return None
    listed, order, action = moving(network)
    if action is None or not len(action.others(listed.terminals)):
        return None
    rate = rates(listed, None).rate
    room = tree_capacities(listed, rate.scale, rate.trees_per_root)
    found = completed_trees(listed, room, rate.trees_per_root, action)
    if found is None:
        return None
    trees = named_trees([topology.nodes[node] for node in order], found)
    ranks = topology.compute_nodes
    forest = TreeSchedule(Collective.ALLGATHER, topology.digest, ranks, rate.trees_per_root, trees)
    return forest, rate


@pytest.mark.slow
@given(faults())
def test_completed_images_are_a_forest_at_the_optimum(topology: Topology) -> None:
    try:
        best = optimum(topology)
    except SynthError:
        return  # A rank is cut off.
    found = completed(topology)
    if found is None:
        return
    forest, _ = found
    assert violations(forest, topology) == []
    assert tree_inverse_rate(forest, topology) == best.inverse_rate
    depths = []
    for tree in forest.trees:
        depth = {tree.root: 0}
        for edge in tree.edges:
            depth[edge[-1]] = depth[edge[0]] + 1
        depths.append(list(depth.values()))
    assert all(depth == sorted(depth) for depth in depths)


@pytest.mark.parametrize(
    "name", ["rail-5-4", "rail-4-2", pytest.param("dgx-a100-4", marks=pytest.mark.slow)]
)
def test_the_loss_of_any_link_of_a_box_leaves_images_that_can_be_completed(name: str) -> None:
    topology = fabric(name)
    lost = [pair for pair in pairs(topology) if any(str(node).startswith("1.") for node in pair)]
    assert len(lost) >= 4
    for pair in lost:
        assert completed(without_link(topology, pair)) is not None, pair


@given(faults())
def test_the_group_moves_each_equivalent_rank_and_maps_arcs_to_equal_arcs(
    topology: Topology,
) -> None:
    network, _, action = moving(network_of(topology))
    if action is None:
        return
    ends = list(zip(network.tail.tolist(), network.head.tolist(), strict=True))
    room = dict(zip(ends, network.capacity.tolist(), strict=True))
    moved = equivalent_ranks(network)
    for image in action.images[1:].tolist():
        assert {(image[s], image[t]): width for (s, t), width in room.items()} == room
        assert all(network.is_rank[image[rank]] for rank in network.terminals)
        assert all(image[rank] != rank for rank in moved.tolist())


def test_the_ranks_of_the_box_with_the_fault_are_not_moved() -> None:
    network = network_of(without_link(fabric("rail-6-4"), frozenset({"2.gpu1", "rail1"})))
    _, order, action = moving(network)
    assert action is not None
    listed = moving(network)[0]
    names = fabric("rail-6-4").nodes
    assert {names[order[rank]] for rank in action.others(listed.terminals)} == {
        f"2.gpu{gpu}" for gpu in range(4)
    }


def test_no_trees_are_packed_where_a_cut_forbids_them() -> None:
    links = [(rank, "w", 3) for rank in range(4)] + [("w", rank, 3) for rank in range(4)]
    network = network_of(Topology([*range(4), "w"], links, switches="w"))
    assert joint_trees(network, network.capacity, np.arange(3), 1) is None
    assert joint_trees(network, 3 * network.capacity, np.arange(3), 1) is not None


@given(st.integers(0, 2**32), st.integers(1, 3))
def test_trees_of_the_joint_rank_span_it_and_the_others_within_the_capacities(
    seed: int, trees_per_root: int
) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 8))
    joined = {
        (s, t) for s in range(count + 2) for t in range(s) if rng.random() < 0.5 or t == s - 1
    }
    both = sorted(joined | {(t, s) for s, t in joined})
    network = network_of(Topology(range(count + 2), both, switches=[count, count + 1]))
    moved = network.terminals[: int(rng.integers(2, count))]
    room = rng.integers(1, 30, len(network.tail))
    ends = list(zip(network.tail.tolist(), network.head.tolist(), strict=True))
    drawn = dict(zip(ends, room.tolist(), strict=True))
    # Switches forward as much as they receive.
    room = np.array([drawn[min(pair), max(pair)] for pair in ends])
    found = joint_trees(network, room, moved, trees_per_root)
    if found is None:
        return
    joint, others = int(moved[0]), set(network.terminals.tolist()) - set(moved.tolist())
    used: dict[tuple[int, int], int] = {}
    weights: dict[int, int] = {}
    for tree in found:
        steps = [*tree.stem, *(step for _, way in tree.ways for step in way)]
        assert {tree.root, *(path[-1] for path, _ in steps)} == {joint, *others}
        assert len(steps) == len(others)
        weights[tree.root] = weights.get(tree.root, 0) + tree.weight
        for path, _ in steps:
            for pair in pairwise(path):
                used[pair] = used.get(pair, 0) + tree.weight
    assert weights == {joint: trees_per_root * len(moved)} | dict.fromkeys(others, trees_per_root)
    place = {node: joint if node in moved else node for node in range(network.node_count)}
    total: dict[tuple[int, int], int] = {}
    for (tail, head), amount in zip(ends, room.tolist(), strict=True):
        pair = place[tail], place[head]
        total[pair] = total.get(pair, 0) + amount
    assert all(amount <= total[pair] for pair, amount in used.items())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "lost"),
    [
        ("dgx-a100-20", {"3.gpu5", "plane1"}),
        ("dgx-a100-20", {"3.gpu5", "3.nvswitch"}),
        ("rail-20-8", {"3.gpu5", "rail5"}),
        ("mi250-10", {"3.gpu5", "fabric"}),
        ("mi250-10", {"3.gpu5", "3.gpu4"}),
    ],
)
def test_a_large_fabric_without_a_link_has_few_trees_at_the_optimum(
    name: str, lost: set[object]
) -> None:
    topology = without_link(fabric(name), frozenset(lost))
    forest = allgather(topology)
    assert violations(forest, topology) == []
    assert tree_inverse_rate(forest, topology) == optimum(topology).inverse_rate
    assert len(forest.trees) <= 2 * len(topology.compute_nodes)


def test_unequal_shards_beside_a_fault_are_packed() -> None:
    topology = without_link(fabric("rail-17-8"), frozenset({"3.gpu5", "rail5"}))
    shards = dict.fromkeys(topology.compute_nodes[:3], 1)
    forest = allgather(topology, shards=shards)
    assert violations(forest, topology) == []
    assert demand_of(topology, shards).roots == topology.compute_nodes[:3]


@pytest.mark.parametrize(
    ("name", "lost", "height"),
    [
        ("rail-40-4", {"3.gpu2", "rail2"}, 4),
        ("rail-40-4", {"3.gpu2", "3.nvswitch"}, 2),
        pytest.param("mi250-16", {"3.gpu5", "fabric"}, 9, marks=pytest.mark.slow),
    ],
)
def test_where_packing_is_fast_the_lower_trees_are_kept(name, lost, height) -> None:
    topology = without_link(fabric(name), frozenset(lost))
    schedule = allgather(topology)
    assert violations(schedule, topology) == []
    assert tree_inverse_rate(schedule, topology) == optimum(topology).inverse_rate
    assert max(map(tree_height, schedule.trees)) <= height
