"""A job is carried out: by whom, in which order, with which end and on which database."""

import pytest
from sqlalchemy import select

from tests.app.jobs.work import task, until
from tests.patience import ended_job
from topoloom.app.jobs.facade import Jobs
from topoloom.app.jobs.model import Failed, State, Task
from topoloom.app.jobs.worker import WorkerLimits
from topoloom.app.store.database import DatabaseNotReady, open_database
from topoloom.app.store.tables import JobRow
from topoloom.schedules.errors import TookTooLong
from topoloom.synth.errors import ImpossibleRequest


def test_a_job_is_carried_out_and_says_where_its_answer_is(jobs, started, work):
    started()
    work.release.set()
    job = jobs.enqueue(task(), owner="ann")
    found = ended_job(jobs, job)
    assert found.state is State.DONE
    assert found.made == task().of_owner("ann").identity
    assert found.progress == 1.0
    assert found.created_at <= found.started_at <= found.ended_at
    assert work.begun == [task().of_owner("ann")]


def test_the_same_task_is_one_job_as_long_as_it_is_unfinished(jobs, started, work):
    first = jobs.enqueue(task())
    assert jobs.enqueue(Task.of("design", {"number": 0})) == first
    assert jobs.enqueue(task(1)) != first
    started()
    work.release.set()
    assert ended_job(jobs, first).state is State.DONE
    again = jobs.enqueue(task())
    assert again != first
    assert ended_job(jobs, again).state is State.DONE


def test_progress_and_the_time_it_will_take_are_told(jobs, started, work):
    started()
    job = jobs.enqueue(task())
    assert jobs.state(job).estimate_seconds is None
    found = until(lambda: (now := jobs.state(job)).phase and now)
    assert (found.state, found.progress, found.phase) == (State.RUNNING, 0.5, "half way")
    work.release.set()
    done = ended_job(jobs, job)
    taken = (done.ended_at - done.started_at).total_seconds()
    next_one = jobs.enqueue(task(1))
    assert jobs.state(next_one).estimate_seconds == pytest.approx(taken, abs=0.001)


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (ImpossibleRequest("/degree", "must be less"), 422, "impossible-request"),
        (TookTooLong("", "must be done within 3 seconds"), 422, "took-too-long"),
        (ZeroDivisionError("secret"), 500, "internal-error"),
        (Failed({"type": "/problems/x", "status": 404, "detail": "no"}), 404, "x"),
    ],
)
def test_a_job_that_fails_keeps_the_problem_that_the_service_would_answer_with(
    jobs, started, work, error, status, kind
):
    started()
    work.error = error
    work.release.set()
    found = ended_job(jobs, jobs.enqueue(task()))
    assert found.state is State.FAILED
    assert (found.problem["status"], found.problem["type"]) == (status, f"/problems/{kind}")
    assert "secret" not in found.problem["detail"]
    assert found.made is None


@pytest.mark.slow
def test_work_that_finds_the_database_down_is_tried_again(jobs, started, work):
    started()
    work.error = DatabaseNotReady("database_url: gone")
    work.release.set()
    job = jobs.enqueue(task())
    until(lambda: len(work.begun) >= 2)
    work.error = None
    assert ended_job(jobs, job).state is State.DONE


def test_of_jobs_that_wait_the_more_urgent_goes_first(jobs, started, work):
    made = [jobs.enqueue(task(number), priority=priority)
            for number, priority in enumerate((500, 100, 1, 1000))]  # fmt: skip
    started(WorkerLimits(concurrency=1, running_of_owner=16, keep_days=30))
    work.release.set()
    for job in made:
        ended_job(jobs, job)
    assert work.begun == [task(2), task(1), task(0), task(3)]


def test_every_row_says_who_has_a_job_in_hand(engine, jobs, started, work):
    worker = started()
    job = jobs.enqueue(task())
    until(lambda: work.begun)
    with engine.connect() as connection:
        row = connection.execute(select(JobRow.worker, JobRow.flight)).one()
    assert row == (worker.id, task().identity)
    work.release.set()
    ended_job(jobs, job)
    with engine.connect() as connection:
        assert connection.execute(select(JobRow.worker, JobRow.flight)).one() == (None, None)


def test_jobs_need_a_database_that_outlives_the_process():
    engine = open_database("sqlite://")
    with pytest.raises(DatabaseNotReady, match="outlives the process"):
        Jobs(engine).enqueue(task())
    engine.dispose()
