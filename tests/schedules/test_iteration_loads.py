"""Collectives of groups on real links: hand-checked times, conservation of messages, placements."""

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.groups.process_groups import ProcessGroups
from topoloom.schedules.iterations.communications import Traffic
from topoloom.schedules.iterations.fabric import Fabric, RankPlacement
from topoloom.schedules.iterations.group_loads import RoutedGroups
from topoloom.schedules.iterations.link_sharing import LinkShares
from topoloom.schedules.iterations.path_loads import TREES, UNIT, ShortestPaths
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.topology import Topology

F = Fraction


def star(hosts, capacity=1):
    """Return hosts at one switch."""
    links = [
        pair for host in range(hosts) for pair in ((host, "s", capacity), ("s", host, capacity))
    ]
    return Topology([*range(hosts), "s"], links, switches=["s"])


def network(topology, parallel, alpha=0, accelerators=1, inside=None, hosts=None):
    fabric = Fabric(topology, F(1), F(alpha), accelerators, inside and F(inside))
    placed = RankPlacement(
        ProcessGroups.parse(parallel), hosts or topology.compute_nodes, accelerators
    )
    return RoutedGroups(fabric, placed, ShortestPaths(topology))


def recipe(text):
    return build(parse(text))


@pytest.mark.parametrize(
    ("traffic", "seconds"),
    [
        # Every host sends 3 of 4 shards over its one link.
        (Traffic.ALLGATHER, F(3, 4) + 1),
        (Traffic.REDUCE_SCATTER, F(3, 4) + 1),
        (Traffic.ALLREDUCE, F(6, 4) + 2),
        (Traffic.ALL_TO_ALL, F(3, 4) + 1),
    ],
)
def test_a_switch_runs_collectives_at_the_bandwidth_of_a_host(traffic, seconds):
    found = network(star(4), "data=4", alpha=1).cost("data", traffic, 0, F(1))
    assert found.seconds == seconds


def test_a_two_way_ring_uses_both_directions():
    ring = network(recipe("BiRing(8)"), "data=8", alpha=1)
    found = ring.cost("data", Traffic.ALLGATHER, 0, F(8))
    # By trees, every host is reached in 4 hops; the last hop carries one shard from two sides.
    assert (found.algorithm, found.latency, found.transfer) == ("trees", 4, F(7, 2))


def test_a_one_way_ring_scatters_in_reverse():
    ring = network(recipe("UniRing(5)"), "data=5", alpha=1)
    gather, scatter = (
        ring.cost("data", traffic, 0, F(5))
        for traffic in (Traffic.ALLGATHER, Traffic.REDUCE_SCATTER)
    )
    assert gather.seconds == scatter.seconds == 4 + 4


def test_two_groups_on_a_ring_share_its_links():
    """Hosts 0 and 2, and hosts 1 and 3, exchange over the same ring of four."""
    ring = recipe("BiRing(4)")
    found = network(ring, "tensor=2,data=2").cost("data", Traffic.ALL_TO_ALL, 0, F(2))
    # Four messages of one byte, each half both ways round, over two links: 4 bytes on 8 links.
    assert found.transfer == 1
    assert network(ring, "data=2,tensor=2").cost("data", Traffic.ALL_TO_ALL, 0, F(2)).transfer == 1


def test_neighboring_stages_do_not_share_links_and_crossing_sends_do():
    ring = network(recipe("BiRing(4)"), "pipeline=4")
    rows = [ring.cost("pipeline", Traffic.SEND_NEXT, stage, F(1)).row for stage in range(3)]
    assert set(LinkShares(rows).speeds(range(3)).values()) == {1}
    crossed = network(recipe("UniRing(4)"), "pipeline=4", hosts=(0, 2, 1, 3))
    rows = [crossed.cost("pipeline", Traffic.SEND_NEXT, stage, F(1)).row for stage in range(3)]
    # 0 -> 2, 2 -> 1 and 1 -> 3 overlap on the one-way ring.
    assert set(LinkShares(rows).speeds(range(3)).values()) == {F(1, 2)}


def test_groups_inside_a_host_use_no_cable():
    inside = network(recipe("BiRing(3)"), "tensor=4,data=3", accelerators=4, inside=10)
    found = inside.cost("tensor", Traffic.ALLREDUCE, 0, F(20))
    assert (found.latency, found.transfer) == (0, F(2 * 3 * 20, 4 * 10))
    # Four data groups of one rank per host share the cables of the host.
    assert inside.cost("data", Traffic.ALLGATHER, 0, F(3)).transfer == 4


def test_a_group_over_hosts_and_accelerators_takes_the_slower_network():
    both = network(recipe("BiRing(3)"), "data=12", accelerators=4, inside=F(1, 100))
    found = both.cost("data", Traffic.ALLGATHER, 0, F(12))
    assert found.transfer == F(11, 12) * 12 * 100
    fast = network(recipe("BiRing(3)"), "data=12", accelerators=4, inside=10**6)
    # Every host receives the 8 shards of two hosts over two cables.
    assert fast.cost("data", Traffic.ALLGATHER, 0, F(12)).transfer == 4


graphs = st.tuples(st.integers(4, 12), st.integers(2, 3), st.integers(0, 99)).filter(
    lambda one: one[0] * one[1] % 2 == 0 and one[0] > one[1]
)


@given(graphs, st.data())
def test_unicasts_follow_shortest_paths_and_conserve_messages(graph, data):
    nodes, degree, seed = graph
    drawn = nx.random_regular_graph(degree, nodes, seed)
    topology = Topology(range(nodes), [(a, b) for a, b in nx.DiGraph(drawn).edges])
    if not nx.is_connected(drawn):
        with pytest.raises(NoSchedule, match="a path between any two hosts"):
            ShortestPaths(topology)
        return
    far = dict(nx.all_pairs_shortest_path_length(drawn))
    pairs = data.draw(st.lists(st.permutations(range(nodes)).map(lambda p: p[:2]), max_size=9))
    demand = np.zeros((nodes, nodes), np.int64)
    for source, target in pairs:
        demand[source, target] += 1
    loads = ShortestPaths(topology).unicasts(demand)
    assert loads.hops == max((far[s][t] for s, t in pairs), default=0)
    # The total load is that of shortest paths, and every node passes on what is not its own.
    assert loads.steps.sum() == UNIT * sum(far[s][t] for s, t in pairs)
    into, out = np.zeros(nodes), np.zeros(nodes)
    np.add.at(into, topology.targets, loads.steps[0])
    np.add.at(out, topology.sources, loads.steps[0])
    assert np.array_equal(into - out, UNIT * (demand.sum(axis=0) - demand.sum(axis=1)))


@given(graphs)
def test_broadcasts_reach_every_member_once(graph):
    nodes, degree, seed = graph
    drawn = nx.random_regular_graph(degree, nodes, seed)
    if not nx.is_connected(drawn):
        return
    topology = Topology(range(nodes), [(a, b) for a, b in nx.DiGraph(drawn).edges])
    everyone = np.arange(nodes)
    loads = ShortestPaths(topology).broadcasts(
        everyone, np.ones(nodes, np.int64), ~np.eye(nodes, dtype=bool)
    )
    assert loads.hops == nx.diameter(drawn)
    into = np.zeros(nodes, np.int64)
    np.add.at(into, topology.targets, loads.steps.sum(axis=0))
    assert into.tolist() == [TREES * (nodes - 1)] * nodes


def test_a_switch_that_does_not_copy_takes_one_message_per_member():
    goals = np.array([[False, True, True, True, False]])
    loads = ShortestPaths(star(4)).broadcasts(np.array([0]), np.array([1]), goals)
    assert loads.steps.sum() == TREES * 6


def test_a_placement_states_the_coordinates_of_every_host():
    placed = RankPlacement(ProcessGroups.parse("tensor=2,pipeline=2"), ("a", "b", "c", "d"))
    assert placed.table() == [("a", 0, 0, 0), ("b", 1, 0, 1), ("c", 0, 1, 2), ("d", 1, 1, 3)]
    assert placed.groups("tensor", 1).tolist() == [[2, 3]]
    assert placed.neighbours(0, 1).tolist() == [[0, 2], [1, 3]]
    with pytest.raises(NoSchedule, match="must multiply to the 4 ranks; tensor=3 has 3"):
        RankPlacement(ProcessGroups.parse("tensor=3"), ("a", "b", "c", "d"))
