import heapq
import json
import random
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedules.errors import InvalidProgram, InvalidSchedule, NotExportable
from schedules.formats.chakra.program import COMPUTE, MAX_BYTES, RECEIVE, SEND
from schedules.formats.chakra.protobuf import Attribute, read_messages, write_messages
from schedules.formats.chakra.replay import replay
from schedules.formats.chakra.write import render
from schedules.formats.transfers import transfers
from schedules.verify import step_cost
from tests.schedule_oracles import (
    bidirectional_ring,
    direct_topologies,
    every_schedule,
    ring,
    shortest_steps,
    shortest_trees,
    two_boxes,
)
from tests.schedules.export_cases import EVERY, schedule_of, topology_of

GOLDEN = Path(__file__).parent.parent / "golden"
MIB = 2**20


@pytest.mark.parametrize("name, collective", EVERY)
def test_every_set_of_traces_does_its_collective(name, collective):
    topology = topology_of(name)
    # A prime number of bytes: chunks cannot all be equal.
    traces = replay(render(schedule_of(name, collective), topology, 999_983))
    assert (traces.collective, traces.size_bytes) == (collective, 999_983)
    assert len(traces.ranks) == len(topology.compute_nodes)


@settings(max_examples=60, deadline=None)
@given(direct_topologies(6), st.data())
def test_traces_of_any_graph_and_any_size_do_their_collective(topology, data):
    weights = tuple(data.draw(st.lists(st.integers(1, 100), min_size=1, max_size=3)))
    made = every_schedule(topology, data.draw(st.integers(1, 4)), weights)
    schedule = made[data.draw(st.sampled_from(sorted(made)))]
    ranks = topology.compute_nodes
    whole = transfers(schedule, ranks)[0] * len(ranks)
    replay(render(schedule, topology, data.draw(st.integers(whole, 3 * whole))))


@pytest.mark.parametrize("name, collective", EVERY)
def test_every_byte_is_sent_as_often_as_the_schedule_says(name, collective):
    """An allgather brings M - M/N bytes to each rank; a reduce-scatter is its mirror."""
    ranks = len(topology_of(name).compute_nodes)
    # Every chunk has the same number of bytes.
    size = transfers(schedule_of(name, collective), topology_of(name).compute_nodes)[0] * ranks * 64
    files = render(schedule_of(name, collective), topology_of(name), size)
    sent = received = 0
    for rank, data in enumerate(files):
        for node in read_messages(data)[1]:
            values = {a.name: getattr(a, a.WhichOneof("value")) for a in node.attr}
            if node.type == SEND:
                sent += values["comm_size"]
                assert values["comm_src"] == rank
            if node.type == RECEIVE:
                received += values["comm_size"]
                assert values["comm_dst"] == rank
    passes = 2 if collective == "allreduce" else 1
    assert sent == received == passes * (ranks - 1) * size


@pytest.mark.parametrize("size", [0, 5, MAX_BYTES + 1])
def test_a_size_that_leaves_chunks_without_a_byte_is_refused(size):
    topology = ring(3)
    with pytest.raises(NotExportable, match="must be 6 to") as caught:
        render(shortest_steps(topology, 2), topology, size)
    assert caught.value.field == "/bytes"


def test_what_is_not_valid_is_not_exported():
    with pytest.raises(InvalidSchedule):
        render(shortest_steps(ring(3)), bidirectional_ring(3), MIB)


def golden_traces():
    boxes = two_boxes()
    return {
        "ring3-allgather": (shortest_steps(ring(3)), ring(3), 3 * MIB),
        "two-boxes-reduce-scatter": (shortest_trees(boxes, outward=False), boxes, 1000),
    }


@pytest.mark.parametrize("name", golden_traces())
def test_traces_are_the_same_byte_for_byte(name):
    # After an intended change of layout: write the files and look at them with `protoc --decode`.
    schedule, topology, size = golden_traces()[name]
    for rank, data in enumerate(render(schedule, topology, size)):
        assert data == (GOLDEN / f"{name}.{rank}.et").read_bytes()


def test_a_file_is_what_the_schema_says_byte_by_byte():
    """Written out by hand from the published field numbers, without the protobuf library."""

    def field(number, value):
        if isinstance(value, int):
            return varint(number << 3) + varint(value)
        return varint(number << 3 | 2) + varint(len(value)) + value

    def varint(value):
        head, rest = value & 0x7F, value >> 7
        return bytes([head | 0x80]) + varint(rest) if rest else bytes([head])

    def attribute(name, number, value):
        return field(10, field(1, name) + field(number, value))

    about = [(b"comm_tag", 7, 1), (b"comm_size", 9, 1024)]
    head = field(1, b"0.0.4")
    for name, number, value in [
        (b"collective", 29, b"allgather"),
        (b"ranks", 7, 2),
        (b"bytes", 9, 2048),
        (b"rank", 7, 0),
    ]:
        head += field(2, field(1, name) + field(number, value))
    sending = field(2, b"send to 1") + field(3, 5)
    sending += field(8, field(1, b'[["data", 0, 1024]]'))
    for name, number, value in [
        (b"is_cpu_op", 27, 0),
        (b"comm_src", 7, 0),
        (b"comm_dst", 7, 1),
        *about,
    ]:
        sending += attribute(name, number, value)
    data = render(shortest_steps(ring(2)), ring(2), 2048)[0]
    expected = varint(len(head)) + head + varint(len(sending)) + sending
    assert data[: len(expected)] == expected


# The replay must be trusted on traces that no renderer of ours made.


@cache
def sound(kind):
    topology = bidirectional_ring(4)
    return render(every_schedule(topology)[kind], topology, 4096)


def traces(kind="steps-allreduce"):
    return [read_messages(data) for data in sound(kind)]


def found(opened):
    with pytest.raises(InvalidProgram) as caught:
        replay([write_messages([head, *nodes]) for head, nodes in opened])
    return str(caught.value)


@pytest.mark.parametrize("kind", ["trees-allgather", "steps-reduce-scatter", "steps-allreduce"])
def test_traces_that_lose_any_one_node_are_found(kind):
    for rank in range(4):
        for at in range(len(traces(kind)[rank][1])):
            damaged = traces(kind)
            damaged[rank][1].pop(at)
            assert found(damaged)


@pytest.mark.parametrize("kind", ["trees-allgather", "steps-reduce-scatter", "steps-allreduce"])
def test_traces_that_lose_any_one_dependency_are_found(kind):
    """Every dependency that is written is needed: none follows from the others."""
    lost = 0
    for rank in range(4):
        for at, node in enumerate(traces(kind)[rank][1]):
            for which in range(len(node.data_deps)):
                damaged = traces(kind)
                damaged[rank][1][at].data_deps.pop(which)
                assert found(damaged)
                lost += 1
    assert lost


def test_two_dependencies_that_change_places_are_found():
    damaged = traces()
    nodes = [node for node in damaged[0][1] if node.type == SEND and node.data_deps]
    first, second = (
        nodes[0],
        next(n for n in nodes if list(n.data_deps) != list(nodes[0].data_deps)),
    )
    one, other = list(first.data_deps), list(second.data_deps)
    first.data_deps[:], second.data_deps[:] = other, one
    assert found(damaged)


def test_additions_that_change_places_are_found():
    damaged = traces("steps-reduce-scatter")
    additions = [node for node in damaged[0][1] if node.type == COMPUTE]
    one, other = additions[0].inputs.values, additions[1].inputs.values
    additions[0].inputs.values, additions[1].inputs.values = other, one
    assert found(damaged)


def attribute(node, name):
    return next(each for each in node.attr if each.name == name)


def first(kind):
    return lambda opened: next(node for node in opened[0][1] if node.type == kind)


def with_attribute(kind, name, value):
    def apply(opened):
        made = attribute(first(kind)(opened), name)
        setattr(made, made.WhichOneof("value"), value)

    return apply


def with_region(kind, way, place, value):
    def apply(opened):
        info = getattr(first(kind)(opened), way)
        regions = json.loads(info.values)
        regions[0][place] = value
        info.values = json.dumps(regions)

    return apply


def told(name, value):
    def apply(opened):
        made = attribute(opened[0][0], name)
        setattr(made, made.WhichOneof("value"), value)

    return apply


def set_on(kind, **values):
    def apply(opened):
        for key, value in values.items():
            setattr(first(kind)(opened), key, value)

    return apply


def circle(opened):
    node = next(node for node in opened[0][1] if node.data_deps)
    opened[0][1][node.data_deps[0]].data_deps.append(node.id)


FAULTS = {
    "other version": lambda opened: setattr(opened[0][0], "version", "0.0.3"),
    "other rank": told("rank", 1),
    "more ranks": told("ranks", 5),
    "other collective": told("collective", "allgather"),
    "unknown collective": told("collective", "gossip"),
    "other size": told("bytes", 4095),
    "file missing": lambda opened: opened.pop(),
    "files in another order": lambda opened: opened.reverse(),
    "node twice": lambda opened: opened[0][1].append(opened[0][1][0]),
    "collective node": set_on(SEND, type=7),
    "send for a receive": set_on(RECEIVE, type=SEND),
    "another tag": with_attribute(SEND, "comm_tag", 9999),
    "another receiver": with_attribute(SEND, "comm_dst", 2),
    "another sender": with_attribute(RECEIVE, "comm_src", 2),
    "receiver that is none": with_attribute(SEND, "comm_dst", 4),
    "itself": with_attribute(SEND, "comm_dst", 0),
    "other bytes": with_attribute(SEND, "comm_size", 1),
    "no bytes": with_attribute(SEND, "comm_size", 0),
    "no tag": lambda opened: first(SEND)(opened).attr.remove(
        attribute(first(SEND)(opened), "comm_tag")
    ),
    "two tags": lambda opened: first(SEND)(opened).attr.append(
        Attribute(name="comm_tag", int32_val=1)
    ),
    "wrong offset sent": with_region(SEND, "inputs", 1, 512),
    "wrong offset received": with_region(RECEIVE, "outputs", 1, 64),
    "wrong offset staged": with_region(COMPUTE, "outputs", 1, 64),
    "sum to another place": with_region(COMPUTE, "inputs", 1, 0),
    "unknown buffer": with_region(SEND, "inputs", 0, "scratch"),
    "less sent": with_region(SEND, "inputs", 2, 1),
    "outside": with_region(SEND, "inputs", 1, 4000),
    "before": with_region(SEND, "inputs", 1, -1),
    "no region": lambda opened: setattr(first(SEND)(opened).inputs, "values", ""),
    "no list of regions": lambda opened: setattr(first(SEND)(opened).inputs, "values", "["),
    "dependency on nobody": lambda opened: opened[0][1][0].data_deps.append(999),
    "dependency on itself": lambda opened: opened[0][1][0].ctrl_deps.append(0),
    "circle": circle,
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_every_planted_fault_in_a_trace_is_found(fault):
    damaged = traces()
    fault(damaged)
    assert found(damaged)


def test_ranks_that_wait_for_each_other_are_found():
    opened = traces("steps-allgather")
    for _, nodes in opened:
        arrivals = [node.id for node in nodes if node.type == RECEIVE]
        for node in nodes:
            if node.type == SEND:
                node.data_deps[:] = arrivals
    assert "wait for ever" in found(opened)


def test_a_control_dependency_orders_as_well():
    opened = traces()
    for _, nodes in opened:
        for node in nodes:
            node.ctrl_deps[:] = list(node.data_deps)
            del node.data_deps[:]
    replay([write_messages([head, *nodes]) for head, nodes in opened])


@pytest.mark.parametrize("data", [b"", b"\x00", b"\xff" * 9, b"\x07\n\x050.0.4", b"\x02\n\x05"])
def test_what_is_no_trace_is_refused(data):
    with pytest.raises(InvalidProgram):
        replay([data])


def test_a_damaged_trace_is_refused_or_replayed_but_never_crashes_the_reader():
    chance = random.Random(1)
    topology = ring(3)
    files = render(every_schedule(topology)["steps-allreduce"], topology, 4096)
    for _ in range(300):
        data = bytearray(files[0])
        for _ in range(chance.randrange(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        try:
            replay([bytes(data), *files[1:]])
        except InvalidProgram as error:
            assert error.rule


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
