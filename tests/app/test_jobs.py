"""Jobs: asked for once, carried out by whoever is there, ended exactly once."""

import time
from threading import Event, Lock

import pytest
from sqlalchemy import select, text, update

from app.db import DatabaseNotReady, migrate, open_database, open_engine
from app.jobs import carrier, changes, roster
from app.jobs.adding import QueueLimits
from app.jobs.changes import Due
from app.jobs.errors import JobEnded, NotEnded, QueueFull, TooManyJobs, WorkersExist
from app.jobs.model import Cancelled, Failed, State, Task
from app.jobs.port import Jobs
from app.jobs.reconciler import Reconciler
from app.jobs.tables import JobRow, WorkerRow
from app.jobs.webhooks import Messenger, WebhookRules
from app.jobs.worker import Worker, WorkerLimits
from app.problems import described
from app.services.errors import NotStored
from app.store import InvalidCursor
from schedules.errors import TookTooLong
from synth.errors import ImpossibleRequest

LIMITS = WorkerLimits(concurrency=2, running_of_owner=16, keep_days=30)


@pytest.fixture
def engine(database_url):
    opened = open_engine(database_url)
    migrate(opened)
    carrier.migrate(opened.url)
    yield opened
    opened.dispose()


@pytest.fixture
def jobs(engine):
    opened = Jobs(engine)
    yield opened
    opened.close()


class Work:
    """Carries tasks out as the test says: what it was given, and when it may go on."""

    def __init__(self):
        self.begun, self.lock, self.release = [], Lock(), Event()
        self.error = None

    def __call__(self, task, reporting):
        with self.lock:
            self.begun.append(task)
        reporting.progress(0.5, "half way")
        while not self.release.wait(0.02):
            if reporting.cancelled():
                raise Cancelled
        if self.error is not None:
            raise self.error


@pytest.fixture
def work():
    return Work()


@pytest.fixture
def started(engine, work):
    """Start workers in this process, one after the other, and stop what still runs."""
    running = []

    def start(limits=LIMITS):
        rules = WebhookRules()
        worker = Worker(
            engine,
            work,
            lambda error, path: described(error, path).model_dump(),
            limits,
            Messenger(rules, lambda job: b"{}"),
        )
        worker.start()
        running.append(worker)
        return worker

    yield start
    for worker in running:
        worker.stop()


def task(number=0, operation="design"):
    return Task.of(operation, {"number": number})


def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


def test_a_job_is_carried_out_and_says_where_its_answer_is(jobs, started, work):
    started()
    work.release.set()
    job = jobs.enqueue(task(), owner="ann")
    found = jobs.wait(job, 20)
    assert found.state is State.DONE
    assert found.made == task().identity
    assert found.progress == 1.0
    assert found.created_at <= found.started_at <= found.ended_at
    assert work.begun == [task()]


def test_the_same_task_is_one_job_as_long_as_it_is_unfinished(jobs, started, work):
    first = jobs.enqueue(task())
    assert jobs.enqueue(Task.of("design", {"number": 0})) == first
    assert jobs.enqueue(task(1)) != first
    started()
    work.release.set()
    assert jobs.wait(first, 20).state is State.DONE
    again = jobs.enqueue(task())
    assert again != first
    assert jobs.wait(again, 20).state is State.DONE


def test_progress_and_the_time_it_will_take_are_told(jobs, started, work):
    started()
    job = jobs.enqueue(task())
    assert jobs.state(job).estimate_seconds is None
    found = until(lambda: (now := jobs.state(job)).phase and now)
    assert (found.state, found.progress, found.phase) == (State.RUNNING, 0.5, "half way")
    work.release.set()
    done = jobs.wait(job, 20)
    taken = (done.ended_at - done.started_at).total_seconds()
    next_one = jobs.enqueue(task(1))
    assert jobs.state(next_one).estimate_seconds == pytest.approx(taken, abs=0.001)


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
    found = jobs.wait(jobs.enqueue(task()), 20)
    assert found.state is State.FAILED
    assert (found.problem["status"], found.problem["type"]) == (status, f"/problems/{kind}")
    assert "secret" not in found.problem["detail"]
    assert found.made is None


def test_work_that_finds_the_database_down_is_tried_again(jobs, started, work):
    started()
    work.error = DatabaseNotReady("database_url: gone")
    work.release.set()
    job = jobs.enqueue(task())
    until(lambda: len(work.begun) >= 2)
    work.error = None
    assert jobs.wait(job, 20).state is State.DONE


def test_a_job_that_waits_is_cancelled_at_once_and_never_carried_out(jobs, started, work):
    job = jobs.enqueue(task())
    assert jobs.cancel(job).state is State.CANCELLED
    with pytest.raises(JobEnded):
        jobs.cancel(job)
    started()
    work.release.set()
    assert jobs.wait(jobs.enqueue(task(1)), 20).state is State.DONE
    assert work.begun == [task(1)]


def test_work_under_way_ends_within_two_seconds_of_a_cancel(jobs, started, work):
    started()
    job = jobs.enqueue(task())
    until(lambda: work.begun)
    start = time.monotonic()
    jobs.cancel(job)
    assert jobs.wait(job, 10).state is State.CANCELLED
    assert time.monotonic() - start < 2


def test_a_worker_that_stops_hands_its_jobs_back_and_another_ends_them(jobs, started, work):
    first = started()
    job = jobs.enqueue(task())
    until(lambda: work.begun)
    start = time.monotonic()
    assert first.stop()
    assert time.monotonic() - start < 5
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
    one, other = roster.join(engine), roster.join(engine)
    assert changes.begin(engine, job, 0, one) == task()
    (held,) = changes.held(engine, one)
    given = changes.hand_back(engine, held, one, {})
    assert given == Due(job, 1, "", 100)
    # The first worker was only slow: nothing that it does counts.
    changes.report(engine, one, [(job, 0, 0.9, "late")])
    assert not changes.finish(engine, job, 0, one, State.DONE, made="f" * 64).won
    assert not changes.hand_back(engine, held, one, {}).won
    assert jobs.state(job).state is State.QUEUED
    assert changes.begin(engine, job, 0, other) is None
    assert changes.begin(engine, job, 1, other) == task()
    assert changes.finish(engine, job, 1, other, State.DONE, made="a" * 64).won
    assert not changes.finish(engine, job, 1, other, State.FAILED, problem={}).won
    assert jobs.state(job).made == "a" * 64


def test_a_turn_is_taken_once(engine, jobs):
    job = jobs.enqueue(task())
    taken = [changes.begin(engine, job, 0, worker) for worker in ("a", "b", "c")]
    assert taken == [task(), None, None]


def test_a_silent_worker_is_gone_and_one_that_beats_is_not(engine):
    watch, now = roster.Watch(), time.monotonic()
    here, elsewhere = roster.join(engine), roster.join(engine)
    with engine.begin() as connection:
        far = {"place": "another kernel", "process": "1 1"}
        connection.execute(update(WorkerRow).where(WorkerRow.id == elsewhere).values(**far))
    assert watch.gone(engine, now) == []
    assert watch.gone(engine, now + roster.SILENT_SECONDS - 1) == []
    roster.beat(engine, here)
    assert watch.gone(engine, now + roster.SILENT_SECONDS) == [elsewhere]
    roster.leave(engine, elsewhere)
    assert watch.gone(engine, now + roster.SILENT_SECONDS + 1) == []


def test_a_worker_whose_process_has_ended_on_this_machine_is_gone_at_once(engine):
    worker = roster.join(engine)
    number = roster.seat().process.split()[0]
    with engine.begin() as connection:
        connection.execute(
            update(WorkerRow).where(WorkerRow.id == worker).values(process=f"{number} 1")
        )
    assert roster.Watch().gone(engine) == [worker]


def test_a_job_whose_workers_always_die_fails_in_the_end(engine, jobs):
    job = jobs.enqueue(task())
    for turn in range(changes.MAX_TURNS):
        worker = roster.join(engine)
        assert changes.begin(engine, job, turn, worker) == task()
        roster.leave(engine, worker)
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
    schema = "" if queue.dialect.name == "sqlite" else f"{carrier.SCHEMA}."
    with queue.begin() as connection:
        taken = f"UPDATE {schema}workflow_status SET status = 'PENDING', executor_id = 'gone'"
        connection.execute(text(taken))
    worker = roster.join(engine)
    for job in ended:
        changes.begin(engine, job, 0, worker)
        changes.finish(engine, job, 0, worker, State.DONE, made="a" * 64)
    roster.leave(engine, worker)
    started(WorkerLimits(concurrency=2, running_of_owner=2, keep_days=30))
    work.release.set()
    assert jobs.wait(jobs.enqueue(task(9), owner="ann"), 20).state is State.DONE


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
    assert jobs.enqueue(task(0), owner="di")
    jobs.close()


def test_no_owner_has_more_jobs_in_work_than_allowed(jobs, started, work):
    started(WorkerLimits(concurrency=4, running_of_owner=1, keep_days=30))
    mine = [jobs.enqueue(task(number), owner="ann") for number in range(3)]
    other = jobs.enqueue(task(9), owner="bob")
    until(lambda: jobs.state(other).state is State.RUNNING)
    time.sleep(1)
    assert sum(jobs.state(job).state is State.RUNNING for job in mine) == 1
    work.release.set()
    assert all(jobs.wait(job, 20).state is State.DONE for job in mine)


def test_a_job_with_parts_is_carried_out_after_all_of_them(jobs, started, work):
    parts = [task(number, "frontier") for number in range(1, 4)]
    job = jobs.enqueue(task(), parts=parts)
    assert jobs.list(10)[0][0].id == job
    assert len(jobs.list(10, parent=job)[0]) == 3
    started()
    until(lambda: jobs.state(job).state is State.RUNNING)
    assert jobs.state(job).progress == 0
    work.release.set()
    found = jobs.wait(job, 20)
    assert (found.state, found.parts, found.parts_ended) == (State.DONE, 3, 3)
    assert work.begun[-1] == task()
    assert sorted(work.begun[:3], key=lambda one: one.body) == parts


def test_a_part_that_is_no_answer_fails_the_whole_and_the_rest_is_not_carried_out(
    jobs, started, work
):
    started(WorkerLimits(concurrency=1, running_of_owner=1, keep_days=30))
    work.error = TookTooLong("", "must be done within 3 seconds")
    work.release.set()
    job = jobs.enqueue(task(), parts=[task(number, "frontier") for number in range(1, 10)])
    found = jobs.wait(job, 20)
    assert found.state is State.FAILED
    assert found.problem["type"] == "/problems/took-too-long"

    def parts():
        return [one.state for one in jobs.list(20, parent=job)[0]]

    until(lambda: all(state.ended for state in parts()))
    states = parts()
    assert State.CANCELLED in states and State.DONE not in states


def test_a_part_without_answer_is_an_answer_to_the_whole(jobs, started, work):
    started()
    work.error = ImpossibleRequest("/degree", "must be less")
    work.release.set()
    job = jobs.enqueue(task(), parts=[task(1, "frontier")])
    jobs.wait(job, 20)
    assert work.begun == [task(1, "frontier"), task()]


def test_cancelling_the_whole_cancels_its_parts_but_not_what_others_want(jobs, started, work):
    job = jobs.enqueue(task(), parts=[task(1, "frontier"), task(2, "frontier")])
    wanted = jobs.enqueue(task(2, "frontier"))
    (part,) = jobs.list(10, parent=job)[0]
    assert jobs.cancel(job).state is State.CANCELLED
    assert jobs.state(part.id).state is State.CANCELLED
    assert jobs.state(wanted).state is State.QUEUED
    started()
    work.release.set()
    assert jobs.wait(wanted, 20).state is State.DONE


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
    Reconciler(engine, jobs.carrier(), keep_days=1e-9).tidy()
    assert jobs.list(9)[0] == [jobs.state(new)]


def test_of_jobs_that_wait_the_more_urgent_goes_first(jobs, started, work):
    made = [jobs.enqueue(task(number), priority=priority)
            for number, priority in enumerate((500, 100, 1, 1000))]  # fmt: skip
    started(WorkerLimits(concurrency=1, running_of_owner=16, keep_days=30))
    work.release.set()
    for job in made:
        jobs.wait(job, 20)
    assert work.begun == [task(2), task(1), task(0), task(3)]


def test_every_row_says_who_has_a_job_in_hand(engine, jobs, started, work):
    worker = started()
    job = jobs.enqueue(task())
    until(lambda: work.begun)
    with engine.connect() as connection:
        row = connection.execute(select(JobRow.worker, JobRow.flight)).one()
    assert row == (worker.id, task().identity)
    work.release.set()
    jobs.wait(job, 20)
    with engine.connect() as connection:
        assert connection.execute(select(JobRow.worker, JobRow.flight)).one() == (None, None)


def test_jobs_need_a_database_that_outlives_the_process():
    engine = open_database("sqlite://")
    with pytest.raises(DatabaseNotReady, match="outlives the process"):
        Jobs(engine).enqueue(task())
    engine.dispose()


def test_a_postgresql_without_the_queues_tables_is_one_clear_error(postgres_url):
    engine = open_engine(postgres_url)
    migrate(engine)
    with pytest.raises(DatabaseNotReady, match="run `topoloom migrate`"):
        Jobs(engine).enqueue(task())
    engine.dispose()
