"""Workers that stop, fall silent or die: their jobs end all the same, once."""

import time

import pytest
from sqlalchemy import update

from tests.app.jobs.work import task, until
from tests.patience import ended_job
from topoloom.app.jobs import heartbeats, transitions, worker
from topoloom.app.jobs.model import State
from topoloom.app.jobs.transitions import MAX_LOSSES, Held
from topoloom.app.store.tables import WorkerRow


@pytest.mark.one_in(2)
def test_a_worker_that_stops_hands_its_jobs_back_and_another_ends_them(
    jobs, started, work, monkeypatch
):
    # However slow the machine is, the work ends before the worker gives up.
    monkeypatch.setattr(worker, "STOP_SECONDS", 100)
    first = started()
    job = jobs.enqueue(task())
    until(lambda: work.begun)
    assert first.stop()
    assert jobs.state(job).state is State.QUEUED
    work.release.set()
    started()
    assert ended_job(jobs, job).state is State.DONE
    assert len(work.begun) == 2
    # The second run has the priority of a job that was interrupted.
    assert work.resumed == [False, True]


def test_a_job_that_is_taken_while_the_worker_stops_does_not_begin(
    jobs, started, work, monkeypatch
):
    take, workers = transitions.take, []

    def late(*given):
        taken = take(*given)
        if taken is not None:
            until(lambda: workers)[0]._stopping.set()
        return taken

    monkeypatch.setattr(transitions, "take", late)
    job = jobs.enqueue(task())
    workers.append(started())
    workers[0]._loop.join(100)
    until(lambda: not workers[0]._running())
    assert jobs.state(job).state is State.QUEUED
    assert work.begun == []


def test_a_worker_that_was_given_up_changes_nothing_any_more(engine, jobs):
    job = jobs.enqueue(task())
    late, late_task = transitions.take(engine, "one", 16)
    assert (late, late_task) == (Held(job, 0, "one"), task())
    assert transitions.hand_back(engine, late)
    # The first worker was only slow: nothing that it does counts.
    transitions.report(engine, [(late, 0.9, "late")])
    assert not transitions.finish(engine, late, State.DONE, made="f" * 64)
    assert not transitions.hand_back(engine, late)
    found = jobs.state(job)
    assert (found.state, found.progress) == (State.QUEUED, None)
    held, _ = transitions.take(engine, "other", 16)
    assert held == Held(job, 1, "other")
    assert transitions.finish(engine, held, State.DONE, made="a" * 64)
    assert not transitions.finish(engine, held, State.FAILED, problem={})
    assert jobs.state(job).made == "a" * 64


def test_a_silent_worker_is_gone_and_one_that_beats_is_not(engine):
    watch, now = heartbeats.Watch(), time.monotonic()
    heartbeats.beat(engine, "here")
    heartbeats.beat(engine, "elsewhere")
    with engine.begin() as connection:
        far = {"place": "another kernel", "process": "1 1"}
        connection.execute(update(WorkerRow).where(WorkerRow.id == "elsewhere").values(**far))
    assert watch.gone(engine, now) == []
    assert watch.gone(engine, now + heartbeats.SILENT_SECONDS - 1) == []
    heartbeats.beat(engine, "here")
    assert watch.gone(engine, now + heartbeats.SILENT_SECONDS) == ["elsewhere"]
    heartbeats.leave(engine, "elsewhere")
    assert watch.gone(engine, now + heartbeats.SILENT_SECONDS + 1) == []


def test_a_worker_whose_process_has_ended_on_this_machine_is_gone_at_once(engine):
    heartbeats.beat(engine, "ended")
    number = heartbeats.seat().process.split()[0]
    with engine.begin() as connection:
        connection.execute(update(WorkerRow).values(process=f"{number} 1"))
    assert heartbeats.Watch().gone(engine) == ["ended"]


def test_a_job_whose_workers_always_die_fails_in_the_end(engine, jobs):
    job = jobs.enqueue(task())
    for _ in range(MAX_LOSSES):
        # The worker is not listed, so it counts as dead.
        assert transitions.take(engine, "dead", 16)
        heartbeats.Watch().take_over(engine)
    found = jobs.state(job)
    assert (found.state, found.problem["type"]) == (State.FAILED, "/problems/work-failed")


def test_a_job_outlives_any_number_of_workers_that_stop_in_order(engine, jobs):
    job = jobs.enqueue(task())
    for _ in range(2 * MAX_LOSSES):
        held, _ = transitions.take(engine, "stopping", 16)
        assert transitions.hand_back(engine, held)
    assert jobs.state(job).state is State.QUEUED


def test_a_job_to_be_cancelled_ends_with_its_worker(engine, jobs):
    job = jobs.enqueue(task())
    assert transitions.take(engine, "dead", 16)
    assert jobs.cancel(job).state is State.RUNNING
    heartbeats.Watch().take_over(engine)
    assert jobs.state(job).state is State.CANCELLED
