"""Jobs that consist of others: all parts first, and what becomes of the whole."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.app.jobs.work import task, until
from tests.patience import ended_job
from topoloom.app.jobs import transitions
from topoloom.app.jobs.model import State
from topoloom.app.jobs.worker import WorkerLimits
from topoloom.schedules.errors import TookTooLong
from topoloom.synth.errors import ImpossibleRequest


@pytest.mark.one_in(2)
def test_a_job_with_parts_is_carried_out_after_all_of_them(jobs, started, work):
    parts = [task(number, "frontier") for number in range(1, 4)]
    job = jobs.enqueue(task(), parts=parts)
    assert jobs.list(10)[0][0].id == job
    assert len(jobs.list(10, parent=job)[0]) == 3
    started()
    until(lambda: jobs.state(job).state is State.RUNNING)
    assert jobs.state(job).progress == 0
    work.release.set()
    found = ended_job(jobs, job)
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
    found = ended_job(jobs, job)
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
    ended_job(jobs, job)
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
    assert ended_job(jobs, wanted).state is State.DONE


def test_a_part_that_ends_while_another_whole_joins_it_is_not_missed(engine, jobs):
    with ThreadPoolExecutor(2) as pool:
        for number in range(1, 11):
            part = task(number, "frontier")
            jobs.enqueue(part)
            held, _ = transitions.take(engine, "worker", 16)
            ends = pool.submit(transitions.finish, engine, held, State.DONE, made=part.identity)
            whole = pool.submit(jobs.enqueue, task(number), parts=[part]).result()
            assert ends.result()
            taken = [held for held, _ in iter(lambda: transitions.take(engine, "worker", 16), None)
                     if transitions.finish(engine, held, State.DONE)]  # fmt: skip
            assert taken[-1].id == whole
