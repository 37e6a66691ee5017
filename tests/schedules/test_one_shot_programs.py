"""Allreduces in one pass as programs: gathered in scratch, added up in the order of ranks."""

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topoloom.schedules.errors import NotExportable
from topoloom.schedules.execute import execute
from topoloom.schedules.formats import PROGRAMS, Options, write
from topoloom.schedules.formats.inspection.check_program import (
    TRANSCRIBED,
    program_violations,
    transcript_of,
)
from topoloom.schedules.formats.lowering.buffer_moves import plan
from topoloom.schedules.formats.msccl.program import BUFFERS
from topoloom.schedules.formats.targets.runtimes import RUNTIMES
from topoloom.schedules.generate.collectives import GATHERS, make
from topoloom.schedules.simulate import Network, simulate
from topoloom.synth.edge_swaps.random_regular import random_regular
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse

RECIPES = ("Complete(2)", "BiRing(8)", "GeneralizedKautz(2, 9)", "LineGraph(1, Complete(4))")
NETWORK = Network(Fraction(1, 10**5), Fraction(125 * 10**8))
BYTES = 4 * 5040


def files_of(form, schedule, topology, **options):
    said = Options(bytes=BYTES) if form not in PROGRAMS else Options(**options)
    made = write(form, schedule, topology, said)
    return [*made.values()] if isinstance(made, dict) else ["".join(made).encode()]


@pytest.mark.parametrize("algorithm", GATHERS)
@pytest.mark.parametrize("form", TRANSCRIBED)
def test_whatever_gathers_it_can_be_written(form, algorithm):
    graph = build(parse("LineGraph(1, Complete(4))"))
    files = files_of(form, make(graph, "allreduce", algorithm), graph)
    assert program_violations(form, files, graph) == []


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("form", TRANSCRIBED)
def test_the_file_takes_the_time_of_the_schedule(form, recipe):
    graph = build(parse(recipe))
    schedule = make(graph, "allreduce", "bfb-one-shot")
    sent = transcript_of(form, files_of(form, schedule, graph))
    assert sent.in_one_pass
    times = [
        simulate(one, graph, NETWORK, size_bytes=BYTES, synchronous=True).seconds
        for one in (schedule, sent)
    ]
    assert times[0] == times[1]


@pytest.mark.parametrize("form", TRANSCRIBED)
@pytest.mark.parametrize("recipe", RECIPES[:3])
def test_what_it_sends_is_executed_bit_for_bit(form, recipe, team):
    graph = build(parse(recipe))
    files = files_of(form, make(graph, "allreduce", "bfb-one-shot"), graph)
    # A size that ranks and chunks do not divide.
    assert execute(transcript_of(form, files), size_bytes=4 * 1009, team=team).exact


@pytest.mark.one_in(3)
@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("name", ["azure", "rccl", "msccl-v100", "mscclpp-v100"])
@settings(max_examples=6, deadline=None)
@given(st.integers(4, 20), st.integers(2, 4), st.integers(1, 3), st.integers(0, 99))
def test_every_run_time_takes_it_in_place_and_out_of_place(
    name, inplace, nodes, degree, instances, seed
):
    runtime = RUNTIMES[name]
    graph = random_regular(nodes, min(degree, nodes - 1), seed=seed)
    schedule = make(graph, "allreduce", "bfb-one-shot", max_chunks=4)
    try:
        files = files_of(
            runtime.form, schedule, graph, runtime=name, inplace=inplace, instances=instances
        )
    except NotExportable as error:
        assert "needed" in error.rule
        return
    assert program_violations(runtime.form, files, graph, runtime) == []


@pytest.mark.parametrize("inplace", [False, True])
def test_every_rank_adds_in_the_order_of_ranks_so_that_all_get_the_same_bits(inplace):
    graph = build(parse("GeneralizedKautz(2, 9)"))
    found = plan(make(graph, "allreduce", "bfb-one-shot"), graph.compute_nodes, inplace)
    for gpu in range(9):
        own = [move for move in found.moves if move.is_local and move.source == gpu]
        summed = [move for move in own if move.goal == ("o", 0)]
        owners = [move.chunk // found.chunks_per_shard for move in summed]
        assert owners == list(range(9))
        assert [move.operand for move in summed] == [None] + [("o", 0)] * 8


def test_long_sums_go_on_in_a_next_block():
    graph = build(parse("Complete(9)"))
    schedule = make(graph, "allreduce", "bfb-one-shot")
    narrow = replace(RUNTIMES["azure"], name="narrow", steps=6)
    from topoloom.schedules.formats.msccl.write import render

    text = render(schedule, graph, narrow)
    assert program_violations("msccl-xml", [text.encode()], graph, narrow) == []
    (gpu, *_) = ET.fromstring(text).findall("gpu")
    local = [block for block in gpu if block.get("send") == block.get("recv") == "-1"]
    assert len(local) > 1


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("name", ["azure", "mscclpp-v100"])
def test_a_program_without_one_of_its_sums_is_found_out(name, inplace):
    runtime = RUNTIMES[name]
    graph = build(parse("BiRing(4)"))
    schedule = make(graph, "allreduce", "bfb-one-shot")
    (file,) = files_of(runtime.form, schedule, graph, runtime=name, inplace=inplace)
    damaged = list(without_one_sum(runtime.form, file.decode()))
    assert damaged
    for text in damaged:
        assert program_violations(runtime.form, [text.encode()], graph, runtime)


def without_one_sum(form, text):
    """Yield the file with each sum in turn taken out, or reading something else."""
    if form == "msccl-xml":
        for at in range(len(ET.fromstring(text).findall(".//step[@type='re']"))):
            root = ET.fromstring(text)
            step = root.findall(".//step[@type='re']")[at]
            step.set("type", "cpy")
            yield ET.tostring(root, encoding="unicode").replace(" />", "/>")
            step.set("type", "re")
            step.set("srcbuf", next(one for one in BUFFERS if one != step.get("srcbuf")))
            yield ET.tostring(root, encoding="unicode").replace(" />", "/>")
        return
    count = text.count('"name": "re"')
    for at in range(count):
        document = json.loads(text)
        sums = [
            (block["ops"], number)
            for gpu in document["gpus"]
            for block in gpu["threadblocks"]
            for number, operation in enumerate(block["ops"])
            if operation["name"] == "re"
        ]
        operations, number = sums[at]
        del operations[number]
        yield json.dumps(document)
