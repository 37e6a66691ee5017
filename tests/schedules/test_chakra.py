"""Chakra execution traces: every set does its collective, byte for byte as the schema says."""

from pathlib import Path

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
from tests.schedules.export_cases import EVERY, schedule_of, topology_of
from topoloom.schedules.errors import InvalidSchedule, NotExportable
from topoloom.schedules.formats.chakra.program import MAX_BYTES, RECEIVE, SEND
from topoloom.schedules.formats.chakra.protobuf_schema import read_messages
from topoloom.schedules.formats.chakra.replay import replay
from topoloom.schedules.formats.chakra.write import render
from topoloom.schedules.formats.lowering.transfers import transfers

GOLDEN = Path(__file__).parent.parent / "golden"


MIB = 2**20


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name, collective", EVERY)
def test_every_set_of_traces_does_its_collective(name, collective):
    topology = topology_of(name)
    # A prime number of bytes: chunks cannot all be equal.
    traces = replay(render(schedule_of(name, collective), topology, 999_983))
    assert (traces.collective, traces.size_bytes) == (collective, 999_983)
    assert len(traces.ranks) == len(topology.compute_nodes)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(direct_topologies(6), st.data())
def test_traces_of_any_graph_and_any_size_do_their_collective(topology, data):
    weights = tuple(data.draw(st.lists(st.integers(1, 100), min_size=1, max_size=3)))
    made = every_schedule(topology, data.draw(st.integers(1, 4)), weights)
    schedule = made[data.draw(st.sampled_from(sorted(made)))]
    ranks = topology.compute_nodes
    whole = transfers(schedule, ranks)[0] * len(ranks)
    replay(render(schedule, topology, data.draw(st.integers(whole, 3 * whole))))


@for_every(("name", "collective"), EVERY)
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
