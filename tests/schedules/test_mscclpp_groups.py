"""Plans of MSCCL++ for one root, for groups, and for shards that are not equal."""

import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.schedule_oracles import bidirectional_ring, direct_topologies, ring
from topoloom.schedules.errors import InvalidProgram, NotExportable
from topoloom.schedules.execute import execute
from topoloom.schedules.formats.inspection.check_program import program_violations, transcript_of
from topoloom.schedules.formats.mscclpp.replay import replay, transcript
from topoloom.schedules.formats.mscclpp.write import render
from topoloom.schedules.generate.collectives import make
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.simulate import Network, simulate
from topoloom.synth.fabrics import fabric

SHARED = ("allgather", "reduce-scatter", "allreduce")
ROOTED = ("broadcast", "reduce")
INPLACE = pytest.mark.parametrize("inplace", [False, True], ids=["out-of-place", "in-place"])


def of_a_square(collective="allgather", **options):
    """A group of ranks 0 and 2 of four in a ring: all that they send passes by the others."""
    square = bidirectional_ring(4)
    root = {"root": 0} if collective in ROOTED else {}
    return square, make(square, collective, "forestcoll", participants=(0, 2), **root, **options)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(direct_topologies(6), st.data())
def test_plans_of_any_root_group_and_shards_do_their_collective(topology, data):
    nodes = topology.compute_nodes
    collective = data.draw(st.sampled_from(SHARED + ROOTED))
    group = data.draw(st.sets(st.sampled_from(nodes), min_size=2))
    asked = {"participants": [node for node in nodes if node in group]}
    if collective in ROOTED:
        asked["root"] = data.draw(st.sampled_from(asked["participants"]))
    elif collective != "allreduce":
        asked["shards"] = {node: data.draw(st.integers(1, 4)) for node in asked["participants"]}
    inplace, per_node = data.draw(st.booleans()), data.draw(st.integers(1, 7))
    schedule = make(topology, collective, "forestcoll", **asked)
    text = render(schedule, topology, inplace=inplace, ranks_per_node=per_node)
    program = replay(text)
    assert program.collective == collective
    assert program.idle == {at for at, node in enumerate(nodes) if node not in group}
    shares = {high - low for low, high in zip(program.bounds, program.bounds[1:], strict=False)}
    assert collective not in ROOTED or shares == {0, program.chunks}
    assert program_violations("mscclpp-json", [text.encode()], topology) == []


@INPLACE
@pytest.mark.parametrize("collective", SHARED + ROOTED)
def test_what_passes_ranks_that_take_no_part_lies_in_their_scratch(collective, inplace):
    square, schedule = of_a_square(collective)
    document = json.loads(render(schedule, square, inplace=inplace))
    assert document["idle"] == [1, 3]
    idle = [document["gpus"][at] for at in (1, 3)]
    touched = {
        entry["type"]
        for gpu in idle
        for block in gpu["threadblocks"]
        for op in block["ops"]
        for entry in op.get("src_buff", ())
    }
    assert touched == {"s"}
    assert all(gpu["scratch_chunks"] and gpu["input_chunks"] for gpu in idle)


def test_ranks_that_take_no_part_and_pass_nothing_on_have_one_block_that_does_nothing():
    topology = fabric("dgx-h100-1")
    schedule = make(topology, "allreduce", "forestcoll", participants=topology.compute_nodes[::2])
    document = json.loads(render(schedule, topology, ranks_per_node=8))
    for gpu in document["gpus"][1::2]:
        assert [block["ops"] for block in gpu["threadblocks"]] == [[{"name": "nop"}]]
        assert not gpu["channels"]
    replay(json.dumps(document))


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
def test_shards_of_a_plan_are_as_large_as_those_of_the_schedule(collective):
    topology, sizes = bidirectional_ring(5), {0: 3, 1: 1, 2: 2, 3: 1, 4: 5}
    schedule = make(topology, collective, "forestcoll", shards=sizes)
    document = json.loads(render(schedule, topology))
    key = "input_chunks" if collective == "allgather" else "output_chunks"
    held = [gpu[key] for gpu in document["gpus"]]
    assert [size * sum(held) for size in sizes.values()] == [12 * each for each in held]


def test_a_rank_without_a_shard_is_refused_with_what_can_be_said():
    topology = bidirectional_ring(4)
    schedule = make(topology, "allgather", "forestcoll", shards={0: 1, 1: 2, 2: 0, 3: 1})
    with pytest.raises(NotExportable, match="leave the rank out") as caught:
        render(schedule, topology)
    assert caught.value.field == "/shards/2"


FAULTS = {
    "another root": ("broadcast", lambda document: document.update(root=2)),
    "a root that takes no part": ("broadcast", lambda document: document.update(root=1)),
    "no root": ("reduce", lambda document: document.pop("root")),
    "root out of range": ("reduce", lambda document: document.update(root=4)),
    "another group": ("allreduce", lambda document: document.update(idle=[0, 3])),
    "a larger group": ("allreduce", lambda document: document.update(idle=[1])),
    "no group": ("allreduce", lambda document: document.pop("idle")),
    "a rank that is idle twice": ("allreduce", lambda document: document.update(idle=[1, 1])),
    "one rank only": ("allgather", lambda document: document.update(idle=[1, 2, 3])),
    "idle that is no list": ("allgather", lambda document: document.update(idle=1)),
    "another collective": ("broadcast", lambda document: document.update(collective="reduce")),
    "a larger shard": ("allgather", lambda d: d["gpus"][0].update(input_chunks=3)),
    "a gpu without blocks": ("allgather", lambda d: d["gpus"][1].update(threadblocks=[])),
}


@pytest.mark.parametrize(("collective", "fault"), FAULTS.values(), ids=FAULTS)
def test_every_fault_planted_in_a_plan_for_a_group_is_found(collective, fault):
    square, schedule = of_a_square(collective)
    document = json.loads(render(schedule, square))
    fault(document)
    with pytest.raises(InvalidProgram):
        replay(json.dumps(document))


def test_an_all_to_all_has_no_ranks_that_take_no_part():
    square = bidirectional_ring(4)
    document = json.loads(render(make(square, "all-to-all", "mcf"), square))
    with pytest.raises(InvalidProgram, match="among all GPUs"):
        replay(json.dumps(document | {"idle": [1]}))


@pytest.mark.parametrize("collective", SHARED + ROOTED)
def test_a_plan_for_a_group_takes_as_long_as_its_messages_along_the_links(collective):
    square, schedule = of_a_square(collective)
    network, size = Network(Fraction(1, 10**5), 10**9), 1 << 20
    sent = transcript(render(schedule, square))
    times = [
        float(simulate(one, square, network, size_bytes=size, chunks=1).seconds)
        for one in (sent, schedule)
    ]
    # What passes a rank is there kept and sent on: two messages, where the schedule has one.
    assert times[1] <= times[0] <= 2 * times[1]


@pytest.mark.slow
@pytest.mark.parametrize("inplace", [False, True])
def test_plans_of_roots_groups_and_shards_execute_bit_for_bit(inplace, team):
    five = bidirectional_ring(5)
    cases = [
        (square, schedule)
        for collective in SHARED + ROOTED
        for square, schedule in [of_a_square(collective)]
    ]
    cases += [
        (five, make(five, "allgather", "forestcoll", shards={0: 3, 1: 1, 2: 2, 3: 1, 4: 5})),
        (five, make(five, "reduce-scatter", "forestcoll", shards={0: 3, 1: 1, 2: 2, 3: 1, 4: 5})),
        (five, make(five, "broadcast", "forestcoll", root=3)),
        (ring(5), make(ring(5), "reduce", "forestcoll", root=3)),
    ]
    for topology, schedule in cases:
        text = render(schedule, topology, inplace=inplace)
        sent = transcript_of("mscclpp-json", [text.encode()])
        done = execute(sent, size_bytes=4 * 7 * 12 * 5, team=team)
        assert done.exact, (schedule.collective, done.mistakes)
        assert Collective(schedule.collective) is sent.collective
