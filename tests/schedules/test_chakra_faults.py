"""Damaged Chakra traces: the replay finds what is wrong, and nothing crashes the reader."""

import json
import random
from functools import cache

import pytest

from tests.cases import for_every
from tests.schedule_oracles import (
    bidirectional_ring,
    every_schedule,
    ring,
)
from tests.schedules.export_cases import attribute
from topoloom.schedules.errors import InvalidProgram
from topoloom.schedules.formats.chakra.program import COMPUTE, RECEIVE, SEND
from topoloom.schedules.formats.chakra.protobuf_schema import (
    Attribute,
    read_messages,
    write_messages,
)
from topoloom.schedules.formats.chakra.replay import replay
from topoloom.schedules.formats.chakra.write import render


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


@for_every("fault", FAULTS.values())
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
