"""Who may report to a session of tuned learning rates, and going back in it."""

from datetime import datetime, timedelta

import pytest

from tests.app.lr_jobs import ASKED, STEPS, Job, action_of, unharmed
from tests.learning_rate.trainers import Toy
from topoloom.app.config import Settings
from topoloom.app.services import lr_sessions
from topoloom.app.services.lr_sessions import Tuning
from topoloom.app.store.database import open_database
from topoloom.app.store.errors import Leased
from topoloom.app.store.lr_records import Observation
from topoloom.app.store.lr_sessions import LrStore
from topoloom.learning_rate import Options

pytest.importorskip("sklearn", reason="the extra `tune` is not installed")


@pytest.fixture
def job(client):
    return Job(client)


@pytest.mark.slow
def test_two_trainers_on_one_session_are_refused(job):
    job.train(5)

    def attach(**body):
        return job.client.post(f"{job.place}/lease", json=body)

    assert "wait" in unharmed(job, attach, 409, "leased", "/lease")
    unharmed(job, lambda: attach(lease="another"), 409, "leased", "/lease")
    first, second = attach(lease=job.lease), attach(lease=job.lease)
    assert first.status_code == second.status_code == 200  # the first answer may have been lost
    for lease in (job.lease, first.json()["lease"]):
        job.lease = lease
        unharmed(job, lambda: job.post([1.0]), 409, "leased", "/lease")
    job.lease = second.json()["lease"]
    job.train(2)
    unharmed(job, lambda: attach(lease=first.json()["lease"]), 409, "leased", "/lease")
    job.train()


def test_a_silent_trainer_may_be_replaced():
    engine = open_database("sqlite://")
    now = datetime(2026, 1, 1)
    settings = Settings(database_url="sqlite://", lr_lease_seconds=60)
    tuning = Tuning(LrStore(engine), settings, lambda: now)
    session, _ = lr_sessions.create(tuning, "", Options(**ASKED))
    now += timedelta(seconds=59)
    with pytest.raises(Leased, match="wait 1 s"):
        lr_sessions.attach(tuning, session.id)
    now += timedelta(seconds=1)
    _, lease = lr_sessions.attach(tuning, session.id)
    state = session.state
    seen = Observation(lease, 1, (2.0,) * state.action.steps)
    assert lr_sessions.observe(tuning, session.id, seen).sequence == 1
    engine.dispose()


@pytest.mark.slow
def test_a_trainer_that_goes_back_gets_the_schedule_it_would_have_got(job):
    job.train()
    told = list(job.actions)
    for number in (0, 27, len(told) - 2):
        asked = {"lease": job.lease, "sequence": number}
        document = job.client.post(f"{job.place}/lease", json=asked).json()
        assert (document["state"], document["sequence"]) == ("running", number)
        assert document["action"] == told[number]
        job.lease, job.sequence, job.action = document["lease"], number, document["action"]
        job.actions = told[: number + 1]
        job.toy = Toy()
        for one in told[:number]:
            job.toy.carry_out(action_of(one))
        assert job.train().actions == told
    history = job.client.get(f"{job.place}/history").json()["entries"]
    assert [entry["sequence"] for entry in history] == list(range(1, len(told)))
    unharmed(
        job,
        lambda: job.client.post(
            f"{job.place}/lease", json={"lease": job.lease, "sequence": len(told)}
        ),
        409,
        "out-of-sequence",
        "/sequence",
    )


@pytest.mark.slow
def test_other_losses_after_going_back_are_another_course(job):
    job.train(30)
    document = job.client.post(
        f"{job.place}/lease", json={"lease": job.lease, "sequence": 3}
    ).json()
    job.lease, job.sequence, job.action = document["lease"], 3, document["action"]
    job.toy = Toy(limit=0.01)
    job.train()
    entries = job.client.get(f"{job.place}/history").json()["entries"]
    assert [entry["sequence"] for entry in entries] == list(range(1, len(entries) + 1))
    assert sum(len(entry["losses"]) for entry in entries if entry["kept"]) == STEPS
