"""Processes of a team: they end together, whoever dies, hangs or stops asking."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.schedule_oracles import ring
from topoloom.schedules.errors import ExecutionFailed
from topoloom.schedules.execute import Team, execute
from topoloom.schedules.generate.collectives import make

pytest.importorskip("torch", reason="the extra `execute` is not installed")

ROOT = Path(__file__).parent.parent.parent


def alive(process):
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def gone(processes, seconds=100):
    deadline = time.monotonic() + seconds
    while any(map(alive, processes)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not any(map(alive, processes))


LONG = {"size_bytes": 1 << 22, "repeat": 1000}


@pytest.mark.slow
@pytest.mark.one_in(2)
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


@pytest.mark.slow
def test_a_rank_that_died_between_jobs_is_named_too():
    with Team(3) as team:
        os.kill(team.process_ids[2], signal.SIGKILL)
        assert gone(team.process_ids[2:])
        with pytest.raises(ExecutionFailed, match="rank 2 ended by signal SIGKILL"):
            execute(make(ring(3), "allgather"), team=team)


@pytest.mark.slow
def test_a_rank_that_hangs_is_waited_for_no_longer_than_the_timeout():
    with Team(3, timeout_seconds=1) as team:
        threading.Timer(0.3, os.kill, (team.process_ids[1], signal.SIGSTOP)).start()
        with pytest.raises(ExecutionFailed):
            execute(make(ring(3), "allgather"), **LONG, team=team)
    assert gone(team.process_ids)


@pytest.mark.slow
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
from topoloom.schedules.generate.collectives import make
from topoloom.schedules.execute import Team, execute
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
# Made before: an interrupt while compiled kernels are loaded is lost in a callback of llvmlite.
schedule = make(build(parse("UniRing(3)")), "allgather")
with Team(3) as team:
    print(*team.process_ids, os.getpid(), flush=True)
    execute(schedule, size_bytes=1 << 22, repeat=1000, team=team)
"""


@pytest.mark.slow
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
        asking.communicate(timeout=120)
    assert asking.returncode != 0
    assert gone(ranks)
    deadline = time.monotonic() + 100
    while list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not list(tmp_path.iterdir())
