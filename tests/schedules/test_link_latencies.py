"""Times where each link has its own latency: by hand, and against sums along paths."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.schedule_oracles import direct_topologies, every_schedule, shortest_trees, two_boxes
from tests.simulation_inputs import across, chain, networks, sizes, star
from topoloom.schedules.baselines.nccl import nccl_runs
from topoloom.schedules.compare.bandwidths import SpeedSettings, estimated_seconds
from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import (
    Collective,
    SequenceSchedule,
    Tree,
    TreeSchedule,
    schedule_parts,
)
from topoloom.schedules.simulate import Judge, Network, lockstep, simulate
from topoloom.schedules.simulate.forest_latencies import forest_latencies
from topoloom.schedules.simulate.lockstep import lockstep_of
from topoloom.schedules.simulate.messages import messages_of
from topoloom.synth.fabrics import fabric
from topoloom.synth.topology.topology import Topology

OWN = Network(None, Fraction(1))

latencies = st.fractions(0, 1, max_denominator=8)


@st.composite
def with_latencies(draw, topologies):
    topology = draw(topologies)
    pairs = dict.fromkeys(link[:2] for link in topology.links)
    return topology.with_latencies({pair: draw(latencies) for pair in pairs})


def boxes_of(inside, between):
    """Two boxes of two: a, b behind switch s and c, d behind t; all on the network n."""
    pairs = [("a", "s"), ("b", "s"), ("c", "t"), ("d", "t")]
    pairs += [(host, "n") for host in "abcd"]
    both = [*pairs, *((b, a) for a, b in pairs)]
    times = {pair: between if "n" in pair else inside for pair in both}
    return Topology("abcdstn", both, switches="stn", latencies=times)


def test_a_hop_takes_the_latencies_of_all_its_links():
    inside, between = Fraction(1, 10), Fraction(1, 2)
    fabric_ = boxes_of(inside, between)
    # 4 bytes of every host, 1 byte/s: a hop takes 4 s and its two latencies.
    for pair, latency in (("asb", 2 * inside), ("anc", 2 * between)):
        one = TreeSchedule(
            Collective.ALLGATHER, fabric_.digest, tuple("abcd"), 1, (Tree("a", 1, (tuple(pair),)),)
        )
        found = simulate(one, fabric_, OWN, size_bytes=16, chunks=1)
        assert found.seconds == 4 + latency


def test_a_tree_takes_its_deepest_path_and_not_its_slowest_hops():
    fabric_ = boxes_of(Fraction(1, 10), Fraction(1, 2))
    # Two ways of two hops: inside, then between; and between, then inside.
    edges = (("a", "s", "b"), ("a", "n", "c"), ("b", "n", "d"))
    tree = TreeSchedule(
        Collective.ALLGATHER, fabric_.digest, tuple("abcd"), 1, (Tree("a", 1, edges),)
    )
    found = simulate(tree, fabric_, OWN, size_bytes=0, chunks=1)
    assert found.seconds == Fraction(2, 10) + 1
    assert Judge(tree, fabric_, OWN).time(0).seconds == found.seconds
    assert Judge(tree, fabric_, OWN, in_rounds=True).time(0).seconds == found.seconds


def test_a_message_over_short_hops_does_not_wait_for_one_that_comes_from_far():
    # x sends over a long hop to b; y over two short hops.  Both then use b -> c.
    pairs = [("x", "b"), ("y", "a"), ("a", "b"), ("b", "c")]
    times = dict.fromkeys(pairs, Fraction(1, 10)) | {("x", "b"): Fraction(1)}
    line = Topology("xyabc", pairs, latencies=times)
    trees = (
        Tree("x", 1, (("x", "b"), ("b", "c"))),
        Tree("y", 1, (("y", "a"), ("a", "b"), ("b", "c"))),
    )
    both = TreeSchedule(Collective.ALLGATHER, line.digest, tuple("xyabc"), 1, trees)
    # One second for each of five shards: y's shard passes b -> c at 2.2 s, x's from 3.2 s on.
    found = simulate(both, line, OWN, size_bytes=5, chunks=1)
    assert found.seconds == max(1 + 1, Fraction(22, 10) + 1) + 1 + Fraction(1, 10)
    empty = simulate(both, line, OWN, size_bytes=0, chunks=1)
    assert empty.seconds == Fraction(11, 10)


def latest(schedule, topology):
    """The largest sum of latencies along the way of a shard, path by path."""
    outward = schedule.collective is Collective.ALLGATHER
    worst = Fraction(0)
    for tree in schedule.trees:
        far = {tree.root: Fraction(0)}
        for edge in tree.edges:
            time = sum((topology.latencies[hop] for hop in pairwise(edge)), Fraction(0))
            near, end = (edge[0], edge[-1]) if outward else (edge[-1], edge[0])
            far[end] = far[near] + time
        worst = max(worst, *far.values())
    return worst


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(with_latencies(direct_topologies() | st.just(two_boxes())))
def test_empty_trees_take_the_largest_sum_of_latencies_along_a_path(topology):
    for outward in (True, False):
        trees = shortest_trees(topology, (2, 1), outward)
        expected = latest(trees, topology)
        assert simulate(trees, topology, OWN, size_bytes=0, chunks=1).seconds == expected
        assert Judge(trees, topology, OWN).time(0).seconds == expected


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(direct_topologies(), st.integers(1, 4), networks, sizes, st.integers(1, 5), st.booleans())
def test_equal_latencies_are_one_latency_of_all_hops(
    topology, chunks, network, size, pieces, synchronous
):
    one = replace(network, alpha_seconds=network.alpha_seconds / 5)
    own = replace(network, alpha_seconds=None)
    alike = topology.with_latencies(
        dict.fromkeys((link[:2] for link in topology.links), one.alpha_seconds)
    )
    for name, schedule in every_schedule(topology, chunks).items():
        cut = pieces if name.startswith("trees") else None
        asked = {"size_bytes": size, "chunks": cut, "synchronous": synchronous}
        assert simulate(schedule, alike, own, **asked) == simulate(schedule, topology, one, **asked)


@settings(max_examples=30, deadline=None)
@given(sizes, st.integers(1, 5), latencies)
def test_equal_latencies_through_one_switch_are_one_latency_of_all_hops(size, chunks, latency):
    topology = star([(1, 2), (2, 1), (3, 1), (1, 1)])
    halves = dict.fromkeys((link[:2] for link in topology.links), latency / 2)
    trees = across(topology, "ab", "cb", "da", "cd")
    asked = {"size_bytes": size, "chunks": chunks}
    own = simulate(trees, topology.with_latencies(halves), OWN, **asked)
    # A request reaches the switch later by half a latency, and the order of requests is the same.
    assert own == simulate(trees, topology, replace(OWN, alpha_seconds=latency), **asked)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(with_latencies(direct_topologies(5)), networks, sizes, st.integers(1, 4), st.integers(1, 4))
def test_a_stated_latency_counts_for_every_hop_whatever_the_links_state(
    topology, network, size, chunks, pieces
):
    bare = topology.with_latencies({})
    for name, schedule in every_schedule(topology, chunks).items():
        cut = pieces if name.startswith("trees") else None
        found = simulate(schedule, topology, network, size_bytes=size, chunks=cut)
        assert found == simulate(schedule, bare, network, size_bytes=size, chunks=cut)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(latencies, st.integers(1, 4)), min_size=1, max_size=5), sizes, st.data())
def test_a_chain_forwards_every_piece_when_it_has_arrived(hops, size, data):
    pieces = data.draw(st.integers(1, 4))
    topology, _ = chain(len(hops))
    pairs = [link[:2] for link in topology.links if link.target]
    capacities = {pair: capacity for pair, (_, capacity) in zip(pairs, hops, strict=True)}
    back = (len(hops), 0)
    times = {pair: latency for pair, (latency, _) in zip(pairs, hops, strict=True)}
    wired = Topology(
        topology.nodes,
        [(*pair, capacities.get(pair, 1)) for pair in [*pairs, back]],
        latencies=times | {back: 0},
    )
    tree = Tree(0, 1, tuple(pairs))
    one = TreeSchedule(Collective.ALLGATHER, wired.digest, wired.nodes, 1, (tree,))
    there = [Fraction(0)] * pieces
    for pair in pairs:
        free = Fraction(0)
        for piece in range(pieces):
            begin = max(free, there[piece])
            free = begin + Fraction(size, len(wired.nodes) * pieces * capacities[pair])
            there[piece] = free + times[pair]
    found = simulate(one, wired, OWN, size_bytes=size, chunks=pieces)
    assert found.seconds == there[-1]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    with_latencies(direct_topologies(5) | st.just(two_boxes())),
    networks,
    sizes,
    st.integers(1, 4),
    st.booleans(),
)
def test_no_time_is_below_the_busiest_link_or_the_latest_path(
    topology, network, size, pieces, synchronous
):
    own = replace(network, alpha_seconds=None)
    for outward in (True, False):
        trees = shortest_trees(topology, (2, 1), outward)
        found = simulate(
            trees, topology, own, size_bytes=size, chunks=pieces, synchronous=synchronous
        )
        assert found.seconds >= max(*found.busy_seconds, latest(trees, topology))
        if not topology.switches and own.channels is None:
            bound = lockstep(trees, topology, own, size_bytes=size).seconds(pieces)
            assert found.seconds <= bound or not synchronous


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(with_latencies(direct_topologies(5) | st.just(two_boxes())), sizes)
def test_the_floor_of_the_judge_is_no_more_than_its_time(topology, size):
    for schedule in every_schedule(topology).values():
        for in_rounds in (False, True):
            judge = Judge(schedule, topology, OWN, in_rounds=in_rounds)
            assert judge.floor(size) <= judge.time(size).seconds


NO_DELAY_BEFORE_A_DELAY = {
    pair: Fraction(late)
    for pair, late in {(0, 1): 0, (1, 2): 1, (2, 3): 0, (3, 0): 1, (3, 1): 1}.items()
}


@settings(max_examples=25, deadline=None)
@given(with_latencies(direct_topologies(5) | st.just(two_boxes())))
@example(Topology(range(4), list(NO_DELAY_BEFORE_A_DELAY), latencies=NO_DELAY_BEFORE_A_DELAY))
def test_latencies_of_trees_are_those_of_their_messages(topology):
    made = every_schedule(topology)
    together = replace(made["trees-allreduce"], together=True)
    for part in (made["trees-allgather"], made["trees-reduce-scatter"], together):
        found = forest_latencies(part, topology)
        rounds = lockstep_of(messages_of(part, topology), OWN, 1)
        assert found.longest == simulate(part, topology, OWN, size_bytes=0, chunks=1).seconds
        assert found.by_level == tuple(row[0] for row in rounds.window_latencies)


def test_links_without_latencies_need_one_of_all_hops():
    topology, schedule = chain(2)
    for run in (simulate, lockstep):
        with pytest.raises(NoSchedule) as caught:
            run(schedule, topology, OWN, size_bytes=1)
        assert caught.value.field == "/alpha_seconds"


def test_rings_and_trees_of_nccl_take_the_hops_that_nccl_counts():
    boxes = fabric("dgx-a100-2")
    network = Network(None, Fraction(10**9))
    empty = {
        run.name: run.seconds * 10**6
        for run in nccl_runs(boxes, Collective.ALLREDUCE, network, 0).runs
    }
    # Each of two passes: 15 hops of a ring, two of them between boxes; or 7 hops and one.
    assert empty["nccl-ring"] == 2 * (13 * Fraction("0.6") + 2 * 5)
    assert empty["nccl-tree"] == 2 * (7 * Fraction("0.6") + 5)


def test_the_printed_time_of_a_schedule_follows_its_deepest_path():
    fabric_ = boxes_of(Fraction(1, 10), Fraction(1, 2))
    trees = shortest_trees(fabric_)
    turned = shortest_trees(fabric_, outward=False)
    both = SequenceSchedule(Collective.ALLREDUCE, fabric_.digest, (turned, trees))
    on = SpeedSettings(Fraction(1), None, 0)
    expected = sum(latest(part, fabric_) for part in schedule_parts(both))
    assert estimated_seconds(both, fabric_, on) == float(expected)
