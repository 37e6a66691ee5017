"""Forests of shortest paths: optimal wherever they are given, and given wherever they exist."""

from collections import Counter
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topoloom.schedules.trees.flow.network import network_of
from topoloom.schedules.trees.flow.optimality import entry_rate, tree_capacities
from topoloom.schedules.trees.forestcoll import allgather, optimum
from topoloom.schedules.trees.packing.shortest_path_trees import shortest_trees
from topoloom.schedules.trees.rates.topology_rate import rates
from topoloom.schedules.verify import tree_inverse_rate, violations
from topoloom.synth.evaluation.cost import optimal_bandwidth
from topoloom.synth.evaluation.measure import diameter, measure
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.topology import Topology

BALANCED = [
    "Torus(4, 5)",
    "Torus(3, 3, 3)",
    "Hypercube(5)",
    "Circulant(12, 2, 3)",
    "Complete(7)",
    "CompleteBipartite(4)",
    "UniRing(5, 2)",
    "Cayley(8, 3, 4, 9, 10, 18, 19)",
    "LineGraph(1, DirectedCirculant(9, 1, 3, 4))",
    "ProjectivePlane(3)",
    "Diamond()",
]


def heights(schedule) -> set[int]:
    found = set()
    for tree in schedule.trees:
        depth = {tree.root: 0}
        for edge in tree.edges:
            depth[edge[-1]] = depth[edge[0]] + 1
        found.add(max(depth.values()))
    return found


@pytest.mark.parametrize("text", BALANCED)
def test_where_broadcast_is_in_balance_trees_are_as_low_as_the_diameter(text: str) -> None:
    topology = build(parse(text))
    assert measure(topology).bandwidth == optimal_bandwidth(topology.node_count)
    schedule = allgather(topology)
    assert violations(schedule, topology) == []
    best = optimum(topology)
    assert schedule.trees_per_root == best.trees_per_root
    assert tree_inverse_rate(schedule, topology) == best.inverse_rate
    assert max(heights(schedule)) == diameter(topology)


@pytest.mark.slow
def test_a_thousand_nodes_get_trees_of_six_hops() -> None:
    topology = build(parse("Cayley(64, 35, 16, 64, 182, 815, 1023)"))
    schedule = allgather(topology)
    assert tree_inverse_rate(schedule, topology) == Fraction(1023, 4)
    assert violations(schedule, topology) == []
    assert heights(schedule) == {6}


@st.composite
def connected(draw: st.DrawFn) -> Topology:
    """A random strongly connected digraph of unequal capacities."""
    nodes = draw(st.integers(2, 7))
    pairs = [(i, j) for i in range(nodes) for j in range(nodes) if i != j]
    extra = draw(st.lists(st.sampled_from(pairs), max_size=16))
    ring = [(i, (i + 1) % nodes) for i in range(nodes)]
    capacity = st.sampled_from([1, 2, 3, Fraction(1, 2)])
    return Topology(range(nodes), [(*ends, draw(capacity)) for ends in ring + extra])


@given(connected(), st.sampled_from([None, 1, 2, 3]))
def test_no_rate_beats_what_nodes_can_take_in(topology: Topology, trees: int | None) -> None:
    network = network_of(topology)
    best = rates(network, trees).rate
    easy = entry_rate(network, trees)
    assert easy.scale / easy.trees_per_root <= best.scale / best.trees_per_root


@given(connected(), st.sampled_from([None, 1, 2, 3]))
def test_trees_are_given_exactly_where_each_node_has_room_on_shortest_paths(
    topology: Topology, trees: int | None
) -> None:
    network = network_of(topology)
    rate = rates(network, trees).rate
    room = tree_capacities(network, rate.scale, rate.trees_per_root)
    count = topology.node_count
    groups = shortest_trees(count, network.tail, network.head, room, rate.trees_per_root)
    possible = all(
        has_room(topology, network, room, rate.trees_per_root, goal) for goal in range(count)
    )
    assert (groups is not None) == possible
    if groups is None:
        return
    used, per_root = Counter(), Counter()
    distance = dict(nx.all_pairs_shortest_path_length(nx.DiGraph(topology.to_networkx())))
    for group in groups:
        per_root[group.root] += group.multiplicity
        depth = {group.root: 0}
        for arc in group.arcs.tolist():
            tail, head = int(network.tail[arc]), int(network.head[arc])
            used[arc] += group.multiplicity
            assert head not in depth
            depth[head] = depth[tail] + 1
        assert depth == distance[group.root]
    assert set(per_root.values()) == {rate.trees_per_root}
    assert all(used[arc] <= room[arc] for arc in used)


def has_room(topology, network, room, trees: int, goal: int) -> bool:
    """Whether every root's trees can enter one node by shortest paths, as a flow."""
    graph = nx.DiGraph(topology.to_networkx())
    distance = dict(nx.all_pairs_shortest_path_length(graph))
    flow = nx.DiGraph()
    flow.add_nodes_from(["source", "sink"])
    for root in range(topology.node_count):
        if root == goal:
            continue
        flow.add_edge("source", ("root", root), capacity=trees)
        for arc in np.flatnonzero(network.head == goal).tolist():
            if distance[root][int(network.tail[arc])] == distance[root][goal] - 1:
                flow.add_edge(("root", root), ("arc", arc), capacity=trees)
                flow.add_edge(("arc", arc), "sink", capacity=int(room[arc]))
    return nx.maximum_flow_value(flow, "source", "sink") == trees * (topology.node_count - 1)
