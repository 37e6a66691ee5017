"""Programs of the MSCCL family: every one does its collective, and looks as its readers ask."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.schedule_oracles import (
    bidirectional_ring,
    complete,
    direct_topologies,
    every_schedule,
    hypercube,
    ring,
    shortest_steps,
    shortest_trees,
    two_boxes,
)
from topoloom.schedules.errors import NotExportable
from topoloom.schedules.formats.msccl.program import Dialect
from topoloom.schedules.formats.msccl.read import parse
from topoloom.schedules.formats.msccl.replay import replay
from topoloom.schedules.formats.msccl.write import render
from topoloom.schedules.formats.msccl.write import text as written
from topoloom.schedules.model.schedule import Collective, SequenceSchedule

GOLDEN = Path(__file__).parent.parent / "golden"


FABRICS = {
    "pair": ring(2),
    "ring of 3": ring(3),
    "two-way ring of 5": bidirectional_ring(5),
    "complete on 6": complete(6),
    "two boxes of 4": two_boxes(4),
    "hypercube of 16": hypercube(4),
    "two boxes of 8": two_boxes(8),
}


SCHEDULES = {label: every_schedule(topology) for label, topology in FABRICS.items()}


CASES = [
    pytest.param(label, kind, id=f"{label}-{kind}")
    for label, made in SCHEDULES.items()
    for kind in made
]


@pytest.mark.one_in(11, slow=5)
@pytest.mark.parametrize("inplace", [False, True], ids=["out-of-place", "in-place"])
@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("label, kind", CASES)
def test_every_program_does_its_collective_even_without_a_free_slot(label, kind, dialect, inplace):
    topology, schedule = FABRICS[label], SCHEDULES[label][kind]
    text = render(schedule, topology, dialect, inplace=inplace)
    for slots in (0, 2):
        program = replay(text, dialect, slots=slots)
        assert program.collective is schedule.collective
        assert program.modes == (inplace,)
        assert len(program.gpus) == len(topology.compute_nodes)


@pytest.mark.one_in(11, slow=5)
@pytest.mark.parametrize("inplace", [False, True], ids=["out-of-place", "in-place"])
@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("label, kind", CASES)
def test_a_program_that_is_read_and_written_is_the_same_file(label, kind, dialect, inplace):
    text = render(SCHEDULES[label][kind], FABRICS[label], dialect, inplace=inplace)
    assert written(parse(text, dialect), dialect) == text


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(direct_topologies(6), st.data())
def test_programs_of_any_graph_and_any_weights_do_their_collective(topology, data):
    weights = tuple(data.draw(st.lists(st.integers(1, 100), min_size=1, max_size=3)))
    made = every_schedule(topology, data.draw(st.integers(1, 4)), weights)
    schedule = made[data.draw(st.sampled_from(sorted(made)))]
    dialect = data.draw(st.sampled_from(Dialect))
    text = render(schedule, topology, dialect, inplace=data.draw(st.booleans()))
    replay(text, dialect, slots=data.draw(st.integers(0, 2)))


def test_an_allreduce_may_scatter_by_steps_and_gather_by_trees():
    topology = bidirectional_ring(5)
    made = every_schedule(topology, chunks=2, weights=(1, 2))
    parts = (made["steps-reduce-scatter"], made["trees-allgather"])
    mixed = SequenceSchedule(Collective.ALLREDUCE, topology.digest, parts)
    # Halves and thirds of a shard make sixths.
    assert replay(render(mixed, topology, "azure"), "azure").chunks == 5 * 6


def test_chunks_are_no_finer_than_the_schedule_needs():
    topology = ring(3)
    text = render(shortest_trees(topology, (30, 20)), topology, "azure")
    assert replay(text, "azure").chunks == 3 * 5


@pytest.mark.parametrize("change", [{"runtime": "nccl"}, {"protocol": "fast"}], ids=str)
def test_unknown_names_are_refused(change):
    with pytest.raises(NotExportable) as caught:
        render(shortest_steps(ring(3)), ring(3), **change)
    assert caught.value.field == ("/protocol" if "protocol" in change else "/dialect")


@pytest.mark.parametrize("dialect", Dialect)
def test_the_header_says_what_the_dialect_asks_for(dialect):
    made = every_schedule(ring(3))
    algo = ET.fromstring(render(made["steps-reduce-scatter"], ring(3), dialect, protocol="LL"))
    assert algo.get("coll") == ("reduce_scatter" if dialect == "msccl" else "reducescatter")
    assert algo.get("proto") == "LL"
    assert algo.get("ngpus") == "3"
    assert (algo.get("inplace"), algo.get("outofplace")) == ("0", "1")
    # Scratch of a third of the data, 1 GiB of it; what is smaller than maxBytes is run.
    assert int(algo.get("maxBytes")) == (2**30 * 3 + 1 if dialect == "msccl" else 0)


def test_the_text_is_what_hand_written_readers_take():
    text = render(
        shortest_steps(ring(3)), ring(3), "azure", name='a "name" with <marks> & more' * 9
    )
    assert text.startswith("<algo ") and text.endswith("</algo>\n")
    assert " />" not in text and "&" not in text and "<?" not in text
    assert len(ET.fromstring(text).get("name")) == 63
    replay(text, "azure")


def golden_programs():
    square = bidirectional_ring(4)
    boxes = two_boxes()
    return {
        "ring3-allgather.azure.xml": (shortest_steps(ring(3)), ring(3), "azure", False),
        "square-allreduce.msccl.xml": (
            every_schedule(square)["steps-allreduce"],
            square,
            "msccl",
            True,
        ),
        "two-boxes-reduce-scatter.rccl.xml": (
            every_schedule(boxes)["trees-reduce-scatter"],
            boxes,
            "rccl",
            False,
        ),
    }


@pytest.mark.parametrize("name", golden_programs())
def test_programs_are_the_same_byte_for_byte(name):
    # After an intended change of layout: write the rendered text to the file and read the diff.
    schedule, topology, dialect, inplace = golden_programs()[name]
    text = render(schedule, topology, dialect, inplace=inplace)
    assert text == (GOLDEN / name).read_text()
    replay(text, dialect)
