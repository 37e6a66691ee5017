"""Workers that stop, fall silent, die or are one too many: their jobs end all the same, once."""

import time

import pytest
from sqlalchemy import text, update

from tests.app.jobs.work import task, until
from topoloom.app.jobs import dbos_queue, heartbeats, transitions
from topoloom.app.jobs.errors import WorkersExist
from topoloom.app.jobs.model import State
from topoloom.app.jobs.reconciler import Reconciler
from topoloom.app.jobs.transitions import Due
from topoloom.app.jobs.worker import WorkerLimits
from topoloom.app.store.tables import WorkerRow


@pytest.mark.one_in(2)
def test_a_worker_that_stops_hands_its_jobs_back_and_another_ends_them(jobs, started, work):
    first = started()
    job = jobs.enqueue(task())
    until(lambda: work.begun)
    assert first.stop()
    assert jobs.state(job).state is State.QUEUED
    work.release.set()
    started()
    assert jobs.wait(job, 20).state is State.DONE
    assert len(work.begun) == 2


def test_there_is_one_worker_to_a_process(jobs, started):
    started()
    with pytest.raises(WorkersExist):
        started()


def test_a_worker_that_was_given_up_changes_nothing_any_more(engine, jobs):
    job = jobs.enqueue(task())
    one, other = heartbeats.join(engine), heartbeats.join(engine)
    assert transitions.begin(engine, job, 0, one) == task()
    (held,) = transitions.held(engine, one)
    given = transitions.hand_back(engine, held, one, {})
    assert given == Due(job, 1, "", 100)
    # The first worker was only slow: nothing that it does counts.
    transitions.report(engine, one, [(job, 0, 0.9, "late")])
    assert not transitions.finish(engine, job, 0, one, State.DONE, made="f" * 64).won
    assert not transitions.hand_back(engine, held, one, {}).won
    assert jobs.state(job).state is State.QUEUED
    assert transitions.begin(engine, job, 0, other) is None
    assert transitions.begin(engine, job, 1, other) == task()
    assert transitions.finish(engine, job, 1, other, State.DONE, made="a" * 64).won
    assert not transitions.finish(engine, job, 1, other, State.FAILED, problem={}).won
    assert jobs.state(job).made == "a" * 64


def test_a_turn_is_taken_once(engine, jobs):
    job = jobs.enqueue(task())
    taken = [transitions.begin(engine, job, 0, worker) for worker in ("a", "b", "c")]
    assert taken == [task(), None, None]


def test_a_silent_worker_is_gone_and_one_that_beats_is_not(engine):
    watch, now = heartbeats.Watch(), time.monotonic()
    here, elsewhere = heartbeats.join(engine), heartbeats.join(engine)
    with engine.begin() as connection:
        far = {"place": "another kernel", "process": "1 1"}
        connection.execute(update(WorkerRow).where(WorkerRow.id == elsewhere).values(**far))
    assert watch.gone(engine, now) == []
    assert watch.gone(engine, now + heartbeats.SILENT_SECONDS - 1) == []
    heartbeats.beat(engine, here)
    assert watch.gone(engine, now + heartbeats.SILENT_SECONDS) == [elsewhere]
    heartbeats.leave(engine, elsewhere)
    assert watch.gone(engine, now + heartbeats.SILENT_SECONDS + 1) == []


def test_a_worker_whose_process_has_ended_on_this_machine_is_gone_at_once(engine):
    worker = heartbeats.join(engine)
    number = heartbeats.seat().process.split()[0]
    with engine.begin() as connection:
        connection.execute(
            update(WorkerRow).where(WorkerRow.id == worker).values(process=f"{number} 1")
        )
    assert heartbeats.Watch().gone(engine) == [worker]


def test_a_job_whose_workers_always_die_fails_in_the_end(engine, jobs):
    job = jobs.enqueue(task())
    for turn in range(transitions.MAX_TURNS):
        worker = heartbeats.join(engine)
        assert transitions.begin(engine, job, turn, worker) == task()
        heartbeats.leave(engine, worker)
        Reconciler(engine, jobs.carrier(), 30).take_over()
    found = jobs.state(job)
    assert (found.state, found.problem["type"]) == (State.FAILED, "/problems/work-failed")


def test_what_the_queue_lost_is_put_in_it_again(engine, jobs, started, work):
    job = jobs.enqueue(task())
    jobs.carrier().take_out([(job, 0)])
    jobs.carrier().sweep()
    reconciler = Reconciler(engine, jobs.carrier(), 30)
    assert [reconciler.refill(), reconciler.refill(), reconciler.refill()] == [0, 1, 0]
    started()
    work.release.set()
    assert jobs.wait(job, 20).state is State.DONE


def test_what_a_killed_worker_had_ended_counts_as_running_no_more(engine, jobs, started, work):
    """It is killed between the end of a job and the queue's hearing of it."""
    ended = [jobs.enqueue(task(number), owner="ann") for number in range(2)]
    queue = jobs.carrier()._engine
    schema = "" if queue.dialect.name == "sqlite" else f"{dbos_queue.SCHEMA}."
    with queue.begin() as connection:
        taken = f"UPDATE {schema}workflow_status SET status = 'PENDING', executor_id = 'gone'"
        connection.execute(text(taken))
    worker = heartbeats.join(engine)
    for job in ended:
        transitions.begin(engine, job, 0, worker)
        transitions.finish(engine, job, 0, worker, State.DONE, made="a" * 64)
    heartbeats.leave(engine, worker)
    started(WorkerLimits(concurrency=2, running_of_owner=2, keep_days=30))
    work.release.set()
    assert jobs.wait(jobs.enqueue(task(9), owner="ann"), 20).state is State.DONE
