import copy
import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedules.collectives import make
from schedules.errors import InvalidProgram, InvalidSchedule, NotExportable
from schedules.formats.mscclpp.read import parse
from schedules.formats.mscclpp.replay import replay
from schedules.formats.mscclpp.write import render
from schedules.formats.runtimes import RUNTIMES
from schedules.model import Collective, SequenceSchedule
from synth.fabrics import fabric
from synth.topology import Topology
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


def complete(count):
    return Topology(range(count), [(a, b) for a in range(count) for b in range(count) if a != b])


def operations(document):
    """Yield every list of operations."""
    for gpu in document["gpus"]:
        for block in gpu["threadblocks"]:
            yield block["ops"]


@pytest.mark.parametrize("inplace", [False, True], ids=["out-of-place", "in-place"])
@pytest.mark.parametrize("per_node", [1, 4], ids=lambda count: f"{count}-a-node")
@pytest.mark.parametrize("name, collective", EVERY)
def test_every_plan_does_its_collective(name, collective, per_node, inplace):
    topology = topology_of(name)
    text = render(schedule_of(name, collective), topology, inplace=inplace, ranks_per_node=per_node)
    program = replay(text)
    assert (program.collective, program.inplace) == (collective, inplace)
    assert len(program.gpus) == len(topology.compute_nodes)


@settings(max_examples=60, deadline=None)
@given(direct_topologies(6), st.data())
def test_plans_of_any_graph_and_any_weights_do_their_collective(topology, data):
    weights = tuple(data.draw(st.lists(st.integers(1, 100), min_size=1, max_size=3)))
    made = every_schedule(topology, data.draw(st.integers(1, 4)), weights)
    schedule = made[data.draw(st.sampled_from(sorted(made)))]
    inplace, per_node = data.draw(st.booleans()), data.draw(st.integers(1, 7))
    replay(render(schedule, topology, inplace=inplace, ranks_per_node=per_node))


def test_an_allreduce_may_scatter_by_steps_and_gather_by_trees():
    topology = bidirectional_ring(5)
    made = every_schedule(topology, chunks=2, weights=(1, 2))
    parts = (made["steps-reduce-scatter"], made["trees-allgather"])
    mixed = SequenceSchedule(Collective.ALLREDUCE, topology.digest, parts)
    assert replay(render(mixed, topology)).chunks == 5 * 6


def test_blocks_that_would_be_too_long_are_spread_over_more_lanes():
    topology = ring(40)
    document = json.loads(render(shortest_steps(topology), topology))
    assert max(map(len, operations(document))) <= 64
    assert document["gpus"][0]["channels"][0]["connected_to"].count(1) > 1
    replay(json.dumps(document))


def test_gpus_of_a_node_use_memory_channels_and_others_port_channels():
    boxes = two_boxes()
    document = json.loads(render(shortest_trees(boxes), boxes, ranks_per_node=2))
    kinds = {
        (gpu["id"], peer): channel["channel_type"]
        for gpu in document["gpus"]
        for channel in gpu["channels"]
        for peer in channel["connected_to"]
    }
    assert all((kind == "memory") == (a // 2 == b // 2) for (a, b), kind in kinds.items())
    assert set(kinds.values()) == {"memory", "port"}


def test_the_limits_on_sizes_keep_offsets_within_32_bits():
    for name, collective in EVERY:
        document = json.loads(render(schedule_of(name, collective), topology_of(name)))
        gpu = document["gpus"][0]
        whole = max(gpu["input_chunks"], gpu["output_chunks"])
        largest = max(whole, *(each["scratch_chunks"] for each in document["gpus"]))
        assert document["min_message_size"] == 16 * whole
        chunk, rest = divmod(document["max_message_size"], whole)
        assert (rest, chunk % 16) == (0, 0)
        assert chunk * largest < 2**32 <= (chunk + 16) * largest


def test_the_name_tells_plans_apart_and_may_be_given():
    topology = ring(3)
    gather = shortest_steps(topology)
    names = {
        json.loads(render(gather, topology, **options))["name"]
        for options in ({}, {"inplace": True}, {"ranks_per_node": 3}, {"name": "mine"})
    }
    assert len(names) == 4 and "mine" in names


def test_a_limit_that_cannot_be_met_is_named_with_the_number_needed_and_what_would_take_it():
    topology = complete(45)
    schedule = shortest_trees(topology)
    with pytest.raises(NotExportable, match=r"88 are needed; mscclpp-a100, ") as caught:
        render(schedule, topology, RUNTIMES["mscclpp-v100"], inplace=True)
    assert caught.value.field == "/gpus/threadblocks"
    replay(render(schedule, topology, inplace=True), RUNTIMES["mscclpp-a100"])


def test_a_plan_for_gb200_nvl72_runs_where_148_blocks_run_and_nowhere_with_fewer_than_142():
    topology = fabric("gb200-nvl72")
    schedule = make(topology, "allgather", "forestcoll")
    text = render(schedule, topology, inplace=True)
    most = max(len(gpu["threadblocks"]) for gpu in json.loads(text)["gpus"])
    assert 132 < most <= 148
    with pytest.raises(InvalidProgram, match="threadblocks"):
        parse(text, RUNTIMES["mscclpp-h100"])
    parse(text, RUNTIMES["mscclpp-b200"])


def test_trees_of_more_chunks_than_offsets_can_say_are_made_coarser():
    topology = ring(2)
    program = replay(render(shortest_trees(topology, (2**27, 1)), topology))
    assert program.chunks <= 2**32 // 16


def test_what_is_not_valid_is_not_exported():
    with pytest.raises(InvalidSchedule):
        render(shortest_steps(ring(3)), bidirectional_ring(3))
    lonely = Topology([0], [])
    with pytest.raises(NotExportable):
        render(shortest_steps(lonely), lonely)
    with pytest.raises(NotExportable):
        render(shortest_steps(ring(3)), ring(3), ranks_per_node=0)


def golden_plans():
    square, boxes = bidirectional_ring(4), two_boxes()
    return {
        "ring3-allgather.mscclpp.json": (shortest_steps(ring(3)), ring(3), False, 3),
        "square-allreduce.mscclpp.json": (
            every_schedule(square)["steps-allreduce"],
            square,
            True,
            1,
        ),
        "two-boxes-reduce-scatter.mscclpp.json": (
            every_schedule(boxes)["trees-reduce-scatter"],
            boxes,
            False,
            2,
        ),
    }


@pytest.mark.parametrize("name", golden_plans())
def test_plans_are_the_same_byte_for_byte(name):
    # After an intended change of layout: write the rendered text to the file and read the diff.
    schedule, topology, inplace, per_node = golden_plans()[name]
    text = render(schedule, topology, inplace=inplace, ranks_per_node=per_node)
    assert text == (GOLDEN / name).read_text()
    replay(text)


# The replay must be trusted on plans that no renderer of ours made.


def plan(per_node=3, kind="steps-allreduce", inplace=False, count=4):
    topology = bidirectional_ring(count)
    made = every_schedule(topology)[kind]
    return json.loads(render(made, topology, inplace=inplace, ranks_per_node=per_node))


def found(document):
    """Return what the replay says against a plan."""
    with pytest.raises(InvalidProgram) as caught:
        replay(json.dumps(document))
    return str(caught.value)


@pytest.mark.parametrize("per_node", [1, 4])
@pytest.mark.parametrize("kind", ["trees-allgather", "steps-reduce-scatter", "steps-allreduce"])
def test_a_plan_that_loses_any_one_operation_is_found(kind, per_node):
    whole = plan(per_node, kind, count=3)
    for at, ops in enumerate(operations(whole)):
        for index in range(len(ops)):
            damaged = copy.deepcopy(whole)
            list(operations(damaged))[at].pop(index)
            assert found(damaged)


@pytest.mark.parametrize("inplace", [False, True])
def test_a_nop_that_changes_places_with_its_neighbour_is_found(inplace):
    whole = plan(4, "trees-reduce-scatter", inplace)
    caught = 0
    for at, ops in enumerate(operations(whole)):
        for index in range(len(ops) - 1):
            if {"name": "nop"} in ops[index : index + 2]:
                damaged = copy.deepcopy(whole)
                swapped = list(operations(damaged))[at]
                swapped[index : index + 2] = swapped[index + 1], swapped[index]
                assert found(damaged)
                caught += 1
    assert caught


def at(document, *path):
    for step in path:
        document = document[step]
    return document


def change(*path, **values):
    return lambda document: at(document, *path).update(values)


def first_op(name, /, **values):
    """Change the first operation of that name that any thread block has."""

    def apply(document):
        op = next(op for ops in operations(document) for op in ops if op["name"] == name)
        for key, value in values.items():
            key, _, inner = key.partition("__")
            if inner:
                op[key][0][inner] = value
            else:
                op[key] = value

    return apply


def channels_swapped(document):
    """Let two thread blocks with different peers use each other's channel."""
    blocks = [b for b in document["gpus"][0]["threadblocks"] if b["channels"]]
    first = blocks[0]["channels"][0]["channel_ids"]
    other = next(b for b in blocks if b["channels"][0]["channel_ids"] != first)
    blocks[0]["channels"], other["channels"] = other["channels"], blocks[0]["channels"]


def connected_in_another_order(document):
    document["gpus"][0]["channels"][0]["connected_to"].reverse()


FAULTS = {
    "name missing": lambda document: document.pop("name"),
    "unknown collective": change(collective="gossip"),
    "another collective": change(collective="reducescatter"),
    "packets": change(protocol="LL"),
    "in place said wrongly": change(inplace=1),
    "shared scratch": change(reuse_resources=True),
    "offsets of more than 32 bits": change(max_message_size=2**40),
    "negative size": change(min_message_size=-1),
    "one gpu": lambda document: document.update(gpus=document["gpus"][:1]),
    "gpu missing": lambda document: document["gpus"].pop(),
    "gpu out of order": change("gpus", 1, id=2),
    "other input": change("gpus", 1, input_chunks=2),
    "other output": change("gpus", 1, output_chunks=2),
    "too little scratch": change("gpus", 0, scratch_chunks=1),
    "text for a number": change("gpus", 0, scratch_chunks="1"),
    "no list of channels": change("gpus", 0, channels=None),
    "channel to itself": change("gpus", 0, "channels", 0, connected_to=[0]),
    "channel to nobody": change("gpus", 0, "channels", 0, connected_to=[4]),
    "channel of the other type": change("gpus", 0, "channels", 0, channel_type="port"),
    "unknown type of channel": change("gpus", 0, "channels", 0, channel_type="wire"),
    "one channel more": lambda d: d["gpus"][0]["channels"][0]["connected_to"].append(1),
    "channels in another order": connected_in_another_order,
    "channels swapped": channels_swapped,
    "remote buffer of itself": change("gpus", 0, "remote_buffers", 0, rank=0),
    "remote buffer of another gpu": change("gpus", 0, "remote_buffers", 0, rank=3),
    "remote buffer of another kind": change("gpus", 0, "remote_buffers", 0, type="i"),
    "remote buffer not reached": change("gpus", 0, "remote_buffers", 0, access_channel_types=[]),
    "semaphore missing": lambda document: document["gpus"][0]["semaphores"].pop(),
    "semaphore open at first": change("gpus", 0, "semaphores", 0, init_value=1),
    "too many blocks": lambda d: d["gpus"][0].update(
        threadblocks=d["gpus"][0]["threadblocks"] * 148
    ),
    "blocks out of order": change("gpus", 0, "threadblocks", 1, id=0),
    "block missing": lambda document: document["gpus"][0]["threadblocks"].pop(),
    "no channels": change("gpus", 0, "threadblocks", 0, channels=[]),
    "channel that is none": lambda d: d["gpus"][0]["threadblocks"][0]["channels"][0].update(
        channel_ids=[99]
    ),
    "too many operations": lambda d: d["gpus"][0]["threadblocks"][0].update(
        ops=[{"name": "nop"}] * 65
    ),
    "unknown operation": first_op("put", name="get"),
    "put of the wrong place": first_op("put", src_buff__index=3),
    "put into the wrong place": first_op("put", dst_buff__index=5),
    "put of less": first_op("put", src_buff__size=2),
    "put outside": first_op("put", dst_buff__index=10**6),
    "put on a port": first_op("put", channel_type="port"),
    "put with flush in memory": first_op("put", name="pwsf"),
    "nothing to put": first_op("put", src_buff=[]),
    "added from the wrong place": first_op("re", src_buff__index=7),
    "added into the wrong place": first_op("re", dst_buff__index=7),
    "largest instead of sum": first_op("re", reduce_op="max"),
    "added to the input": first_op("re", dst_buff__type="i"),
    "another semaphore": first_op("sem_release", semaphore_ids=[1]),
    "no semaphore": first_op("sem_acquire", semaphore_ids=[]),
    "signal that is none": first_op("signal", channel_ids=[1]),
    "signal that tells nothing": first_op("signal", name="rlxsignal"),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_every_planted_fault_in_a_plan_is_found(fault):
    damaged = plan(per_node=4)
    fault(damaged)
    assert found(damaged)


def test_no_write_may_come_before_its_target_has_begun():
    """The sender's wait and the receiver's signal at the beginning taken out together."""
    damaged = plan(per_node=4)
    for ops in operations(damaged):
        ops[:] = [op for op in ops if not op["name"].startswith("rlx")]
    assert "before it is known to have begun" in found(damaged)


def test_a_gpu_that_does_not_wait_for_its_last_data_is_found():
    damaged = plan(per_node=4, kind="trees-allgather")
    sender, receiver = damaged["gpus"][0], damaged["gpus"][1]
    sending = next(b for b in sender["threadblocks"] if b["ops"][-1]["name"] == "signal")
    number = sending["channels"][0]["channel_ids"][0]
    peer = sender["channels"][0]["connected_to"][number]
    receiver = damaged["gpus"][peer]
    sending["ops"].pop()
    back = [k for k, p in enumerate(sender["channels"][0]["connected_to"]) if p == peer]
    there = [k for k, p in enumerate(receiver["channels"][0]["connected_to"]) if p == 0]
    end = there[back.index(number)]
    waiting = next(
        b
        for b in receiver["threadblocks"]
        if b["channels"]
        and b["channels"][0]["channel_ids"] == [end]
        and b["ops"][0]["name"] == "rlxsignal"
    )
    last = max(k for k, op in enumerate(waiting["ops"]) if op["name"] == "wait")
    waiting["ops"].pop(last)
    assert found(damaged)


def test_a_plan_that_waits_in_a_circle_is_stuck():
    damaged = plan(per_node=4)
    for ops in operations(damaged):
        # All wait for the others to begin before they say so themselves.
        ops.sort(key=lambda op: op["name"] == "rlxsignal")
    assert "stuck" in found(damaged)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"name": 1}', "null", "[" * 100_000])
def test_what_is_no_plan_is_refused(text):
    with pytest.raises(InvalidProgram):
        replay(text)


def test_a_damaged_plan_is_refused_or_replayed_but_never_crashes_the_reader():
    chance = random.Random(1)
    text = json.dumps(plan(1))
    for _ in range(150):
        start = chance.randrange(len(text))
        piece = "".join(chance.choices('{}[]",:0123456789-eio', k=chance.randrange(4)))
        try:
            replay(text[:start] + piece + text[start + chance.randrange(6) :])
        except InvalidProgram as error:
            assert error.rule
