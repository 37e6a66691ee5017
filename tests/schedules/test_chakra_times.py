"""Simulators of Chakra traces find the time of the cost model."""

import heapq
import random

import pytest

from tests.schedules.export_cases import attribute, schedule_of, topology_of
from topoloom.schedules.formats.chakra.program import RECEIVE, SEND
from topoloom.schedules.formats.chakra.protobuf_schema import read_messages
from topoloom.schedules.formats.chakra.write import render
from topoloom.schedules.formats.lowering.transfers import transfers
from topoloom.schedules.verify import step_cost


def finish_time(files, alpha, rate, chance):
    """Simulate with one queue per pair of ranks; of what may begin, anything goes first.

    A message keeps its queue busy for its bytes and arrives ``alpha`` later; then its send and
    its receive are done.
    """
    nodes = {(rank, node.id): node for rank, d in enumerate(files) for node in read_messages(d)[1]}
    tagged = {}
    for key, node in nodes.items():
        if node.type == RECEIVE:
            tagged[attribute(node, "comm_tag").int32_val] = key
    after, missing = {key: [] for key in nodes}, {}
    for (rank, number), node in nodes.items():
        before = {*node.data_deps, *node.ctrl_deps}
        missing[rank, number] = len(before)
        for other in before:
            after[rank, other].append((rank, number))
    busy, last = {}, 0
    # Arrivals wait for the receive to be posted; nothing here depends on when that is.
    events = [(0, chance.random(), key) for key, count in missing.items() if count == 0]
    arrived, posted = dict.fromkeys(tagged, None), set()
    heapq.heapify(events)

    def done(time, key):
        for other in after[key]:
            missing[other] -= 1
            if not missing[other]:
                heapq.heappush(events, (time, chance.random(), other))

    while events:
        time, _, key = heapq.heappop(events)
        last, node = max(last, time), nodes[key[:2]]
        if key[2:]:
            done(time, key[:2])
        elif node.type == SEND:
            pair = key[0], attribute(node, "comm_dst").int32_val
            start = max(time, busy.get(pair, 0))
            busy[pair] = start + attribute(node, "comm_size").int64_val * rate
            tag = attribute(node, "comm_tag").int32_val
            arrived[tag] = busy[pair] + alpha
            heapq.heappush(events, (arrived[tag], chance.random(), (*key, "sent")))
            receive = tagged[tag]
            if receive in posted:
                heapq.heappush(events, (arrived[tag], chance.random(), (*receive, "got")))
        elif node.type == RECEIVE:
            tag = attribute(node, "comm_tag").int32_val
            posted.add(key)
            if arrived[tag] is not None:
                heapq.heappush(events, (max(time, arrived[tag]), chance.random(), (*key, "got")))
        else:
            done(time, key)
    return last


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
@pytest.mark.parametrize("name", ["Torus(4, 4)", "Circulant(9, 1, 2)", "Kautz(2, 2)"])
def test_a_simulator_of_queues_finds_the_cost_of_steps_in_any_order(name, collective):
    """The time is steps * alpha + T_B * M / B whichever of the ready messages goes first."""
    topology, schedule = topology_of(name), schedule_of(name, collective)
    ranks = len(topology.compute_nodes)
    size = transfers(schedule, topology.compute_nodes)[0] * ranks * 60
    parts = getattr(schedule, "parts", (schedule,))
    costs = [step_cost(part, topology) for part in parts]
    alpha, rate = 1000, 7
    expected = sum(cost.steps * alpha for cost in costs)
    expected += sum(cost.bandwidth for cost in costs) * size * rate / topology.degree
    files = render(schedule, topology, size)
    for seed in range(3):
        assert finish_time(files, alpha, rate, random.Random(seed)) == expected
