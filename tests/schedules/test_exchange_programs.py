"""All-to-all as programs: written in every format that run-times load, read back, run."""

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.schedule_oracles import bidirectional_ring, direct_topologies, ring, two_boxes
from tests.schedules.export_cases import topology_of
from topoloom.schedules.errors import InvalidProgram, NotExportable
from topoloom.schedules.execute import execute
from topoloom.schedules.formats import FORMATS, PROGRAMS, Options, write
from topoloom.schedules.formats.chakra.protobuf_schema import read_messages, write_messages
from topoloom.schedules.formats.inspection.check_program import (
    TRANSCRIBED,
    program_violations,
    transcript_of,
)
from topoloom.schedules.formats.inspection.requirements import requirements
from topoloom.schedules.formats.lowering.transfers import chunks_per_shard
from topoloom.schedules.formats.targets.fit_runtime import coarser
from topoloom.schedules.formats.targets.runtimes import RUNTIMES
from topoloom.schedules.generate.collectives import make
from topoloom.schedules.model.schedule import Collective, Route, RouteSchedule
from topoloom.schedules.simulate import Network, simulate
from topoloom.schedules.verify import route_phases, violations

NAMES = ("UniRing(3)", "Kautz(2, 2)", "Circulant(9, 1, 2)", "Torus(4, 4)", "dgx-a100-2")
PAIR = ring(2)


def files_of(form, schedule, topology, **said):
    """Return the files of a schedule; where they state bytes, 60 for each chunk and some more."""
    if form in ("chakra-et", "goal"):
        ranks = len(topology.compute_nodes)
        said |= {"bytes": ranks * (60 * chunks_per_shard(schedule) + 7)}
    made = write(form, schedule, topology, Options(**said))
    return [*made.values()] if isinstance(made, dict) else ["".join(made).encode()]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("form", TRANSCRIBED)
@pytest.mark.parametrize("name", NAMES)
def test_every_format_carries_an_all_to_all_that_executes_bit_for_bit(name, form, team):
    topology = topology_of(name)
    schedule = make(topology, "all-to-all", "mcf")
    files = files_of(form, schedule, topology)
    assert program_violations(form, files, topology) == []
    sent = transcript_of(form, files)
    assert sent.collective is Collective.ALL_TO_ALL
    assert execute(sent, size_bytes=4 * 997, repeat=2, team=team).exact
    assert execute(schedule, size_bytes=4 * 997, team=team).exact


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(direct_topologies(6), st.sampled_from(sorted(TRANSCRIBED)), st.booleans())
def test_programs_of_any_graph_bring_every_block_to_its_rank(topology, form, nearest):
    schedule = make(topology, "all-to-all", "shortest-paths" if nearest else "mcf")
    assert program_violations(form, files_of(form, schedule, topology), topology) == []


@pytest.mark.one_in(3)
@pytest.mark.parametrize("form", TRANSCRIBED)
@pytest.mark.parametrize("name", ["UniRing(3)", "Torus(4, 4)", "Circulant(9, 1, 2)"])
def test_hop_by_hop_a_program_takes_the_phases_of_its_schedule(name, form):
    topology = topology_of(name)
    schedule = make(topology, "all-to-all", "mcf")
    sent = transcript_of(form, files_of(form, schedule, topology))
    network = Network(Fraction(10), Fraction(1))
    found = simulate(sent, topology, network, size_bytes=sent.units, synchronous=True)
    phases = route_phases(schedule, topology)
    wire = sum(phases) * sent.units / len(topology.compute_nodes)
    assert float(found.seconds) == pytest.approx(float(10 * len(phases) + wire), rel=0.02)


@pytest.mark.parametrize("name", [name for name in RUNTIMES if RUNTIMES[name].form in PROGRAMS])
def test_no_program_passes_a_limit_of_its_run_time(name):
    runtime, topology = RUNTIMES[name], topology_of("Circulant(9, 1, 2)")
    schedule = make(topology, "all-to-all", "mcf")
    files = files_of(runtime.form, schedule, topology, runtime=name)
    assert program_violations(runtime.form, files, topology, runtime) == []
    needed = requirements(runtime.form, files[0].decode(), runtime)
    assert needed.thread_blocks <= runtime.thread_blocks
    assert needed.steps <= runtime.steps


@pytest.mark.parametrize("form", PROGRAMS)
def test_what_passes_by_lies_in_scratch_and_direct_blocks_need_none(form):
    direct = make(PAIR, "all-to-all", "mcf")
    relayed = make(ring(4), "all-to-all", "mcf")
    for schedule, topology, chunks in ((direct, PAIR, 0), (relayed, ring(4), 3)):
        (text,) = files_of(form, schedule, topology)
        runtime = RUNTIMES["azure" if form == "msccl-xml" else "mscclpp-a100"]
        needed = requirements(form, text.decode(), runtime)
        assert needed.scratch == Fraction(chunks, len(topology.compute_nodes))


def test_shares_of_a_block_too_fine_for_a_run_time_are_rounded_and_stay_valid():
    ways = [Route((a, b), 11_993) for a, b in ((0, 1), (1, 2), (2, 0), (1, 0), (2, 1), (0, 2))]
    ways += [Route((a, 3 - a - b, b), 10) for a in range(3) for b in range(3) if a != b]
    triangle = bidirectional_ring(3)
    fine = RouteSchedule(Collective.ALL_TO_ALL, triangle.digest, (0, 1, 2), 12_003, tuple(ways))
    assert violations(fine, triangle) == []
    for one in coarser(fine):
        assert violations(one, triangle) == []
        assert one.units_per_pair <= 4096 // 3 or one is fine
    (text,) = files_of("msccl-xml", fine, triangle)
    assert program_violations("msccl-xml", [text], triangle) == []
    assert b"-1365-of-12003-chunks" in text
    traces = [*write("chakra-et", fine, triangle, Options(bytes=300)).values()]
    assert program_violations("chakra-et", traces, triangle) == []


def test_what_no_program_can_say_is_refused_by_name():
    routes = make(PAIR, "all-to-all", "mcf")
    for form in PROGRAMS:
        with pytest.raises(NotExportable, match="an output of its own"):
            files_of(form, routes, PAIR, inplace=True)
    with pytest.raises(NotExportable, match="/bytes: must be a multiple of the 2 ranks"):
        write("chakra-et", routes, PAIR, Options(bytes=65))
    for form in FORMATS.keys() - TRANSCRIBED.keys() - {"json"}:
        with pytest.raises(NotExportable, match=r"/collective|/format"):
            list(write(form, routes, PAIR, Options()))


def test_in_place_is_no_mode_of_an_all_to_all():
    (text,) = files_of("msccl-xml", make(PAIR, "all-to-all", "mcf"), PAIR)
    found = program_violations("msccl-xml", [text.replace(b'inplace="0"', b'inplace="1"')], PAIR)
    assert "an output of its own" in str(found[0])
    (plan,) = files_of("mscclpp-json", make(PAIR, "all-to-all", "mcf"), PAIR)
    plan = plan.replace(b'"inplace": false', b'"inplace": true')
    assert "an output of its own" in str(program_violations("mscclpp-json", [plan], PAIR)[0])


RING = ring(4)


def refused(form, files):
    with pytest.raises(InvalidProgram):
        transcript_of(form, files)


def test_an_xml_program_that_loses_a_wait_or_moves_a_block_is_found():
    (text,) = files_of("msccl-xml", make(RING, "all-to-all", "mcf"), RING)
    steps = len(list(ET.fromstring(text).iter("step")))
    damaged = 0
    for at in range(steps):
        for change in ({"depid": "-1", "deps": "-1"}, {"dstoff": "0"}, {"srcoff": "0"}):
            root = ET.fromstring(text)
            step = list(root.iter("step"))[at]
            unread = step.get("type") == ("s" if "dstoff" in change else "r")
            if step.get("type") == "nop" or unread or change.items() <= step.attrib.items():
                continue
            step.attrib.update(change)
            damaged += 1
            made = ET.tostring(root, encoding="unicode").replace(" />", "/>")
            refused("msccl-xml", [made.encode()])
    assert damaged > steps // 2


def test_a_plan_that_loses_any_operation_is_found():
    (text,) = files_of("mscclpp-json", make(ring(3), "all-to-all", "mcf"), ring(3))
    whole = json.loads(text)
    for gpu, made in enumerate(whole["gpus"]):
        for block, told in enumerate(made["threadblocks"]):
            for at in range(len(told["ops"])):
                damaged = json.loads(text)
                damaged["gpus"][gpu]["threadblocks"][block]["ops"].pop(at)
                refused("mscclpp-json", [json.dumps(damaged).encode()])


def test_traces_that_lose_a_node_or_a_dependency_or_move_bytes_are_found():
    files = files_of("chakra-et", make(RING, "all-to-all", "mcf"), RING)
    opened = [read_messages(data) for data in files]
    for rank, (_, nodes) in enumerate(opened):
        for at in range(len(nodes)):
            for change in ("lose", "free", "move"):
                damaged = [read_messages(data) for data in files]
                node = damaged[rank][1][at]
                if change == "lose":
                    damaged[rank][1].pop(at)
                elif change == "free" and node.data_deps:
                    del node.data_deps[:]
                elif change == "move" and "result" in node.outputs.values:
                    node.outputs.values = node.outputs.values.replace("result", "data")
                else:
                    continue
                refused("chakra-et", [write_messages([head, *rest]) for head, rest in damaged])


def test_the_result_of_traces_is_for_all_to_all_only():
    boxes = two_boxes()
    gather = make(boxes, "allgather", "forestcoll")
    made = write("chakra-et", gather, boxes, Options(bytes=1 << 12))
    opened = [read_messages(data) for data in made.values()]
    receive = next(node for node in opened[0][1] if node.outputs.values)
    receive.outputs.values = receive.outputs.values.replace("data", "result")
    refused("chakra-et", [write_messages([head, *nodes]) for head, nodes in opened])


@pytest.mark.slow
def test_a_transcript_that_sends_what_a_rank_has_not_is_not_executed():
    sent = transcript_of("msccl-xml", files_of("msccl-xml", make(RING, "all-to-all", "mcf"), RING))
    early = replace(sent, messages=tuple(m._replace(needs=()) for m in sent.messages[::-1]))
    with pytest.raises(InvalidProgram, match="must hold what it sends"):
        execute(early)
