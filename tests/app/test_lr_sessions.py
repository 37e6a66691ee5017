"""Sessions of tuned learning rates: order, ownership, restarts, history, errors."""

import csv
import io
import math
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta

import pytest
from fastapi.testclient import TestClient

from app.config import Settings
from app.db import migrate, open_database, open_engine
from app.lr_store import LrStore, Observation
from app.main import create_app
from app.services import lr_sessions
from app.services.errors import Leased
from app.services.lr_sessions import Tuning
from schedules.learning_rate import Options, observe, overrun, start
from schedules.learning_rate.state import Action
from tests.learning_rate.trainers import Toy

pytest.importorskip("sklearn", reason="the extra `tune` is not installed")

STEPS = 520
ASKED = {"min_lr": 1e-4, "max_lr": 1.0, "total_steps": STEPS, "warmup_steps": 8, "anchor": "none",
         "candidates": 3, "max_overhead": 0.3}  # fmt: skip
PLACE = "/v1/lr-sessions"


@contextmanager
def running(url, **settings):
    chosen = Settings(database_url=url, **settings)
    if chosen.database_url.startswith("postgresql"):
        engine = open_engine(url)
        migrate(engine)
        engine.dispose()
    with TestClient(create_app(chosen), base_url="http://localhost") as client:
        yield client


def action_of(told):
    return Action(**told | {"keep": tuple(told.get("keep", ()))})


class Job:
    """A trainer that talks to a session, and what it was told."""

    def __init__(self, client, **asked):
        self.client, self.toy = client, Toy()
        answer = client.post(PLACE, json=ASKED | asked)
        assert answer.status_code == 201, answer.text
        document = answer.json()
        assert answer.headers["Location"] == f"{PLACE}/{document['id']}"
        self.id, self.lease, self.sequence = document["id"], document["lease"], 0
        self.action = document["action"]
        self.actions = [self.action]

    @property
    def place(self):
        return f"{PLACE}/{self.id}"

    def post(self, losses=(), sequence=None, **more):
        number = self.sequence + 1 if sequence is None else sequence
        body = {"lease": self.lease, "sequence": number, "losses": list(losses)} | more
        return self.client.post(f"{self.place}/observations", json=body)

    def report(self, losses, **more):
        answer = self.post(losses, **more)
        assert answer.status_code == 200, answer.text
        self.sequence += 1
        self.action = answer.json()["action"]
        self.actions.append(self.action)
        return answer.json()

    def step(self):
        action = action_of(self.action)
        return self.report(self.toy.carry_out(action))

    def train(self, most=10**9):
        while self.action["do"] != "stop" and most > 0:
            self.step()
            most -= 1
        return self


def in_process(**asked):
    """Return the actions of the same job without any service."""
    options = {**ASKED, **asked}
    options["max_overhead"] = float(options["max_overhead"])
    state, toy = start(Options(**options)), Toy()
    actions = [state.action]
    while state.action.do != "stop":
        state = observe(state, toy.carry_out(state.action))
        actions.append(state.action)
    return actions, state


def same(told, actions):
    assert [one["do"] for one in told] == [one.do for one in actions]
    assert [one.get("lr") for one in told] == [one.lr for one in actions]
    assert [one.get("slot") for one in told] == [one.slot for one in actions]


@pytest.fixture
def job(client):
    return Job(client)


PAPER = {"method": "paper", "tau_min": 60, "tau_max": 60, "warm_start": False}
WAYS = [{}, PAPER | {"max_overhead": "inf"}, {"anchor": "cosine", "validation": "late"}]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_session_is_the_same_tuner_as_in_process(client, way):
    job = Job(client, **way).train()
    actions, state = in_process(**way)
    same(job.actions, actions)
    document = client.get(job.place).json()
    assert (document["state"], document["step"], document["spent"]) == (
        "finished",
        STEPS,
        state.spent,
    )


def test_it_survives_a_restart_in_mid_stage_on_every_database(database_url):
    with running(database_url) as client:
        job = Job(client).train(31)
        assert client.get(job.place).json()["stages"]
        before = client.get(job.place).json()
    with running(database_url) as client:
        job.client = client
        assert client.get(job.place).json() == before
        same(job.train().actions, in_process()[0])
        assert job.client.get(f"{job.place}/history?format=csv").text.count("\n") > STEPS


def test_the_same_observation_sent_again_gets_the_same_answer(job):
    job.train(13)
    losses = [2.0] * job.action.get("steps", 0)
    first = job.post(losses)
    again = [job.post(losses) for _ in range(3)]
    assert first.status_code == 200
    assert all(one.content == first.content for one in again)
    job.sequence, job.action = job.sequence + 1, first.json()["action"]
    job.train()
    assert job.client.get(job.place).json()["step"] == STEPS


def test_losses_that_are_no_numbers_are_losses(job):
    losses = ["nan"] * job.action["steps"]
    first = job.post(losses)
    assert first.status_code == 200
    assert job.post(losses).content == first.content
    assert job.post(["inf"] * len(losses), sequence=1).status_code == 409
    entries = job.client.get(f"{job.place}/history").json()["entries"]
    assert entries[0]["losses"] == losses


def unharmed(job, ask, status, kind, pointer):
    """Ask, be refused, and find the session as it was."""
    before = job.client.get(job.place).content
    answer = ask()
    assert answer.status_code == status, answer.text
    problem = answer.json()
    assert problem["type"] == f"/problems/{kind}"
    assert [one["pointer"] for one in problem["errors"]] == [pointer]
    assert job.client.get(job.place).content == before
    return problem["detail"]


def test_a_gap_is_a_conflict_that_names_the_next_number(job):
    job.train(4)
    told = unharmed(job, lambda: job.post([1.0], sequence=6), 409, "out-of-sequence", "/sequence")
    assert "must be 5: 4 is the last known" in told
    unharmed(job, lambda: job.post([99.0], sequence=4), 409, "out-of-sequence", "/sequence")


@pytest.mark.parametrize(
    ("body", "kind", "pointer"),
    [
        ({"losses": ["2.5"]}, "invalid-request", "/losses/0"),
        ({"losses": [1.0, True]}, "invalid-request", "/losses/1"),
        ({"losses": [None]}, "invalid-request", "/losses/0"),
        ({"losses": "2.5"}, "invalid-request", "/losses"),
        ({"losses": [1.0] * 4097}, "invalid-request", "/losses"),
        ({"losses": [1.0] * 999}, "invalid-observation", "/losses"),
        ({"losses": []}, "invalid-observation", "/losses"),
        ({"unasked": True}, "invalid-observation", "/losses"),
        ({"unasked": 1}, "invalid-request", "/unasked"),
        ({"sequence": "1"}, "invalid-request", "/sequence"),
        ({"sequence": 0}, "invalid-request", "/sequence"),
        ({"loss": 1.0}, "invalid-request", "/loss"),
    ],
)
def test_a_wrong_observation_is_refused_by_field_and_the_state_is_unharmed(
    job, body, kind, pointer
):
    def ask():
        whole = {"lease": job.lease, "sequence": 1, "losses": []} | body
        return job.client.post(f"{job.place}/observations", json=whole)

    unharmed(job, ask, 422, kind, pointer)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("asked", "pointer"),
    [
        ({"min_lr": 2.0}, "/min_lr"),
        ({"min_lr": 0}, "/min_lr"),
        ({"max_lr": "1"}, "/max_lr"),
        ({"total_steps": 0}, "/total_steps"),
        ({"total_steps": 2_000_000}, "/total_steps"),
        ({"total_steps": 10**8 + 1}, "/total_steps"),
        ({"candidates": 1}, "/candidates"),
        ({"method": "magic"}, "/method"),
        ({"max_overhead": "much"}, "/max_overhead"),
        ({"max_overhead": -1}, "/max_overhead"),
        ({"tau_min": 500, "tau_max": 100}, "/tau_max"),
        ({"warmup_steps": STEPS}, "/warmup_steps"),
        ({"name": "x" * 81}, "/name"),
        ({"rate": 1}, "/rate"),
    ],
)
def test_an_option_outside_its_domain_is_named(client, asked, pointer):
    answer = client.post(PLACE, json=ASKED | asked)
    assert answer.status_code == 422
    assert [one["pointer"] for one in answer.json()["errors"]] == [pointer]
    assert client.get(PLACE).json() == {"items": [], "next_cursor": None}


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


def test_steps_that_nobody_asked_for_are_taken_as_the_machine_takes_them(job):
    job.train(24)
    state, toy = start(Options(**ASKED)), Toy()
    for _ in range(24):
        state = observe(state, toy.carry_out(state.action))
    losses = [1.5, 1.4, 1.3]
    state = overrun(state, losses)
    told = job.report(losses, unasked=True)
    assert (told["step"], told["spent"]) == (state.step, state.spent)
    assert told["action"]["do"] == state.action.do


def test_a_cancelled_session_takes_nothing_more(job):
    job.train(3)
    answer = job.client.post(f"{job.place}/cancel")
    assert (answer.status_code, answer.json()["state"]) == (200, "cancelled")
    assert job.client.post(f"{job.place}/cancel").json() == answer.json()
    unharmed(job, lambda: job.post([1.0]), 409, "ended", "/id")
    body = {"lease": job.lease}
    unharmed(job, lambda: job.client.post(f"{job.place}/lease", json=body), 409, "ended", "/id")


def test_a_finished_session_takes_nothing_more(job):
    job.train()
    unharmed(job, lambda: job.post([1.0]), 409, "ended", "/id")
    unharmed(job, lambda: job.client.post(f"{job.place}/cancel"), 409, "ended", "/id")


def test_sessions_are_listed_newest_first_and_deleted(client):
    jobs = [Job(client, name=f"job {number}") for number in range(5)]
    page = client.get(PLACE, params={"limit": 3}).json()
    rest = client.get(PLACE, params={"limit": 3, "cursor": page["next_cursor"]}).json()
    names = [item["name"] for item in page["items"] + rest["items"]]
    assert names == [f"job {number}" for number in reversed(range(5))]
    assert rest["next_cursor"] is None
    assert "lease" not in client.get(jobs[0].place).text + client.get(PLACE).text
    assert client.get(f"{PLACE}/{jobs[2].id[:12]}").json()["name"] == "job 2"
    for job in jobs:
        job.train(2)
        assert client.delete(job.place).status_code == 204
        assert client.get(job.place).status_code == 404
        assert client.delete(job.place).status_code == 404
        assert job.post([1.0]).status_code == 404
    assert client.get(PLACE).json()["items"] == []
    wrong = client.get(PLACE, params={"cursor": jobs[0].id})
    assert (wrong.status_code, wrong.json()["type"]) == (422, "/problems/invalid-cursor")


def test_deleting_takes_the_log_along(database_url):
    with running(database_url) as client:
        job = Job(client).train(10)
        client.delete(job.place)
        with client.app.state.engine.connect() as connection:
            left = connection.exec_driver_sql("SELECT count(*) FROM lr_observations").scalar()
        assert left == 0


def test_the_history_tells_every_step_and_which_are_kept(job):
    job.train()
    document = job.client.get(job.place).json()
    entries = job.client.get(f"{job.place}/history").json()["entries"]
    kept = [entry for entry in entries if entry["kept"]]
    assert [(e["step"], len(e["losses"])) for e in kept] == [
        (sum(len(before["losses"]) for before in kept[:place]), len(e["losses"]))
        for place, e in enumerate(kept)
    ]
    text = job.client.get(f"{job.place}/history", headers={"Accept": "text/csv"}).text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [int(row["run"]) for row in rows] == list(range(document["spent"]))
    own = [row for row in rows if row["kept"] == "1"]
    assert [int(row["step"]) for row in own] == list(range(STEPS))
    assert all(0 < float(row["lr"]) <= 1.0 for row in rows)
    tried = {(row["stage"], row["trial"]) for row in rows if row["trial"]}
    told = {
        (str(stage), str(trial))
        for stage, one in enumerate(document["stages"])
        for trial in range(len(one["attempts"]))
    }
    assert tried == told


def test_a_long_history_comes_in_parts(job, monkeypatch):
    from app.routes import lr_sessions as routes

    monkeypatch.setattr(routes, "PAGE", 20)
    job.train()
    whole, after = [], 0
    while after is not None:
        part = job.client.get(f"{job.place}/history", params={"after": after}).json()
        assert 0 < len(part["entries"]) <= 20
        whole += [entry["sequence"] for entry in part["entries"]]
        after = part["next_after"]
    assert whole == list(range(1, job.sequence + 1))


def test_the_picture_is_the_same_bytes_for_the_same_history(job):
    pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")
    blank = job.client.get(f"{job.place}/history?format=svg")
    assert blank.status_code == 200
    job.train()
    first, again = (job.client.get(f"{job.place}/history?format=svg") for _ in range(2))
    assert first.headers["content-type"] == "image/svg+xml"
    assert first.content == again.content != blank.content
    for word in ("candidates", "forecasts", "kept", "learning rate", "loss"):
        assert f">{word}<" in first.text


def test_an_explosion_is_drawn_too(client):
    pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")
    job = Job(client, name="$x^{<b>")
    job.report(["nan"] * job.action["steps"])
    job.report([1e300] * job.action["steps"])
    job.train()
    assert job.client.get(f"{job.place}/history?format=svg").status_code == 200
    assert job.client.get(f"{job.place}/history?format=png").status_code == 422
    refused = job.client.get(f"{job.place}/history", headers={"Accept": "image/png"})
    assert refused.status_code == 406


def test_what_two_send_at_once_is_put_in_order(database_url):
    with running(database_url) as client:
        job = Job(client)
        losses = [2.0] * job.action["steps"]
        gate = threading.Barrier(8)

        def send(number):
            gate.wait()
            return job.post(losses if number % 2 else [3.0] * len(losses), sequence=1)

        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(send, range(8)))
        taken = [answer for answer in answers if answer.status_code == 200]
        refused = [answer for answer in answers if answer.status_code == 409]
        assert len(taken) == len(refused) == 4
        assert len({answer.content for answer in taken}) == 1
        assert client.get(job.place).json()["sequence"] == 1


def test_an_infinite_allowance_travels_as_a_text(client):
    job = Job(client, max_overhead="inf")
    assert client.get(job.place).json()["options"]["max_overhead"] == "inf"
    assert math.isinf(client.app.state.tuning.store.get(job.id).state.settings.max_overhead)


def test_a_plain_observation_takes_less_than_ten_milliseconds_of_computing(tmp_path):
    url = f"sqlite:///{tmp_path / 'quick.db'}"
    engine = open_database(url)
    tuning = Tuning(LrStore(engine), Settings(database_url=url))
    session, lease = lr_sessions.create(tuning, "", Options(1e-4, 1.0, 20_000, warmup_steps=8))
    action, seconds = session.state.action, []
    for number in range(1, 200):
        losses = tuple(2.0 - 0.0001 * number for _ in range(action.steps))
        searches = tuning.store.get(session.id).state.phase in lr_sessions.SEARCHING
        began = time.process_time()
        action = lr_sessions.observe(tuning, session.id, Observation(lease, number, losses)).action
        if not searches:
            seconds.append(time.process_time() - began)
    engine.dispose()
    assert len(seconds) > 50
    assert statistics.median(seconds) < 0.010
