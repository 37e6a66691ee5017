"""Sessions of tuned learning rates: the tuner in process, behind HTTP and over restarts."""

import math
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.app.lr_jobs import ASKED, PLACE, STEPS, Job, in_process, running, same
from tests.learning_rate.trainers import Toy
from topoloom.app.config import Settings
from topoloom.app.services import lr_sessions
from topoloom.app.services.lr_sessions import Tuning
from topoloom.app.store.database import open_database
from topoloom.app.store.lr_records import Observation
from topoloom.app.store.lr_sessions import LrStore
from topoloom.learning_rate import Options, observe, overrun, start
from topoloom.learning_rate.state_machine.extension import extend_run, shortest

pytest.importorskip("sklearn", reason="the extra `tune` is not installed")

PAPER = {"method": "paper", "tau_min": 60, "tau_max": 60, "warm_start": False}
WAYS = [{}, PAPER | {"max_overhead": "inf"}, {"anchor": "cosine", "validation": "late"}]


@pytest.fixture
def job(client):
    return Job(client)


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


@pytest.mark.slow
def test_it_survives_a_restart_in_mid_stage_on_every_database(ready_url):
    with running(ready_url) as client:
        job = Job(client).train(31)
        assert client.get(job.place).json()["stages"]
        before = client.get(job.place).json()
    with running(ready_url) as client:
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
    job.report([])  # the untrained model is saved
    losses = ["nan"] * job.action["steps"]
    first = job.post(losses)
    assert first.status_code == 200
    assert job.post(losses).content == first.content
    assert job.post(["inf"] * len(losses), sequence=2).status_code == 409
    entries = job.client.get(f"{job.place}/history").json()["entries"]
    assert entries[-1]["losses"] == losses


def test_steps_that_nobody_asked_for_are_taken_as_the_machine_takes_them(job):
    job.train(24)
    state, toy = start(Options(**ASKED)), Toy()
    for _ in range(24):
        state = observe(state, toy.carry_out(state.action))
    losses = [1.5, 1.4, 1.3]
    state = overrun(state, losses)
    told = job.report(losses, unsolicited=True)
    assert (told["step"], told["spent"]) == (state.step, state.spent)
    assert told["action"]["do"] == state.action.do


def extended_in_process(after, length):
    """Return the state at the end of the job whose length changes after some observations."""
    state, toy = start(Options(**ASKED)), Toy()
    for _ in range(after):
        state = observe(state, toy.carry_out(state.action))
    state = extend_run(state, length or shortest(state))
    while state.action.do != "stop":
        state = observe(state, toy.carry_out(state.action))
    return state


@pytest.mark.slow
@pytest.mark.parametrize("length", [900, None])
def test_an_extended_session_is_the_extended_tuner_in_process(job, length):
    job.train(40)
    answer = job.extend(length)
    again = job.extend(length)
    assert answer.status_code == again.status_code == 200
    assert answer.json() == again.json()
    assert answer.json()["action"] == job.action
    job.sequence += 1
    job.train()
    state = extended_in_process(40, length)
    document = job.client.get(job.place).json()
    assert document["step"] == document["options"]["total_steps"] == state.settings.total_steps
    assert document["spent"] == state.spent
    entries = job.client.get(f"{job.place}/history").json()["entries"]
    assert [one["total_steps"] for one in entries if one["type"] == "extend"] == [length or 0]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("back", "length"), [(0, STEPS), (17, STEPS), (41, 900), (60, 900)])
def test_a_session_goes_back_to_before_or_after_its_extension(job, back, length):
    job.train(40)
    assert job.extend(900).status_code == 200
    job.sequence += 1
    job.actions.append(job.action)
    while job.sequence < 70:
        job.step()
    answer = job.client.post(f"{job.place}/lease", json={"lease": job.lease, "sequence": back})
    document = answer.json()
    assert document["options"]["total_steps"] == length
    assert document["action"] == job.actions[back]


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


def test_deleting_takes_the_log_along(ready_url):
    with running(ready_url) as client:
        job = Job(client).train(10)
        client.delete(job.place)
        with client.app.state.engine.connect() as connection:
            left = connection.exec_driver_sql("SELECT count(*) FROM lr_observations").scalar()
        assert left == 0


def test_what_two_send_at_once_is_put_in_order(ready_url):
    with running(ready_url) as client:
        job = Job(client)
        job.report([])  # the untrained model is saved
        losses = [2.0] * job.action["steps"]
        gate = threading.Barrier(8)

        def send(number):
            gate.wait()
            return job.post(losses if number % 2 else [3.0] * len(losses), sequence=2)

        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(send, range(8)))
        taken = [answer for answer in answers if answer.status_code == 200]
        refused = [answer for answer in answers if answer.status_code == 409]
        assert len(taken) == len(refused) == 4
        assert len({answer.content for answer in taken}) == 1
        assert client.get(job.place).json()["sequence"] == 2


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
