"""Plans of MSCCL++ that let one switch copy and add up for all GPUs."""

import copy
import json
from functools import cache

import pytest

from tests.schedules.export_cases import operations
from topoloom.schedules.errors import InvalidProgram, NotExportable
from topoloom.schedules.execute import execute
from topoloom.schedules.formats.inspection.check_program import program_violations, transcript_of
from topoloom.schedules.formats.mscclpp.replay import replay
from topoloom.schedules.formats.mscclpp.write import render
from topoloom.schedules.formats.targets.runtimes import RUNTIMES
from topoloom.schedules.generate.collectives import make
from topoloom.synth.fabrics import fabric
from topoloom.synth.topology.topology import Topology

H100 = RUNTIMES["mscclpp-h100"]
CASES = [
    ("allgather", False, 1),
    ("allgather", True, 3),
    ("allreduce", False, 3),
    ("allreduce", True, 1),
    ("broadcast", False, 2),
    ("broadcast", True, 1),
]
EACH = pytest.mark.parametrize(("collective", "inplace", "instances"), CASES)


def box(gpus=4, copies=True):
    """So many GPUs on one switch."""
    links = [link for gpu in range(gpus) for link in ((gpu, "w"), ("w", gpu))]
    return Topology([*range(gpus), "w"], links, switches="w", multicast="w" if copies else "")


@cache
def plan(
    collective, inplace=False, instances=1, gpus=4, copies=True, device=H100, ranks_per_node=None
):
    topology = box(gpus, copies)
    root = {"root": 2} if collective in ("broadcast", "reduce") else {}
    schedule = make(topology, collective, "forestcoll", **root)
    machine = ranks_per_node or gpus
    return render(
        schedule, topology, device, inplace=inplace, ranks_per_node=machine, instances=instances
    )


def names(text):
    return {op["name"] for ops in operations(json.loads(text)) for op in ops}


@EACH
@pytest.mark.parametrize("gpus", [3, 9, 12])
def test_every_plan_over_a_switch_does_its_collective(collective, inplace, instances, gpus):
    text = plan(collective, inplace, instances, gpus)
    program = replay(text, H100)
    assert (program.collective, program.inplace) == (collective, inplace)
    assert names(text) & {"glres", "gstore"} == {"glres" if collective == "allreduce" else "gstore"}
    assert not names(text) & {"put", "pwsf", "re"}
    working = -(-(gpus - 1) // 8) + instances
    assert {len(gpu.blocks) for gpu in program.gpus} == {working}
    assert program_violations("mscclpp-json", [text.encode()], box(gpus)) == []


def test_shards_of_any_size_are_stored_at_once():
    topology = box(4)
    schedule = make(topology, "allgather", "forestcoll", shards={0: 3, 1: 1, 2: 1, 3: 2})
    text = render(schedule, topology, H100, ranks_per_node=4)
    assert replay(text, H100).bounds == (0, 3, 4, 5, 7)
    assert "gstore" in names(text)


@pytest.mark.parametrize(
    ("collective", "options"),
    [
        ("allgather", {"copies": False}),
        ("allgather", {"device": RUNTIMES["mscclpp-a100"]}),
        ("allgather", {"device": None}),
        ("reduce-scatter", {}),
        ("reduce", {}),
        ("allgather", {"ranks_per_node": 2}),
    ],
    ids=["plain switch", "A100", "no run-time", "reduce-scatter", "reduce", "two machines"],
)
def test_lanes_are_written_where_no_switch_can_do_it(collective, options):
    text = plan(collective, **options)
    assert not names(text) & {"glres", "gstore"}
    replay(text, H100)


def test_a_rank_without_a_shard_is_refused():
    topology = box(4)
    schedule = make(topology, "allgather", "forestcoll", shards={0: 3, 1: 1, 2: 0, 3: 2})
    with pytest.raises(NotExportable) as caught:
        render(schedule, topology, H100, ranks_per_node=4)
    assert caught.value.field == "/shards/2"


@pytest.mark.parametrize(("collective", "inplace"), [("allreduce", True), ("broadcast", False)])
def test_a_plan_over_a_switch_that_loses_any_one_operation_is_found(collective, inplace):
    whole = json.loads(plan(collective, inplace, 2, gpus=3))
    for at, ops in enumerate(operations(whole)):
        for index in range(len(ops)):
            idle = collective == "broadcast" and all(op["name"] != "gstore" for op in ops)
            if idle and ops[index]["name"] == "nop":
                # Who only waits for others may do so with fewer synchronisations.
                continue
            damaged = copy.deepcopy(whole)
            list(operations(damaged))[at].pop(index)
            with pytest.raises(InvalidProgram):
                replay(json.dumps(damaged), H100)


def first(document, name):
    return next(op for ops in operations(document) for op in ops if op["name"] == name)


def channel(document, gpu=0):
    return document["gpus"][gpu]["channels"][-1]


FAULTS = {
    "a switch of some": lambda d: channel(d)["rank_groups"][0].update(ranks=[0, 1]),
    "two groups": lambda d: channel(d).update(rank_groups=channel(d)["rank_groups"] * 2),
    "another buffer there": lambda d: channel(d, 1).update(buffer_type="s"),
    "a switch less": lambda d: d["gpus"][1]["channels"].pop(),
    "unknown buffer": lambda d: channel(d).update(buffer_type="x"),
    "added elsewhere": lambda d: first(d, "glres")["src_buff"][0].update(index=1),
    "stored elsewhere": lambda d: first(d, "glres")["dst_buff"][0].update(index=1),
    "stored outside": lambda d: first(d, "glres")["dst_buff"][0].update(index=99),
    "no such channel": lambda d: first(d, "glres")["dst_buff"][0].update(switch_channel_id=2),
    "more than is there": lambda d: first(d, "glres")["src_buff"][0].update(size=2),
    "largest": lambda d: first(d, "glres").update(reduce_op="max"),
    "over memory": lambda d: first(d, "glres").update(channel_type="memory"),
    "copied, not added": lambda d: first(d, "glres").update(
        name="gstore", src_buff=[{"type": "i", "index": 0, "size": 1}]
    ),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_every_fault_planted_in_a_plan_over_a_switch_is_found(fault):
    damaged = json.loads(plan("allreduce"))
    fault(damaged)
    with pytest.raises(InvalidProgram):
        replay(json.dumps(damaged), H100)


def test_a_device_without_such_instructions_refuses_the_plan():
    with pytest.raises(InvalidProgram, match="A100 has no switch channels"):
        replay(plan("allgather"), RUNTIMES["mscclpp-a100"])


@pytest.mark.slow
def test_a_rack_of_72_takes_13_thread_blocks():
    rack = fabric("gb200-nvl72-sharp")
    device = RUNTIMES["mscclpp-b200"]
    schedule = make(rack, "broadcast", "forestcoll", root=rack.compute_nodes[3])
    text = render(schedule, rack, device, ranks_per_node=72, instances=4)
    assert {len(gpu.blocks) for gpu in replay(text, device).gpus} == {13}


@pytest.mark.slow
def test_plans_over_a_switch_execute_bit_for_bit(team):
    for case in CASES:
        sent = transcript_of("mscclpp-json", [plan(*case).encode()], H100)
        done = execute(sent, size_bytes=4 * 24, team=team)
        assert done.exact, (case, done.mistakes)
