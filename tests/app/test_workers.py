"""Workers as processes: killed at any moment, stopped, several on one database."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.patience import ended_job
from topoloom.app.config import Settings
from topoloom.app.jobs.facade import Jobs
from topoloom.app.jobs.model import State, Task
from topoloom.app.jobs.sweep_jobs import task_and_parts
from topoloom.app.jobs.worker_pool.task import parse_request
from topoloom.app.requests.sweeps import SweepRequest
from topoloom.app.services.context import Context
from topoloom.app.services.operations import OPERATIONS
from topoloom.app.store.database import migrate, open_engine
from topoloom.app.store.document_store import Store

ROOT = Path(__file__).parent.parent.parent
KILLS = 10
LONG = Task.of("schedule", {"topology": {"recipe": "GeneralizedKautz(4, 2000)"},
                            "collective": "allgather", "algorithm": "forestcoll"})  # fmt: skip


@pytest.fixture
def jobs(engine):
    return Jobs(engine)


@contextmanager
def worker(url, *options, **how):
    """Run a worker process with options of its command and arguments of Popen."""
    process = subprocess.Popen(
        [sys.executable, "-m", "topoloom", "jobs", "worker", *options],
        **how,
        env=os.environ | {"TOPOLOOM_DATABASE_URL": url, "TOPOLOOM_LOG_FORMAT": "json"},
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def until(condition, seconds=200):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


def running(jobs, job):
    return lambda: jobs.state(job).state is State.RUNNING


@pytest.mark.slow
def test_a_worker_ends_on_sigterm_and_another_continues(ready_url, engine, jobs):
    job = jobs.enqueue(LONG)
    with worker(ready_url) as process:
        until(running(jobs, job))
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert jobs.state(job).state is State.QUEUED
    with worker(ready_url):
        until(running(jobs, job))
        jobs.cancel(job)
        assert ended_job(jobs, job).state is State.CANCELLED


@pytest.mark.slow
def test_a_process_that_shuts_down_ends_whatever_still_runs():
    runs = "from topoloom.app.api.server import end_within; end_within(0.1); input()"
    process = subprocess.Popen([sys.executable, "-c", runs], stdin=subprocess.PIPE, cwd=ROOT)
    try:
        assert process.wait(200) == 0
    finally:
        process.kill()
        process.stdin.close()


@pytest.mark.slow
def test_a_signal_to_the_whole_group_ends_no_job(settings):
    engine = open_engine(settings.database_url)
    migrate(engine)
    jobs = Jobs(engine)
    job = jobs.enqueue(LONG)
    with worker(settings.database_url, start_new_session=True) as process:
        until(lambda: jobs.state(job).progress)
        os.killpg(process.pid, signal.SIGTERM)
        assert process.wait(60) == 0
    assert jobs.state(job).state is State.QUEUED
    engine.dispose()


@pytest.mark.slow
def test_the_jobs_of_a_killed_worker_are_taken_over(ready_url, engine, jobs):
    job = jobs.enqueue(LONG)
    with worker(ready_url) as one:
        until(running(jobs, job))
        with worker(ready_url) as other:
            assert "running up to" in other.stderr.readline()
            one.kill()
            one.wait()
            before = jobs.state(job).revision
            until(lambda: jobs.state(job).revision >= before + 2 and running(jobs, job)())
            jobs.cancel(job)
            assert ended_job(jobs, job).state is State.CANCELLED


@pytest.mark.slow
def test_every_job_ends_exactly_once_whenever_its_workers_are_killed(ready_url, engine, jobs):
    context = Context(Store(engine), Settings(database_url=ready_url))
    request = SweepRequest(over="sizes", nodes=["6:12"], degrees=[2])
    task, parts = task_and_parts(context, request)
    job = jobs.enqueue(task, parts=parts)
    endings = {}
    random_ = random.Random(7)

    def look():
        """Note every end that is seen: it must stay what it is."""
        for one in [jobs.state(job), *jobs.list(100, parent=job)[0]]:
            if one.state.ended:
                assert endings.setdefault(one.id, one) == one

    for _ in range(KILLS):
        with worker(ready_url) as process:
            time.sleep(random_.uniform(0.5, 8.0))
            process.kill()
        look()
    with worker(ready_url):
        end = time.monotonic() + 240
        while not jobs.state(job).state.ended:
            assert time.monotonic() < end
            look()
            time.sleep(0.1)
    look()
    assert len(endings) == 1 + len(parts)
    assert {one.state for one in endings.values()} == {State.DONE}
    # Nothing was half written: what is stored is what is computed without a queue.
    operation = OPERATIONS[task.operation]
    stored = operation.answer(context, parse_request(operation.body, task.body.encode()))
    assert not stored.fresh and stored.id == endings[job].made
    rows = json.loads(stored.text())["rows"]
    assert len(rows) == len(parts)
    for row in rows:
        assert not context.read("frontier", row["answer_id"]).fresh
