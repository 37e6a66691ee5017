"""The history of a job: its states with their times, and its attempts with their workers."""

from tests.app.jobs.work import task
from topoloom.app.jobs import document, transitions
from topoloom.app.jobs.model import State
from topoloom.app.store.database import migrate


def shown(jobs, job):
    return document.of(jobs.state(job))


def test_a_job_says_what_was_asked_and_by_whom(jobs):
    job = shown(jobs, jobs.enqueue(task(7), owner="key 1"))
    assert (job["operation"], job["request"], job["owner"]) == ("design", {"number": 7}, "key 1")
    assert job["attempts"] == []
    assert [one["state"] for one in job["history"]] == ["queued"]


def test_every_attempt_is_kept_with_its_worker_and_its_outcome(engine, jobs):
    job = jobs.enqueue(task())
    for worker, lost in (("one", True), ("two", False)):
        held, _ = transitions.take(engine, worker, 16)
        assert transitions.hand_back(engine, held, lost=lost)
    held, _ = transitions.take(engine, "three", 16)
    assert [one["outcome"] for one in shown(jobs, job)["attempts"]] == ["lost", "handed-back", None]
    assert transitions.finish(engine, held, State.DONE, made="a" * 64)
    # A late report of a lost worker adds nothing.
    assert not transitions.finish(engine, held, State.FAILED, problem={})
    found = shown(jobs, job)
    attempts = [(one["worker"], one["outcome"]) for one in found["attempts"]]
    assert attempts == [("one", "lost"), ("two", "handed-back"), ("three", "done")]
    states = [one["state"] for one in found["history"]]
    assert states == ["queued", "running", "queued", "running", "queued", "running", "done"]
    moments = [one["at"] for one in found["history"]]
    assert moments == sorted(moments)
    assert document.JobDocument.model_validate(found).attempts[2].ended_at is not None


def test_a_sweep_has_states_and_no_worker_of_its_own_before_its_parts_end(engine, jobs):
    whole = jobs.enqueue(task(0, "sweep"), parts=[task(1)])
    transitions.take(engine, "one", 16)
    found = shown(jobs, whole)
    assert [one["state"] for one in found["history"]] == ["queued", "running"]
    assert found["attempts"] == []
    jobs.cancel(whole)
    assert [one["state"] for one in shown(jobs, whole)["history"]][-1] == "cancelled"


def test_a_long_request_is_left_out_of_the_document(jobs):
    long = task("x" * document.SHOWN_REQUEST)
    assert shown(jobs, jobs.enqueue(long))["request"] is None


def test_jobs_of_earlier_versions_keep_the_times_that_they_had(engine, jobs):
    job = jobs.enqueue(task())
    held, _ = transitions.take(engine, "one", 16)
    transitions.finish(engine, held, State.DONE, made="a" * 64)
    migrate(engine, "0012")
    migrate(engine)
    found = shown(jobs, job)
    assert [(one["state"], one["at"]) for one in found["history"]] == [
        ("queued", found["created_at"]),
        ("running", found["started_at"]),
        ("done", found["ended_at"]),
    ]
