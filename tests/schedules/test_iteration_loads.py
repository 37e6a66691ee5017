"""Collectives of groups on real links: hand-checked times, conservation of messages, placements."""

from fractions import Fraction
from itertools import pairwise

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
from topoloom.synth.fabrics import fabric
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
    hop = None if alpha is None else F(alpha)
    fabric = Fabric(topology, F(1), hop, accelerators, inside and F(inside))
    placed = RankPlacement(
        ProcessGroups.parse(parallel), hosts or topology.compute_nodes, accelerators
    )
    return RoutedGroups(fabric, placed, ShortestPaths(topology, fabric.delays[0]))


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
    assert loads.delay == max((far[s][t] for s, t in pairs), default=0)
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
    assert loads.delay == nx.diameter(drawn)
    into = np.zeros(nodes, np.int64)
    np.add.at(into, topology.targets, loads.steps.sum(axis=0))
    assert into.tolist() == [TREES * (nodes - 1)] * nodes


@given(graphs, st.data())
def test_a_path_has_the_latencies_of_its_links(graph, data):
    nodes, degree, seed = graph
    drawn = nx.random_regular_graph(degree, nodes, seed)
    if not nx.is_connected(drawn):
        return
    topology = Topology(range(nodes), [(a, b) for a, b in nx.DiGraph(drawn).edges])
    delays = data.draw(
        st.lists(st.integers(0, 9), min_size=topology.link_count, max_size=topology.link_count)
    )
    late = dict(zip([link[:2] for link in topology.links], delays, strict=True))
    demand = np.zeros((nodes, nodes), np.int64)
    source, target = data.draw(st.permutations(range(nodes)))[:2]
    demand[source, target] = 1
    paths = ShortestPaths(topology, np.array(delays))
    slowest = max(
        sum(late[pair] for pair in pairwise(path))
        for path in nx.all_shortest_paths(drawn, source, target)
    )
    assert paths.unicasts(demand).delay == slowest
    goals = demand[[source]] > 0
    ends = np.array([source]), np.ones(1, np.int64), goals
    assert paths.broadcasts(*ends).delay <= slowest
    turned, place = paths.reversed
    assert turned.delays.tolist() == [delays[at] for at in place]


def test_messages_divide_in_proportion_to_capacities():
    """Two links of capacities 3 and 1 from a to b, and ways of capacities 1 and 2 to c."""
    links = [
        ("a", "b", 3),
        ("a", "b", 1),
        ("b", "c", 1),
        ("a", "d", 2),
        ("d", "c", 2),
        ("c", "a", 9),
    ]
    paths = ShortestPaths(Topology("abcd", [*links, ("b", "a", 1), ("d", "a", 1)]))
    demand = np.zeros((4, 4), np.int64)
    demand[0, 1], demand[0, 2] = 4, 3
    loads = paths.unicasts(demand)
    found = dict(zip(paths.topology.links, loads.steps[0] / loads.unit, strict=True))
    # Of 5 messages to b the wide link takes 3/4; of 3 messages to c the wide way takes 2.
    assert [found[link] for link in map(tuple, links)] == [3.75, 1.25, 1, 2, 2, 0]


@pytest.mark.parametrize("traffic", [one for one in Traffic if not one.startswith("send")])
@pytest.mark.parametrize("text", ["Torus(3, 4)", "UniRing(6)", "Kautz(2, 2)"])
def test_equal_latencies_of_links_are_one_latency_of_hops(text, traffic):
    plain = recipe(text)
    stated = plain.with_latencies({link[:2]: F(1, 100) for link in plain.links})
    sizes = f"tensor=2,data={plain.node_count // 2}"
    for kind in ("tensor", "data"):
        one = network(plain, sizes, alpha=F(1, 100)).cost(kind, traffic, 0, F(1, 10))
        other = network(stated, sizes, alpha=None).cost(kind, traffic, 0, F(1, 10))
        assert (one.algorithm, one.latency) == (other.algorithm, other.latency)
        assert one.transfer == other.transfer


def test_groups_of_a_fabric_have_its_published_latencies():
    both = network(fabric("mi300x-2"), "tensor=8,data=2", alpha=None)
    nothing = F(0)
    for kind, microseconds in (("tensor", F("0.9")), ("data", F("10.5"))):
        gathered = both.cost(kind, Traffic.ALLGATHER, 0, nothing)
        assert gathered.latency * 10**6 == microseconds
        assert both.cost(kind, Traffic.ALLREDUCE, 0, nothing).latency == 2 * gathered.latency


def test_a_switch_that_does_not_copy_takes_one_message_per_member():
    goals = np.array([[False, True, True, True, False]])
    loads = ShortestPaths(star(4)).broadcasts(np.array([0]), np.array([1]), goals)
    assert loads.steps.sum() == TREES * 6


def test_a_placement_states_the_coordinates_of_every_host():
    placed = RankPlacement(ProcessGroups.parse("tensor=2,pipeline=2"), ("a", "b", "c", "d"))
    assert placed.table() == [("a", 0, 0, 0), ("b", 1, 0, 1), ("c", 0, 1, 2), ("d", 1, 1, 3)]
    assert placed.groups("tensor", 1).tolist() == [[2, 3]]
    assert placed.peers(0, 1).tolist() == [[0, 2], [1, 3]]
    with pytest.raises(NoSchedule, match="must multiply to the 4 ranks; tensor=3 has 3"):
        RankPlacement(ProcessGroups.parse("tensor=3"), ("a", "b", "c", "d"))
