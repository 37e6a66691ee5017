"""GOAL files: the operations of the traces as text, proven by the same replay."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.hostile_inputs import HOSTILE, spoilt
from tests.schedule_oracles import ring, shortest_steps, two_boxes
from tests.schedules.export_cases import schedule_of, topology_of
from topoloom.schedules.errors import InvalidProgram
from topoloom.schedules.formats.chakra.read import parse as parse_traces
from topoloom.schedules.formats.chakra.write import render as render_traces
from topoloom.schedules.formats.goal.read import parse
from topoloom.schedules.formats.goal.write import render
from topoloom.schedules.formats.inspection.check_program import program_violations
from topoloom.schedules.formats.inspection.rank_traffic import traffic_of
from topoloom.schedules.generate.collectives import make
from topoloom.schedules.model.schedule import Collective

GOLDEN = Path(__file__).parent.parent / "golden" / "two-boxes-allgather.goal"
GRAMMAR = re.compile(
    r"//.*|num_ranks [0-9]+|rank [0-9]+ \{|\}|"
    r"[a-zA-Z]\w*: (send [0-9]+b to [0-9]+ tag [0-9]+|recv [0-9]+b from [0-9]+ tag [0-9]+|calc 0)|"
    r"[a-zA-Z]\w* requires [a-zA-Z]\w*|"
)
"""The lines that txt2bin of LogGOPSim scans, as its scanner states them."""
CASES = [
    ("Torus(4, 4)", "allreduce"),
    ("dgx-a100-2", "allgather"),
    ("Kautz(2, 2)", "reduce-scatter"),
    ("Torus(4, 4)", "all-to-all"),
]


def schedule_for(name, collective):
    if collective == "all-to-all":
        return make(topology_of(name), Collective.ALL_TO_ALL, "mcf")
    return schedule_of(name, collective)


def text_of(name, collective, size=2**20):
    return "".join(render(schedule_for(name, collective), topology_of(name), size))


@pytest.mark.parametrize(("name", "collective"), CASES)
def test_goal_has_the_operations_of_the_traces(name, collective):
    schedule, topology = schedule_for(name, collective), topology_of(name)
    traces = parse_traces(render_traces(schedule, topology, 2**20))
    assert parse(text_of(name, collective)) == traces
    files = [text_of(name, collective).encode()]
    assert program_violations("goal", files, topology) == []
    assert traffic_of("goal", files).whole == 2**20


@pytest.mark.parametrize(("name", "collective"), CASES)
def test_every_line_is_one_that_loggopsim_scans(name, collective):
    for line in text_of(name, collective).split("\n"):
        assert GRAMMAR.fullmatch(line), line


@pytest.mark.parametrize(
    ("change", "line", "rule"),
    [
        (("// topoloom allgather", "// topoloom gather"), 1, "must name one of"),
        (("num_ranks 3", "num_ranks 0"), 2, "1 to 4096 ranks"),
        (("rank 0 {", "rank 1 {"), 4, "must be 'rank 0 {'"),
        (('// [["data", 0, 4]] []\n', ""), 5, "// READS WRITES"),
        (("send 4b to 1", "send 5b to 1"), 6, "bytes that the comment names"),
        (("send 4b to 1", "send 4b to 0"), 6, "must join rank 0 to another"),
        (("o0: send", "o0: put"), 6, "must be send, recv or calc"),
        (("o1: recv", "o0: recv"), 8, "a label that is new"),
        (("requires o1", "requires o9"), 12, "that come before"),
    ],
)
def test_an_error_names_its_line_and_rule(change, line, rule):
    text = "".join(render(shortest_steps(ring(3)), ring(3), 12))
    assert change[0] in text
    with pytest.raises(InvalidProgram) as caught:
        parse(text.replace(*change, 1))
    assert caught.value.field == f"/line/{line}"
    assert rule in caught.value.rule


def test_a_file_that_is_cut_is_refused_at_its_last_line():
    text = GOLDEN.read_text()
    for lines in (2, 5, 20):
        with pytest.raises(InvalidProgram, match="must not end here") as caught:
            parse("\n".join(text.splitlines()[:lines]))
        assert caught.value.field == f"/line/{lines}"


def test_goal_of_other_programs_is_refused_for_its_missing_data():
    with pytest.raises(InvalidProgram, match="GOAL itself names no data"):
        parse("num_ranks 2\n\nrank 0 {\nl1: send 1b to 1 tag 0\n}\nrank 1 {\n}\n")


@settings(max_examples=60)
@given(spoilt(GOLDEN.read_text()))
def test_a_spoilt_file_is_valid_or_refused(text):
    for violation in program_violations("goal", [text.encode(errors="replace")], two_boxes()):
        assert violation.sentence


@settings(max_examples=60)
@given(st.sampled_from(HOSTILE))
def test_a_hostile_text_is_refused(text):
    assert program_violations("goal", [text.encode(errors="replace")], ring(3))
