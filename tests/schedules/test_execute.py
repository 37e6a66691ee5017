"""Schedules run between real processes; every element of every rank is compared."""

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedules.collectives import make
from schedules.errors import ExecutionFailed, InvalidSchedule, TooLarge
from schedules.execute import Team, execute
from schedules.execute.data import Task, initial, mistakes
from schedules.execute.infer_topology import infer_topology
from schedules.execute.plan import plan
from schedules.formats.schedule.read import from_document
from schedules.formats.schedule.write import to_document
from schedules.model import Collective, SequenceSchedule, StepSchedule, Tree, TreeSchedule
from schedules.verify import violations
from synth.build import build
from synth.fabrics import fabric
from synth.recipe import parse
from synth.topology import Topology
from tests.schedule_oracles import direct_topologies, every_schedule, ring, two_boxes

ROOT = Path(__file__).parent.parent.parent
COLLECTIVES = ("allgather", "reduce-scatter", "allreduce")


@pytest.fixture(scope="module")
def team():
    pytest.importorskip("torch", reason="the extra `execute` is not installed")
    with Team(16) as found:
        yield found


def topology_of(name):
    return build(parse(name)) if "(" in name else fabric(name)


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize(
    ("name", "algorithm"),
    [
        ("Circulant(8, 1, 3)", "bfb"),
        ("Kautz(3, 2)", "bfb"),
        ("GeneralizedKautz(3, 11)", "bfb"),
        ("Torus(4, 4)", "bfb"),
        ("DeBruijn(2, 3)", "bfb"),
        ("Torus(4, 4)", "forestcoll"),
        ("GeneralizedKautz(3, 11)", "forestcoll"),
        ("dgx-a100-2", "forestcoll"),
        ("dgx-1v", "forestcoll"),
        ("mi250-1", "forestcoll"),
    ],
)
def test_every_rank_holds_every_bit_of_the_result(team, name, algorithm, collective):
    schedule = make(topology_of(name), collective, algorithm)
    done = execute(schedule, size_bytes=120_000, repeat=2, team=team)
    assert done.mistakes == ()
    assert done.exact
    assert len(done.seconds) == 2
    assert all(seconds > 0 for seconds in done.seconds)


@pytest.mark.parametrize(
    ("collective", "options"),
    [
        ("broadcast", {"root": "0.gpu3"}),
        ("reduce", {"root": "1.gpu0"}),
        ("reduce", {"root": "1.gpu0", "participants": ["0.gpu0", "1.gpu0", "1.gpu7"]}),
        ("allgather", {"shards": {"0.gpu0": 3, "1.gpu5": 1}}),
        ("allreduce", {"shards": {"0.gpu0": 3, "1.gpu5": 1}}),
        ("allreduce", {"participants": ["0.gpu0", "0.gpu1", "1.gpu6"]}),
    ],
)
def test_one_root_unequal_shards_and_groups_hold_every_bit_too(team, collective, options):
    schedule = make(fabric("dgx-a100-2"), collective, "forestcoll", **options)
    done = execute(schedule, size_bytes=120_000, team=team)
    assert done.exact
    assert done.ranks == getattr(schedule, "parts", (schedule,))[0].ranks


def simulated(schedule, elements, pipeline_chunks):
    """Carry out a plan in this process; return the mistakes and the rounds."""
    found = plan(schedule, elements, pipeline_chunks)
    parts = schedule.parts if isinstance(schedule, SequenceSchedule) else (schedule,)
    gathers = [part.collective.outward for part in parts]
    task = Task(found.bounds, not all(gathers), not gathers[0], gathers[-1])
    buffers = [initial(task, rank, 0)[0] for rank in range(len(parts[0].ranks))]
    for messages in found.rounds:
        before = [buffer.copy() for buffer in buffers]
        for message in messages:
            for first, past, op in message.ranges.tolist():
                piece = before[message.source][first:past]
                if op:
                    buffers[message.target][first:past] += piece
                else:
                    buffers[message.target][first:past] = piece
    wrong = [m for rank, held in enumerate(buffers) for m in mistakes(task, rank, 0, held)]
    return wrong, found


@given(direct_topologies(), st.integers(0, 40), st.integers(1, 5), st.data())
def test_a_plan_of_a_valid_schedule_does_what_the_collective_asks(topology, size, pieces, data):
    schedule = data.draw(st.sampled_from([*every_schedule(topology).values()]))
    assert violations(schedule, topology) == []
    assert simulated(schedule, size, pieces)[0] == []


@pytest.mark.parametrize("pieces", [1, 3, 7])
def test_pieces_follow_one_another_down_a_tree(pieces):
    chain = tuple(Tree(root, 1, tuple((i % 5, (i + 1) % 5) for i in range(root, root + 4)))
                  for root in range(5))  # fmt: skip
    schedule = TreeSchedule(Collective.ALLGATHER, ring(5).digest, tuple(range(5)), 1, chain)
    wrong, found = simulated(schedule, 1000, pieces)
    assert wrong == []
    assert len(found.rounds) == 4 + pieces - 1
    # The pieces of one root keep every link of its chain busy.
    assert max(len(messages) for messages in found.rounds) == 5
    moved = sum(message.elements for messages in found.rounds for message in messages)
    assert moved == 4 * 1000


def test_a_send_over_switches_is_one_message():
    schedule = make(two_boxes(), "allgather", "forestcoll")
    found = plan(schedule, 1 << 10)
    moved = sum(message.elements for messages in found.rounds for message in messages)
    assert moved == 3 * 1024


def without(schedule, step, send):
    steps = list(schedule.steps)
    steps[step] = np.delete(steps[step], send)
    return replace(schedule, steps=tuple(steps))


def test_a_chunk_that_is_never_sent_is_found_in_the_data(team):
    schedule = without(make(build(parse("Kautz(2, 2)")), "allgather"), 1, 0)
    done = execute(schedule, size_bytes=6 * 64, team=team)
    assert not done.exact
    assert {mistake.wrong for mistake in done.mistakes} <= set(range(1, 17))


def test_a_chunk_sent_before_it_has_arrived_is_found_in_the_data(team):
    schedule = make(build(parse("Kautz(2, 2)")), "allgather")
    swapped = replace(schedule, steps=schedule.steps[::-1])
    assert not execute(swapped, team=team).exact


def test_a_contribution_that_counts_twice_is_found_in_the_data(team):
    schedule = make(ring(3), "reduce-scatter")
    step = schedule.steps[-1]
    doubled = replace(schedule, steps=(*schedule.steps[:-1], np.concatenate([step, step[:1]])))
    found = execute(doubled, size_bytes=48, team=team).mistakes
    assert [(m.rank, m.shard, m.wrong, m.first) for m in found] == [
        (int(step[0]["target"]), int(step[0]["shard"]), 4, 0)
    ]


def test_data_smaller_than_the_chunks_is_moved_too(team):
    schedule = make(fabric("dgx-a100-2"), "allreduce", "forestcoll")
    for size in (0, 4, 60):
        done = execute(schedule, size_bytes=size, team=team)
        assert done.exact
        assert done.bytes_moved == 30 * size


def test_the_sends_of_a_schedule_are_enough_to_run_it():
    schedule = make(two_boxes(), "allreduce", "forestcoll")
    document = to_document(schedule)
    again = from_document(document, infer_topology(document))
    assert plan(again, 100).bounds == plan(schedule, 100).bounds
    assert simulated(again, 100, 2)[0] == []


def stranger(**changes):
    return replace(make(ring(3), "allgather"), **changes)


def one_tree(*tree):
    return TreeSchedule(Collective.ALLGATHER, "", (0, 1), 1, (Tree(*tree),))


@pytest.mark.parametrize(
    ("schedule", "place"),
    [
        (stranger(ranks=(0, 1)), "/steps/0"),
        (stranger(chunks_per_shard=0), "/steps/0"),
        (one_tree(0, 1, ((1, 0),)), "/trees/0/edges/0"),
        (one_tree(2, 1, ()), "/trees/0/root"),
        (one_tree(0, 1, ((0, 2),)), "/trees/0/edges"),
        (one_tree(0, 2, ((0, 1),)), "/trees/0/weight"),
    ],
)
def test_what_cannot_be_planned_is_refused_with_its_place(schedule, place):
    with pytest.raises(InvalidSchedule) as error:
        plan(schedule, 12)
    assert error.value.field == place


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"size_bytes": 6}, "/bytes"),
        ({"size_bytes": 1 << 40}, "/bytes"),
        ({"repeat": 0}, "/repeat"),
        ({"pipeline_chunks": 0}, "/pipeline_chunks"),
        ({"timeout_seconds": 0}, "/timeout_seconds"),
    ],
)
def test_limits_are_explicit(options, field):
    with pytest.raises(TooLarge) as error:
        execute(make(ring(3), "allgather"), **options)
    assert error.value.field == field


def test_the_number_of_pieces_is_limited():
    with pytest.raises(TooLarge) as error:
        plan(make(ring(80), "allgather", "forestcoll"), 1, pipeline_chunks=1024)
    assert error.value.field == "/pipeline_chunks"


def test_a_sequence_without_parts_is_refused():
    with pytest.raises(ExecutionFailed):
        execute(SequenceSchedule(Collective.ALLREDUCE, "", ()))


def test_a_team_that_is_too_small_is_refused(team):
    huge = StepSchedule(Collective.ALLGATHER, "", tuple(range(17)), 1, ())
    with pytest.raises(ExecutionFailed, match="17"):
        execute(huge, team=team)


def alive(process):
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def gone(processes, seconds=10):
    deadline = time.monotonic() + seconds
    while any(map(alive, processes)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not any(map(alive, processes))


LONG = {"size_bytes": 1 << 22, "repeat": 1000}


@pytest.mark.usefixtures("team")
@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGSEGV])
def test_a_rank_that_dies_ends_all_with_its_name(blow):
    schedule = make(ring(3), "allgather")
    with Team(3) as team:
        threading.Timer(0.3, os.kill, (team.process_ids[1], blow)).start()
        with pytest.raises(ExecutionFailed, match=f"rank 1 ended by signal {blow.name}"):
            execute(schedule, **LONG, team=team)
        assert gone(team.process_ids)
        with pytest.raises(ExecutionFailed, match="have ended"):
            execute(schedule, team=team)


@pytest.mark.usefixtures("team")
def test_a_rank_that_died_between_jobs_is_named_too():
    with Team(3) as team:
        os.kill(team.process_ids[2], signal.SIGKILL)
        time.sleep(0.2)
        with pytest.raises(ExecutionFailed, match="rank 2 ended by signal SIGKILL"):
            execute(make(ring(3), "allgather"), team=team)


@pytest.mark.usefixtures("team")
def test_a_rank_that_hangs_is_waited_for_no_longer_than_the_timeout():
    with Team(3, timeout_seconds=1) as team:
        threading.Timer(0.3, os.kill, (team.process_ids[1], signal.SIGSTOP)).start()
        start = time.monotonic()
        with pytest.raises(ExecutionFailed):
            execute(make(ring(3), "allgather"), **LONG, team=team)
        assert time.monotonic() - start < 10
    assert gone(team.process_ids)


@pytest.mark.usefixtures("team")
def test_leaving_the_block_ends_all_processes_and_removes_their_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with Team(2) as team:
        assert all(map(alive, team.process_ids))
        assert list(tmp_path.iterdir())
    assert not any(map(alive, team.process_ids))
    assert not list(tmp_path.iterdir())
    team.close()


ASK = """
import os, sys
from schedules.collectives import make
from schedules.execute import Team, execute
from synth.build import build
from synth.recipe import parse
with Team(3) as team:
    print(*team.process_ids, os.getpid(), flush=True)
    schedule = make(build(parse("UniRing(3)")), "allgather")
    execute(schedule, size_bytes=1 << 22, repeat=1000, team=team)
"""


@pytest.mark.usefixtures("team")
@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGINT])
def test_no_process_outlives_the_one_that_asked(blow, tmp_path):
    asking = subprocess.Popen(
        [sys.executable, "-c", ASK],
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with asking:
        assert asking.stdout is not None
        *ranks, asker = map(int, asking.stdout.readline().split())
        assert len(ranks) == 3
        time.sleep(0.3)
        os.kill(asker, blow)
        asking.communicate(timeout=20)
    assert asking.returncode != 0
    assert gone(ranks)
    deadline = time.monotonic() + 5
    while list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not list(tmp_path.iterdir())


def test_topologies_are_only_implied_by_what_names_ranks():
    with pytest.raises(InvalidSchedule):
        infer_topology({"steps": [[{"source": 1.5, "target": None}]], "trees": 3})
    found = infer_topology({"steps": [[{"source": 10, "target": 9}], 0], "trees": [0]})
    assert found == Topology([9, 10], [(10, 9)])
