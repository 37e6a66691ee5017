"""Messages wait for their turn and for the data they carry, and for nothing else."""

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.schedule_oracles import direct_topologies, every_schedule, shortest_trees
from tests.simulation_inputs import networks, sizes
from topoloom.schedules.model.schedule import COPY, NO_LINK, SEND, Collective, StepSchedule
from topoloom.schedules.simulate import Network, simulate, tree_depth
from topoloom.schedules.simulate.message_ticks import MessageTicks
from topoloom.schedules.simulate.messages import messages_of
from topoloom.schedules.simulate.run_messages import (
    _run_direct,
    _run_switched,
)
from topoloom.synth.topology.topology import Topology


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(direct_topologies(), st.integers(1, 4), networks, sizes, st.integers(1, 5))
def test_nobody_is_slower_for_not_waiting(topology, chunks, network, size, pieces):
    for name, schedule in every_schedule(topology, chunks).items():
        cut = pieces if name.startswith("trees") else None
        slow = simulate(schedule, topology, network, size_bytes=size, chunks=cut, synchronous=True)
        fast = simulate(schedule, topology, network, size_bytes=size, chunks=cut)
        assert fast.seconds <= slow.seconds
        assert sum(fast.busy_seconds) == sum(slow.busy_seconds)


def longest_path(schedule, topology, network, size, chunks=1):
    """Each piece is a node of a graph, each reason to wait an arc; time is the longest path."""
    weight, arcs, queues, fixed = {}, [], defaultdict(list), {}
    each = network.overhead_seconds + network.chunk_seconds
    if isinstance(schedule, StepSchedule):
        unit = Fraction(size, len(schedule.ranks) * schedule.chunks_per_shard)
        arrived = defaultdict(list)
        for step in schedule.steps:
            news, opened = [], set()
            for send in step.tolist():
                source, target, shard, first, count, link, _ = send
                piece = (len(weight),)
                weight[piece] = unit * count
                fixed[piece] = network.chunk_seconds * count
                if (source, target, link) not in opened:
                    fixed[piece] += network.overhead_seconds
                opened.add((source, target, link))
                queues[source, target, max(link, 0)].append(piece)
                for chunk in range(first, first + count):
                    arcs += [(other, piece) for other in arrived[source, shard, chunk]]
                    news.append(((target, shard, chunk), piece))
            for key, piece in news:
                arrived[key].append(piece)
    else:
        unit = Fraction(size, len(schedule.ranks) * schedule.trees_per_root * chunks)
        outward = schedule.collective is Collective.ALLGATHER
        deepest, rows = tree_depth(schedule), []
        for number, tree in enumerate(schedule.trees):
            depth = {tree.root: 0}
            for place, (a, b) in enumerate(tree.edges):
                near, far = (a, b) if outward else (b, a)
                depth[far] = depth[near] + 1
                level = depth[near] if outward else deepest - depth[far]
                rows += [
                    (level + chunk, level, number, place, chunk, (a, b), tree.weight)
                    for chunk in range(chunks)
                ]
        for _, _, number, _, chunk, (a, b), units in sorted(rows):
            piece = (number, chunk, a, b)
            queues[a, b].append(piece)
            weight[piece] = unit * units
        for other in weight:
            arcs += [
                (other, piece)
                for piece in weight
                if piece[:2] == other[:2] and piece[2] == other[3] and piece[3] != other[2]
            ]
    capacity = {(link.source, link.target): link.capacity for link in topology.links}
    ranks = topology.compute_nodes
    where = {piece: queue for queue, pieces in queues.items() for piece in pieces}
    graph = nx.DiGraph()
    for piece, data in weight.items():
        a, b = where[piece][:2]
        link = capacity[(ranks[a], ranks[b]) if len(piece) == 1 else (a, b)]
        busy = fixed.get(piece, each) + data / (link * network.unit_bytes_per_second)
        graph.add_edge((piece, "begins"), (piece, "leaves"), weight=busy)
    for pieces in queues.values():
        for before, after in pairwise(pieces):
            graph.add_edge((before, "leaves"), (after, "begins"), weight=Fraction(0))
    for before, after in arcs:
        graph.add_edge((before, "leaves"), (after, "begins"), weight=network.alpha_seconds)
    if not len(graph):
        return Fraction(0)
    return nx.dag_longest_path_length(graph, weight="weight") + network.alpha_seconds


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(direct_topologies(5), st.integers(1, 3), networks, sizes)
def test_steps_take_the_longest_chain_of_waiting(topology, chunks, network, size):
    bare = replace(network, channels=None)
    made = every_schedule(topology, chunks)
    for name in ("steps-allgather", "steps-reduce-scatter"):
        found = simulate(made[name], topology, bare, size_bytes=size)
        assert found.seconds == longest_path(made[name], topology, bare, size)


@settings(max_examples=40, deadline=None)
@given(direct_topologies(4), st.integers(1, 4), networks, sizes)
def test_trees_take_the_longest_chain_of_waiting(topology, chunks, network, size):
    if topology.has_parallel_links:
        topology = Topology(topology.nodes, {(k.source, k.target) for k in topology.links})
    bare = replace(network, channels=None)
    for outward in (True, False):
        trees = shortest_trees(topology, (2, 1), outward)
        found = simulate(trees, topology, bare, size_bytes=size, chunks=chunks)
        assert found.seconds == longest_path(trees, topology, bare, size, chunks)


@settings(max_examples=60, deadline=None)
@given(direct_topologies(), networks, sizes, st.integers(1, 5), st.booleans())
def test_both_loops_agree_where_there_is_no_switch(topology, network, size, chunks, synchronous):
    for outward in (True, False):
        messages = messages_of(shortest_trees(topology, (2, 1), outward), topology)
        _, durations, latencies = MessageTicks(messages, network).at(size, chunks)
        arguments = (messages, network, durations, latencies, chunks)
        one, one_busy = _run_direct(*arguments, synchronous)
        other, other_busy = _run_switched(*arguments, synchronous)
        assert one == other
        assert one_busy.tolist() == other_busy.tolist()


def test_a_send_that_needs_half_of_another_waits_for_half_of_it():
    line = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    whole = np.array([(0, 1, 0, 0, 4, NO_LINK, COPY)], SEND)
    halves = {first: np.array([(1, 2, 0, first, 2, NO_LINK, COPY)], SEND) for first in (0, 2)}
    # 8 bytes in 4 pieces arrive after 3, 5, 7, 9 s; each gives two pieces of one byte.
    for first, seconds in ((0, 9), (2, 9 + 1 + 1 + 1)):
        schedule = StepSchedule(
            Collective.ALLGATHER, line.digest, line.nodes, 4, (whole, halves[first])
        )
        found = simulate(schedule, line, Network(1, 1), size_bytes=24, chunks=4)
        assert found.seconds == seconds
        assert simulate(schedule, line, Network(1, 1), size_bytes=24).seconds == 8 + 1 + 4 + 1
