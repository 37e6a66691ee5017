"""Simulated times where they are known in closed form."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import for_every
from tests.schedule_oracles import (
    bidirectional_ring,
    direct_topologies,
    every_schedule,
    ring,
    shortest_steps,
    shortest_trees,
    two_boxes,
)
from tests.simulation_inputs import NETWORK, SLOW, chain, networks, sizes
from topoloom.schedules.model.schedule import Collective, StepSchedule, Tree, TreeSchedule
from topoloom.schedules.simulate import lockstep, simulate, tree_depth
from topoloom.schedules.verify import step_cost, tree_inverse_rate
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.rates import node_capacity
from topoloom.synth.topology.topology import Topology


def closed_steps(schedule, topology, network, size):
    cost = step_cost(schedule, topology)
    rate = node_capacity(topology) * network.unit_bytes_per_second
    return cost.steps * network.alpha_seconds + cost.bandwidth * size / rate


@settings(max_examples=40, deadline=None)
@given(direct_topologies(), st.integers(1, 4), networks, sizes)
def test_synchronous_steps_pay_once_a_link_and_step_for_messages_and_for_every_chunk(
    topology, chunks, network, size
):
    schedule = shortest_steps(topology, chunks)
    bare = replace(network, channels=None)
    most = 0
    for step in schedule.steps:
        load = Counter()
        for source, target, _, _, count, link, _ in step.tolist():
            load[source, target, link] += count
        most += max(load.values())
    found = simulate(schedule, topology, bare, size_bytes=size, synchronous=True)
    assert found.seconds == (
        closed_steps(schedule, topology, bare, size)
        + len(schedule.steps) * bare.overhead_seconds
        + most * bare.chunk_seconds
    )


@settings(max_examples=60, deadline=None)
@given(direct_topologies(), st.integers(1, 4), sizes)
def test_synchronous_steps_take_exactly_what_the_cost_model_says(topology, chunks, size):
    made = every_schedule(topology, chunks)
    for name in ("steps-allgather", "steps-reduce-scatter", "steps-allreduce"):
        found = simulate(made[name], topology, SLOW, size_bytes=size, synchronous=True)
        assert found.seconds == closed_steps(made[name], topology, SLOW, size)


@settings(max_examples=40, deadline=None)
@given(direct_topologies(6), networks, sizes, st.integers(2, 5))
def test_sends_cut_finer_are_never_later_without_overhead(topology, network, size, pieces):
    free = replace(network, overhead_seconds=0, chunk_seconds=0)
    schedule = shortest_steps(topology, 2)
    whole = simulate(schedule, topology, free, size_bytes=size)
    cut = simulate(schedule, topology, free, size_bytes=size, chunks=pieces)
    assert cut.seconds <= whole.seconds
    assert cut.busy_seconds == whole.busy_seconds


@for_every("length", [1, 2, 5, 30])
@for_every("chunks", [1, 2, 7, 100])
@for_every("overhead", [0, Fraction(1, 3)])
def test_a_chain_is_a_pipeline(length, chunks, overhead):
    topology, schedule = chain(length)
    network = replace(SLOW, overhead_seconds=overhead)
    size = 60 * (length + 1)
    link = overhead + Fraction(60, 2 * chunks)
    found = simulate(schedule, topology, network, size_bytes=size, chunks=chunks)
    assert found.seconds == length * 3 + (length + chunks - 1) * link
    slow = simulate(schedule, topology, network, size_bytes=size, chunks=chunks, synchronous=True)
    assert slow.seconds == (length + chunks - 1) * (3 + link)
    assert found.messages == length * chunks == found.events


@pytest.mark.parametrize("count", [2, 3, 8, 64])
def test_a_ring_takes_n_less_one_steps_whether_or_not_anybody_waits(count):
    # Every link is busy with one shard in each step, so nobody could be earlier.
    schedule, topology = shortest_steps(ring(count)), ring(count)
    for synchronous in (True, False):
        found = simulate(schedule, topology, SLOW, size_bytes=10 * count, synchronous=synchronous)
        assert found.seconds == (count - 1) * (3 + 5)
        assert found.busiest == found.mean == Fraction(5, 8)


@pytest.mark.parametrize("name", ["BiRing(5)", "Torus(3, 4)", "Kautz(2, 2)", "Hypercube(3)"])
@pytest.mark.parametrize("outward", [True, False])
def test_a_single_tree_is_as_slow_as_its_deepest_branch(name, outward):
    # Each edge has a link of its own, so nothing but the data is waited for.
    topology = build(parse(name))
    tree = shortest_trees(topology, (1,), outward).trees[0]
    collective = Collective.ALLGATHER if outward else Collective.REDUCE_SCATTER
    schedule = TreeSchedule(collective, topology.digest, topology.nodes, 1, (tree,))
    depth = tree_depth(schedule)
    for chunks in (1, 3, 10):
        found = simulate(
            schedule, topology, SLOW, size_bytes=12 * len(topology.nodes), chunks=chunks
        )
        assert found.seconds == depth * 3 + (depth + chunks - 1) * Fraction(6, chunks)


@settings(max_examples=50, deadline=None)
@given(direct_topologies() | st.just(two_boxes()), networks, sizes, st.integers(1, 6))
def test_a_forest_is_never_faster_than_its_depth_or_its_busiest_link(
    topology, network, size, chunks
):
    for outward in (True, False):
        trees = shortest_trees(topology, (2, 1), outward)
        found = simulate(trees, topology, network, size_bytes=size, chunks=chunks)
        rate = network.unit_bytes_per_second * len(topology.compute_nodes)
        busiest = tree_inverse_rate(trees, topology) * size / rate
        assert found.seconds >= tree_depth(trees) * network.alpha_seconds
        assert found.seconds >= busiest + network.alpha_seconds
        if not network.overhead_seconds + network.chunk_seconds:
            assert max(found.busy_seconds) == busiest


def test_a_sequence_takes_the_time_of_its_parts():
    made = every_schedule(bidirectional_ring(6))
    for kind in ("steps", "trees"):
        one, other, whole = (
            simulate(made[f"{kind}-{name}"], bidirectional_ring(6), NETWORK, size_bytes=2**20)
            for name in ("reduce-scatter", "allgather", "allreduce")
        )
        assert whole.seconds == one.seconds + other.seconds
        assert whole.messages == one.messages + other.messages
        assert whole.busy_seconds == tuple(
            map(sum, zip(one.busy_seconds, other.busy_seconds, strict=True))
        )


def test_parallel_links_are_one_link_for_trees_and_several_for_sends():
    topology = Topology(range(2), [(0, 1), (0, 1), (1, 0), (1, 0)])
    trees = simulate(shortest_trees(topology), topology, SLOW, size_bytes=80, chunks=1)
    assert trees.seconds == 3 + 10
    assert trees.busy_seconds == (10, 10, 10, 10)
    steps = simulate(shortest_steps(topology, 2), topology, SLOW, size_bytes=80)
    assert steps.seconds == 3 + 10


def test_an_empty_schedule_takes_no_time():
    none = StepSchedule(Collective.ALLGATHER, ring(3).digest, (0, 1, 2), 1, ())
    found = simulate(none, ring(3), NETWORK, size_bytes=9)
    assert (found.seconds, found.messages, found.busiest, found.mean) == (0, 0, 0, 0)
    bare = TreeSchedule(Collective.ALLGATHER, ring(3).digest, (0, 1, 2), 1, ())
    assert simulate(bare, ring(3), NETWORK, size_bytes=9).seconds == 0
    assert lockstep(bare, ring(3), NETWORK, size_bytes=9).best_chunks() == 1


def outward_chain(topology, root, way):
    """A broadcast (or, turned round, a reduce) along a line, by hand."""
    order = [root, *[node for node in topology.nodes if node != root]]
    edges = [(a, b) if way else (b, a) for a, b in pairwise(order)]
    collective = Collective.BROADCAST if way else Collective.REDUCE
    sizes = tuple(int(node == root) for node in topology.nodes)
    tree = Tree(root, 1, tuple(edges))
    return TreeSchedule(collective, topology.digest, topology.nodes, 1, (tree,), sizes)


@pytest.mark.parametrize("way", [True, False])
@pytest.mark.parametrize("chunks", [1, 3, 8])
def test_a_broadcast_and_a_reduce_move_all_data_along_their_tree(way, chunks):
    line = Topology(range(4), [(i, i + 1) for i in range(3)] + [(i + 1, i) for i in range(3)])
    found = simulate(outward_chain(line, 0, way), line, SLOW, size_bytes=48, chunks=chunks)
    assert found.seconds == 3 * 3 + (3 + chunks - 1) * Fraction(24, chunks)


def test_shards_carry_their_share_and_idle_nodes_only_forward():
    line = Topology("abc", [("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")])
    trees = (Tree("a", 3, (("a", "b", "c"),)), Tree("c", 1, (("c", "b", "a"),)))
    schedule = TreeSchedule(Collective.ALLGATHER, line.digest, ("a", "c"), 1, trees, (3, 1), ("b",))
    # Three quarters of 80 bytes cut through b, at 2 bytes/s; alpha once.
    assert simulate(schedule, line, SLOW, size_bytes=80, chunks=1).seconds == 3 + 30
    closed = lockstep(schedule, line, SLOW, size_bytes=80)
    assert closed.seconds(1) == 33
    assert closed.transfer_seconds == tree_inverse_rate(schedule, line) / 4 * 80 / 2
