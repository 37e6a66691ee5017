"""Switches cut through; channels let a node send on so many links at a time."""

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.schedule_oracles import direct_topologies, shortest_steps, shortest_trees, two_boxes
from tests.simulation_inputs import SLOW, across, networks, sizes, star
from topoloom.schedules.model.schedule import COPY, NO_LINK, SEND, Collective, StepSchedule
from topoloom.schedules.simulate import Network, lockstep, simulate
from topoloom.synth.fabrics import fabric
from topoloom.synth.topology.topology import Topology


@pytest.mark.parametrize("synchronous", [True, False])
@pytest.mark.parametrize(
    ("rates", "pairs", "seconds"),
    [
        # A switch cuts through: 12 bytes at 1 byte/s, once, and alpha once.
        ([(1, 1), (1, 1)], ["ab"], 1 + 12),
        # The slower link decides, whichever comes first.
        ([(2, 1), (1, 3)], ["ab"], 1 + 6),
        ([(3, 1), (1, 2)], ["ab"], 1 + 6),
        # Two senders share what leads to the receiver, or do not meet.
        ([(1, 1), (1, 1), (1, 1)], ["ac", "bc"], 1 + 24),
        ([(1, 1), (1, 1), (1, 2)], ["ac", "bc"], 1 + 6 + 12),
        ([(1, 1), (1, 1), (1, 1), (1, 1)], ["ac", "bd"], 1 + 12),
        # What comes later does not hold up what is there: b's message to d passes first.
        ([(1, 1), (1, 1), (1, 1), (1, 1)], ["ac", "ad", "bd"], 1 + 24),
    ],
)
def test_switches_cut_through_and_serve_who_comes_first(rates, pairs, seconds, synchronous):
    topology = star(rates)
    found = simulate(
        across(topology, *pairs),
        topology,
        Network(1, 1),
        size_bytes=12 * len(rates),
        chunks=1,
        synchronous=synchronous,
    )
    assert found.seconds == seconds


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 5), networks, sizes, st.booleans())
def test_every_link_of_a_switched_fabric_is_busy_for_exactly_its_bytes(
    chunks, network, size, synchronous
):
    topology = two_boxes()
    bare = replace(network, overhead_seconds=0, chunk_seconds=0)
    for outward in (True, False):
        trees = shortest_trees(topology, (2, 1), outward)
        load = defaultdict(int)
        for tree in trees.trees:
            for edge in tree.edges:
                for hop in pairwise(edge):
                    load[hop] += tree.weight
        found = simulate(
            trees, topology, bare, size_bytes=size, chunks=chunks, synchronous=synchronous
        )
        unit = Fraction(size, 3 * 4) / bare.unit_bytes_per_second
        for link, busy in zip(topology.links, found.busy_seconds, strict=True):
            assert busy == load[link.source, link.target] * unit / link.capacity
        closed = lockstep(trees, topology, bare, size_bytes=size).seconds(chunks)
        if synchronous:
            assert found.seconds >= closed


@pytest.mark.parametrize("name", ["dgx-a100-2", "mi250-1", "dgx-h100-2"])
def test_finer_chunks_bring_a_switched_forest_near_its_busiest_link(name):
    from topoloom.schedules.trees.forestcoll import allgather

    topology = fabric(name)
    trees = allgather(topology)
    network = Network(Fraction(0), 10**9)
    shares = [
        simulate(trees, topology, network, size_bytes=10**9, chunks=chunks).busiest
        for chunks in (1, 8, 64)
    ]
    assert shares[0] < shares[2] <= 1
    assert shares[2] > Fraction(9, 10)


@settings(max_examples=30, deadline=None)
@given(direct_topologies(6), networks, sizes)
def test_fewer_channels_are_never_faster(topology, network, size):
    schedule = shortest_steps(topology, 2)
    times = [
        simulate(schedule, topology, replace(network, channels=c), size_bytes=size).seconds
        for c in (1, topology.degree, None)
    ]
    assert times[0] >= times[1] == times[2]


def test_a_node_with_one_channel_sends_one_message_at_a_time():
    topology = Topology(range(4), [(0, 1), (0, 2), (0, 3), (1, 0), (2, 0), (3, 0)])
    rows = [(0, k, 0, 0, 1, NO_LINK, COPY) for k in (1, 2, 3)]
    schedule = StepSchedule(
        Collective.ALLGATHER, topology.digest, topology.nodes, 1, (np.array(rows, SEND),)
    )
    for channels, seconds in ((None, 3 + 5), (3, 3 + 5), (2, 3 + 10), (1, 3 + 15)):
        for synchronous in (True, False):
            found = simulate(
                schedule,
                topology,
                replace(SLOW, channels=channels),
                size_bytes=40,
                synchronous=synchronous,
            )
            assert found.seconds == seconds
