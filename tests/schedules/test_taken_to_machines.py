"""Every algorithm that a design names can be taken to machines: written, loaded, run."""

import pytest

from benchmarks.bench_machines import LARGEST, Tally, questions, taken
from topoloom.schedules.execute import Team

COUNT = 15


def team_of(ranks):
    pytest.importorskip("torch", reason="the extra `execute` is not installed")
    return Team(ranks, timeout_seconds=300)


@pytest.fixture(scope="module")
def team():
    with team_of(LARGEST) as found:
        yield found


@pytest.mark.slow
@pytest.mark.parametrize("question", list(questions(COUNT, seed=2026)), ids=str)
def test_every_algorithm_of_a_design_is_written_loaded_and_run_bit_for_bit(question, team):
    tally = Tally()
    taken(question, team, tally)
    assert tally.faults == []
    assert all(tally.files[form] for form in ("msccl-xml", "mscclpp-json", "chakra-et"))


@pytest.mark.slow
def test_so_are_those_of_small_designs_of_every_collective():
    drawn = questions(100, seed=7, most=6)
    by_collective = {question.collective: question for question in drawn}
    tally = Tally()
    with team_of(6) as small:
        for question in by_collective.values():
            taken(question, small, tally)
    assert len(by_collective) == 4 and tally.faults == []
    assert {"bfb", "bfb-one-shot"} <= set(tally.algorithms)
