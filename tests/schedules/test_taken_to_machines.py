"""Every algorithm that a design names can be taken to machines: written, loaded, run."""

import random

import pytest

from schedules.errors import NotExportable
from schedules.execute import Team, execute
from schedules.formats import PROGRAMS, Options, write
from schedules.formats.checking import TRANSCRIBED, program_violations, transcript_of
from schedules.formats.runtimes import RUNTIMES
from schedules.model import Collective, StepSchedule
from synth.build import build
from topoloom import design, runnable

QUESTIONS = 30
LARGEST = 32

pytestmark = pytest.mark.slow


def questions():
    chance = random.Random(2026)
    for _ in range(QUESTIONS):
        nodes = chance.randint(3, LARGEST)
        degree = chance.randint(2, min(4, nodes - 1))
        collective = chance.choice(["allreduce", "allgather", "reduce-scatter", "all-to-all"])
        links = chance.choice(["unidirectional", "bidirectional"])
        if links == "bidirectional" and nodes * degree % 2:
            nodes += 1 if nodes < LARGEST else -1
        yield nodes, degree, collective, links, 1 << chance.randint(10, 28)


@pytest.fixture(scope="module")
def team():
    pytest.importorskip("torch", reason="the extra `execute` is not installed")
    with Team(LARGEST, timeout_seconds=300) as found:
        yield found


@pytest.mark.parametrize("question", list(questions()), ids=lambda asked: "-".join(map(str, asked)))
def test_every_algorithm_of_a_design_is_written_loaded_and_run_bit_for_bit(question, team):
    nodes, degree, collective, links, size = question
    found = design(nodes, degree, collective, size, links=links)
    topology = build(found.co_design.measured.recipe)
    served = runnable(found)
    assert {one.schedule.collective for one in served} == {Collective.of(collective)}
    for one in served:
        schedule = one.schedule
        size = 4 * 60 * nodes
        assert execute(schedule, size_bytes=size, team=team).exact
        if isinstance(schedule, StepSchedule) and schedule.in_one_pass:
            # Every rank sums up by itself, for which no program has a word.
            for form in TRANSCRIBED:
                said = Options() if form in PROGRAMS else Options(bytes=nodes << 20)
                with pytest.raises(NotExportable, match="in one pass"):
                    write(form, schedule, topology, said)
            continue
        for form in TRANSCRIBED:
            names = [name for name in RUNTIMES if RUNTIMES[name].form == form] or [None]
            taken = 0
            for name in names:
                said = Options(bytes=nodes << 20) if form not in PROGRAMS else Options(runtime=name)
                try:
                    made = write(form, schedule, topology, said)
                except NotExportable as error:
                    # Small devices may be too small; then it is said what is needed.
                    assert "needed" in error.rule
                    continue
                taken += 1
                files = [*made.values()] if isinstance(made, dict) else ["".join(made).encode()]
                runtime = RUNTIMES.get(name)
                assert program_violations(form, files, topology, runtime) == []
                if collective == "all-to-all" and nodes > 12:
                    # A program of minutes: one run-time that takes it will do.
                    break
            assert taken, form
            done = execute(transcript_of(form, files, runtime), size_bytes=size, team=team)
            assert done.exact
