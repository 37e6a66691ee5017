"""Trees in lock step, and the number of pieces that is best."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.schedule_oracles import bidirectional_ring, direct_topologies, ring, shortest_trees
from tests.simulation_inputs import NETWORK, chain, networks, sizes
from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.simulate import (
    Lockstep,
    Network,
    estimate,
    lockstep,
    simulate,
    tree_depth,
)
from topoloom.schedules.verify import tree_inverse_rate


@settings(max_examples=40, deadline=None)
@given(direct_topologies(), networks, sizes, st.integers(1, 6))
def test_lock_step_takes_exactly_its_closed_form(topology, network, size, chunks):
    bare = replace(network, overhead_seconds=0, chunk_seconds=0, channels=None)
    for outward in (True, False):
        trees = shortest_trees(topology, (2, 1), outward)
        closed = lockstep(trees, topology, bare, size_bytes=size)
        found = simulate(trees, topology, bare, size_bytes=size, chunks=chunks, synchronous=True)
        assert found.seconds == closed.seconds(chunks)
        assert closed.depth == tree_depth(trees)
        rate = bare.unit_bytes_per_second * topology.node_count
        assert closed.transfer_seconds == tree_inverse_rate(trees, topology) * size / rate


@settings(max_examples=40, deadline=None)
@given(direct_topologies(), networks, sizes, st.integers(1, 6))
def test_lock_step_is_no_faster_than_messages_that_take_time(topology, network, size, chunks):
    bare = replace(network, channels=None)
    trees = shortest_trees(topology, (2, 1))
    closed = lockstep(trees, topology, bare, size_bytes=size)
    found = simulate(trees, topology, bare, size_bytes=size, chunks=chunks, synchronous=True)
    rounds = closed.depth + chunks - 1
    each = network.overhead_seconds + network.chunk_seconds
    assert found.seconds <= closed.seconds(chunks)
    assert found.seconds >= lockstep(
        trees,
        topology,
        replace(bare, alpha_seconds=bare.alpha_seconds + each, overhead_seconds=0, chunk_seconds=0),
        size_bytes=size,
    ).seconds(chunks)
    assert closed.latency_seconds(chunks) >= rounds * (network.alpha_seconds + each)


@pytest.mark.parametrize("chunks", [1, 2, 3, 7])
def test_lock_step_of_a_ring_is_exact_where_messages_take_time(chunks):
    # Every link carries as many messages as every other one, in every round.
    topology, network = (
        ring(5),
        Network(Fraction(1), Fraction(1), Fraction(1, 2), None, Fraction(1)),
    )
    trees = shortest_trees(topology)
    closed = lockstep(trees, topology, network, size_bytes=600)
    found = simulate(trees, topology, network, size_bytes=600, chunks=chunks, synchronous=True)
    assert found.seconds == closed.seconds(chunks)


@settings(max_examples=40, deadline=None)
@given(direct_topologies(), st.integers(0, 10**6), st.fractions(0, 3, max_denominator=5))
def test_no_number_of_chunks_is_better_in_lock_step_than_the_best(topology, size, alpha):
    closed = lockstep(
        shortest_trees(topology, (2, 1)), topology, Network(alpha, 7), size_bytes=size
    )
    most = 300
    best = closed.best_chunks(most)
    times = [closed.seconds(chunks) for chunks in range(1, most + 1)]
    assert times[best - 1] == min(times)
    assert best == times.index(min(times)) + 1


def test_the_estimate_is_the_lock_step_in_which_every_round_is_full():
    topology = bidirectional_ring(7)
    trees = shortest_trees(topology, (2, 1))
    closed = lockstep(trees, topology, NETWORK, size_bytes=2**20)
    for chunks in (1, 2, 5, 40):
        found = estimate(
            trees,
            topology,
            size_bytes=2**20,
            alpha_seconds=float(NETWORK.alpha_seconds),
            unit_bytes_per_second=float(NETWORK.unit_bytes_per_second),
            pipeline_chunks=chunks,
        )
        assert float(closed.seconds(chunks)) <= found.seconds * (1 + 1e-12)


@pytest.mark.parametrize("overhead", [Fraction(0), Fraction(1)])
def test_the_chunks_nobody_asked_for_are_best_in_lock_step(overhead):
    topology, trees = chain(6)
    network = Network(Fraction(1), Fraction(1), overhead, None, overhead / 3)
    # One message a link and round: it is as good as more latency.
    closed = lockstep(trees, topology, Network(1 + overhead * Fraction(4, 3), 1), size_bytes=6000)
    found = simulate(trees, topology, network, size_bytes=6000)
    assert found.chunks == closed.best_chunks() > 1


def test_the_clock_of_a_lock_step_holds_any_number_of_chunks():
    closed = Lockstep(Fraction(0), 2, ((Fraction(8), Fraction(8)), (Fraction(8),)))
    assert closed.best_chunks(1000) == 1000
    with pytest.raises(NoSchedule):
        closed.seconds(0)
