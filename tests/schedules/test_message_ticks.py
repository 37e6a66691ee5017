"""Ticks of messages from tables are those of exact times, for every size and number of pieces."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.schedule_oracles import direct_topologies, shortest_trees, two_boxes
from tests.simulation_inputs import networks, sizes
from topoloom.schedules.errors import TooLarge
from topoloom.schedules.simulate import Network
from topoloom.schedules.simulate.clock import clock_of
from topoloom.schedules.simulate.message_ticks import MessageTicks
from topoloom.schedules.simulate.messages import messages_of
from topoloom.schedules.simulate.run_messages import run_messages


def exact_times(messages, network, size, chunks):
    """Return by hop the seconds of one piece on its link, and of its latency, as fractions."""
    durations, latencies = [], []
    for at, (begin, end) in enumerate(pairwise(messages.hop_start.tolist())):
        for hop in range(begin, end):
            link = int(messages.hops[hop])
            data = messages.units[at] * messages.unit * size / chunks
            seconds = data / (network.unit_bytes_per_second * messages.capacities[link])
            if hop == begin:
                cut = -(-int(messages.chunk_count[at]) // chunks)
                seconds += network.overhead_seconds * bool(messages.opens[at])
                seconds += network.chunk_seconds * cut
            durations.append(seconds)
            alpha = network.alpha_seconds
            own = messages.latencies[link] if alpha is None else alpha * (hop == end - 1)
            latencies.append(own)
    return durations, latencies


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(
    direct_topologies() | st.just(two_boxes()),
    networks,
    st.lists(st.tuples(sizes, st.integers(1, 5)), min_size=1, max_size=4),
    st.booleans(),
)
def test_tables_have_the_exact_times_of_every_size(topology, network, asked, own):
    if own:
        times = {link[:2]: Fraction(at % 5, 30) for at, link in enumerate(topology.links)}
        topology = topology.with_latencies(times)
        network = Network(
            None, network.unit_bytes_per_second, network.overhead_seconds, network.channels
        )
    messages = messages_of(shortest_trees(topology, (2, 1), True), topology)
    ticks = MessageTicks(messages, network)
    for size, chunks in asked:
        clock, durations, latencies = ticks.at(size, chunks)
        exact, late = exact_times(messages, network, size, chunks)
        assert [clock.seconds(each) for each in durations.tolist()] == exact
        assert [clock.seconds(each) for each in latencies.tolist()] == late
        parts = [
            messages.unit * size / (network.unit_bytes_per_second * chunks * one)
            for one in {messages.capacities[link] for link in messages.hops.tolist()}
        ]
        alpha = network.alpha_seconds
        fixed = messages.latencies if alpha is None else [alpha]
        costs = [network.overhead_seconds, network.chunk_seconds]
        assert clock == clock_of([*parts, *fixed, *costs])
        again = run_messages(messages, network, size, chunks, False)
        assert again == run_messages(messages, network, size, chunks, False, ticks)


def test_times_that_no_clock_represents_are_refused():
    messages = messages_of(shortest_trees(two_boxes(), (2, 1), True), two_boxes())
    ticks = MessageTicks(messages, Network(Fraction(1, 10**9 + 7), Fraction(10**9 + 9)))
    ticks.at(0, 1)
    with pytest.raises(TooLarge, match="no clock of 62 bits"):
        ticks.at(1 << 50, 7)
