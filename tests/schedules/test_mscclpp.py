"""Plans of MSCCL++: every one does its collective within the limits of the executor."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.schedule_oracles import (
    bidirectional_ring,
    complete,
    direct_topologies,
    every_schedule,
    ring,
    shortest_steps,
    shortest_trees,
    two_boxes,
)
from tests.schedules.export_cases import EVERY, operations, schedule_of, topology_of
from topoloom.schedules.errors import InvalidProgram, InvalidSchedule, NotExportable
from topoloom.schedules.formats.inspection.requirements import requirements
from topoloom.schedules.formats.mscclpp.read import parse
from topoloom.schedules.formats.mscclpp.replay import replay
from topoloom.schedules.formats.mscclpp.write import render
from topoloom.schedules.formats.targets.runtimes import RUNTIMES
from topoloom.schedules.generate.collectives import make
from topoloom.schedules.model.schedule import Collective, SequenceSchedule
from topoloom.synth.fabrics import fabric
from topoloom.synth.topology.topology import Topology

GOLDEN = Path(__file__).parent.parent / "golden"


@pytest.mark.one_in(15, slow=5)
@pytest.mark.parametrize("inplace", [False, True], ids=["out-of-place", "in-place"])
@pytest.mark.parametrize("per_node", [1, 4], ids=lambda count: f"{count}-a-node")
@pytest.mark.parametrize("name, collective", EVERY)
def test_every_plan_does_its_collective(name, collective, per_node, inplace):
    topology = topology_of(name)
    text = render(schedule_of(name, collective), topology, inplace=inplace, ranks_per_node=per_node)
    program = replay(text)
    assert (program.collective, program.inplace) == (collective, inplace)
    assert len(program.gpus) == len(topology.compute_nodes)


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.parametrize(("per_node", "ports"), [(1, True), (2, True), (4, False)])
def test_a_plan_needs_buffers_that_start_allocations_if_ranks_are_on_other_machines(
    per_node, ports
):
    topology = complete(4)
    text = render(shortest_trees(topology), topology, ranks_per_node=per_node)
    assert requirements("mscclpp-json", text, RUNTIMES["mscclpp-h100"]).ports == ports


def test_the_name_tells_plans_apart_and_may_be_given():
    topology = ring(3)
    gather = shortest_steps(topology)
    names = {
        json.loads(render(gather, topology, **options))["name"]
        for options in ({}, {"inplace": True}, {"ranks_per_node": 3}, {"name": "mine"})
    }
    assert len(names) == 4 and "mine" in names


@pytest.mark.slow
def test_a_limit_that_cannot_be_met_is_named_with_the_number_needed_and_what_would_take_it():
    topology = complete(45)
    schedule = shortest_trees(topology)
    with pytest.raises(NotExportable, match=r"88 are needed; mscclpp-a100, ") as caught:
        render(schedule, topology, RUNTIMES["mscclpp-v100"], inplace=True)
    assert caught.value.field == "/gpus/threadblocks"
    replay(render(schedule, topology, inplace=True), RUNTIMES["mscclpp-a100"])


@pytest.mark.slow
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
