"""Damaged plans of MSCCL++: the replay finds what is wrong, and nothing crashes the reader."""

import copy
import json
import random

import pytest

from tests.cases import for_every
from tests.schedule_oracles import (
    bidirectional_ring,
    every_schedule,
)
from tests.schedules.export_cases import operations
from topoloom.schedules.errors import InvalidProgram
from topoloom.schedules.formats.mscclpp.replay import replay
from topoloom.schedules.formats.mscclpp.write import render


def plan(per_node=3, kind="steps-allreduce", inplace=False, count=4):
    topology = bidirectional_ring(count)
    made = every_schedule(topology)[kind]
    return json.loads(render(made, topology, inplace=inplace, ranks_per_node=per_node))


def found(document):
    """Return what the replay says against a plan."""
    with pytest.raises(InvalidProgram) as caught:
        replay(json.dumps(document))
    return str(caught.value)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("per_node", [1, 4])
@pytest.mark.parametrize("kind", ["trees-allgather", "steps-reduce-scatter", "steps-allreduce"])
def test_a_plan_that_loses_any_one_operation_is_found(kind, per_node):
    whole = plan(per_node, kind, count=3)
    for at, ops in enumerate(operations(whole)):
        for index in range(len(ops)):
            damaged = copy.deepcopy(whole)
            list(operations(damaged))[at].pop(index)
            assert found(damaged)


@pytest.mark.slow
@pytest.mark.one_in(2)
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


@for_every("fault", FAULTS.values())
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
