"""How many may wait or run, how they are cancelled, listed, deleted and forgotten."""

import time

import pytest

from tests.app.jobs.work import task, until
from tests.patience import ended_job
from topoloom.app.jobs import transitions
from topoloom.app.jobs.enqueue import QueueLimits
from topoloom.app.jobs.errors import JobEnded, NotEnded, QueueFull, TooManyJobs
from topoloom.app.jobs.facade import Jobs
from topoloom.app.jobs.model import State
from topoloom.app.jobs.worker import WorkerLimits
from topoloom.app.store.errors import NotStored
from topoloom.app.store.listing import InvalidCursor


def test_a_job_that_waits_is_cancelled_at_once_and_never_carried_out(jobs, started, work):
    job = jobs.enqueue(task())
    assert jobs.cancel(job).state is State.CANCELLED
    with pytest.raises(JobEnded):
        jobs.cancel(job)
    started()
    work.release.set()
    assert ended_job(jobs, jobs.enqueue(task(1))).state is State.DONE
    assert work.begun == [task(1)]


@pytest.mark.one_in(2)
def test_a_cancel_ends_work_under_way(jobs, started, work):
    started()
    job = jobs.enqueue(task())
    until(lambda: work.begun)
    jobs.cancel(job)
    assert ended_job(jobs, job, 60).state is State.CANCELLED


def test_limits_on_how_many_wait_hold_in_all_and_for_one_owner(engine):
    jobs = Jobs(engine, QueueLimits(queued=4, queued_of_owner=2))
    for number in range(2):
        jobs.enqueue(task(number), owner="ann")
    with pytest.raises(TooManyJobs) as mine:
        jobs.enqueue(task(2), owner="ann")
    jobs.enqueue(task(2), owner="bob")
    with pytest.raises(TooManyJobs):
        jobs.enqueue(task(3), owner="bob", parts=[task(4)])
    jobs.enqueue(task(3), owner="cy")
    with pytest.raises(QueueFull) as all_:
        jobs.enqueue(task(4), owner="di")
    assert mine.value.retry_after > 0 and all_.value.retry_after > 0
    # What is asked for already takes no more room.
    assert jobs.enqueue(task(0), owner="ann")


@pytest.mark.one_in(2)
def test_no_owner_has_more_jobs_in_work_than_allowed(jobs, started, work):
    started(WorkerLimits(concurrency=4, running_of_owner=1, keep_days=30))
    mine = [jobs.enqueue(task(number), owner="ann") for number in range(3)]
    other = jobs.enqueue(task(9), owner="bob")
    until(lambda: jobs.state(other).state is State.RUNNING and len(work.begun) == 2)
    time.sleep(1)
    assert sum(jobs.state(job).state is State.RUNNING for job in mine) == 1
    work.release.set()
    assert all(ended_job(jobs, job).state is State.DONE for job in mine)


def test_long_jobs_of_an_owner_delay_no_job_of_another_owner(jobs, started, work):
    started(WorkerLimits(concurrency=1, running_of_owner=16, keep_days=30))
    made = [jobs.enqueue(task(number), owner="ann") for number in range(2)]
    until(lambda: len(work.begun) == 1)
    made.append(jobs.enqueue(task(2), owner="bob"))
    until(lambda: len(work.begun) == 2)
    # The reserved room is full, too.
    made.append(jobs.enqueue(task(3), owner="cy"))
    work.release.set()
    assert all(ended_job(jobs, job).state is State.DONE for job in made)
    assert [one.body for one in work.begun[:3]] == [task(number).body for number in (0, 2, 3)]


def test_lists_are_paged_newest_first_and_filtered(jobs):
    made = [jobs.enqueue(task(number)) for number in range(5)]
    jobs.cancel(made[1])
    other = jobs.enqueue(task(0, "frontier"))
    first, after = jobs.list(4)
    second, none = jobs.list(4, after)
    assert [job.id for job in first + second] == [other, *reversed(made)]
    assert none is None
    assert [job.id for job in jobs.list(9, state=State.CANCELLED)[0]] == [made[1]]
    assert [job.id for job in jobs.list(9, operation="frontier")[0]] == [other]
    with pytest.raises(InvalidCursor):
        jobs.list(4, "0" * 32)


def test_only_jobs_that_have_ended_are_deleted(engine, jobs):
    job = jobs.enqueue(task(), parts=[task(1)])
    with pytest.raises(NotEnded):
        jobs.forget(job)
    jobs.cancel(job)
    jobs.forget(job)
    for call in (jobs.state, jobs.forget, jobs.cancel):
        with pytest.raises(NotStored):
            call(job)


def test_jobs_are_forgotten_so_many_days_after_their_end(engine, jobs):
    old, new = jobs.enqueue(task()), jobs.enqueue(task(1))
    jobs.cancel(old)
    transitions.forget_old(engine, days=1e-9)
    assert jobs.list(9)[0] == [jobs.state(new)]
