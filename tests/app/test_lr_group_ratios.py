"""Ratios between parameter groups in a session: as in process, in the history, for old clients."""

import csv
import io
import json

import pytest
from sqlalchemy import text

from tests.app.lr_jobs import PLACE, Job
from tests.learning_rate.trainers import Groups, trained
from topoloom.app.documents.lr_session import ActionDocument
from topoloom.app.plots.lr_session import svg
from topoloom.app.services import lr_sessions
from topoloom.app.store.lr_records import entry_of
from topoloom.learning_rate import Options
from topoloom.learning_rate.state_machine.state import Action

pytest.importorskip("sklearn", reason="the extra `tune` is not installed")

ASKED = {"min_lr": 1e-3, "max_lr": 0.1, "total_steps": 1200, "group_ratios": ["embedding", "1"]}
PLAIN = {"anchor": "wsd", "warmup_steps": 60, "candidates": 8, "max_overhead": 0.1}


@pytest.fixture
def job(client):
    made = Job(client, **PLAIN, **ASKED)
    made.toy = Groups((0.5, 0.05))
    return made


@pytest.mark.slow
def test_a_session_gives_the_actions_of_the_tuner_in_process(job):
    job.train()
    state, toy = trained(Options(**ASKED), Groups((0.5, 0.05)))
    own = [ActionDocument.of(action).given() for action in toy.actions]
    assert job.actions[:-1] == own
    assert job.actions[-2]["scales"] == pytest.approx([10.0, 1.0])

    document = job.client.get(job.place).json()
    assert document["options"]["group_ratios"] == ["embedding", "1"]
    assert document["stages"][-1]["scales"] == list(state.scales)
    assert [one["scales"] for one in document["stages"][0]["attempts"]] == [
        list(attempt.scales) for attempt in state.history[0].attempts
    ]
    rows = list(csv.DictReader(io.StringIO(job.client.get(f"{job.place}/history?format=csv").text)))
    assert {len(row) for row in rows} == {10} and float(rows[-1]["scale 0"]) == state.scales[0]
    entries = job.client.get(f"{job.place}/history").json()["entries"]
    assert [one["scales"] for one in entries if "lr" in one][-1] == list(state.scales)
    tuning = job.client.app.state.tuning
    session = tuning.store.get(job.id)
    picture = svg(session, lr_sessions.history(tuning, session)).decode()
    assert "embedding" in picture


@pytest.mark.slow
def test_a_trainer_that_returns_to_an_earlier_observation_gets_the_same_scales(job):
    job.train(60)
    position, level, slots = job.toy.position, job.toy.level, dict(job.toy.slots)
    rates, sequence, action = (job.toy.lr, job.toy.scales), job.sequence, job.action
    job.train(30)
    later = job.actions[-30:]
    body = {"lease": job.lease, "sequence": sequence}
    answer = job.client.post(f"{job.place}/lease", json=body).json()
    job.lease, job.sequence, job.action = answer["lease"], sequence, answer["action"]
    assert job.action == action
    job.toy.position, job.toy.level, job.toy.slots = position, level, slots
    job.toy.lr, job.toy.scales = rates
    job.train(30)
    assert job.actions[-30:] == later


def test_a_client_that_knows_no_ratios_finds_no_new_member_in_actions(client):
    job = Job(client)
    job.train(12)
    assert not any("scales" in action for action in job.actions)
    document = client.get(job.place).json()
    assert not any("scales" in stage for stage in document["stages"])
    text = client.get(f"{job.place}/history?format=csv").text
    assert text.splitlines()[0] == "run,step,lr,loss,stage,trial,kept,unasked"


def test_a_session_of_the_release_before_continues(client):
    job, other = Job(client), Job(client)
    job.train(40)
    other.train(15)
    engine = client.app.state.tuning.store._engine
    with engine.begin() as connection:
        rows = connection.execute(text("select id, state from lr_sessions")).all()
        for identity, state in rows:
            old = json.dumps(_older(json.loads(state)) | {"version": 7})
            where = {"state": old, "id": identity}
            connection.execute(text("update lr_sessions set state=:state where id=:id"), where)
        logged = connection.execute(text("select * from lr_observations")).mappings().all()
        for row in logged:
            old = {name: json.dumps(_older(json.loads(row[name]))) for name in ("action", "answer")}
            connection.execute(
                text(
                    "update lr_observations set action=:action, answer=:answer "
                    "where session_id=:id and entry=:entry"
                ),
                old | {"id": row["session_id"], "entry": row["entry"]},
            )
    client.app.state.tuning.store._states.clear()
    other.train(25)
    assert other.actions == job.actions
    assert client.get(f"{other.place}/history").status_code == 200


def _older(value):
    """Return a document without the members of ratios."""
    if isinstance(value, list):
        return [_older(one) for one in value]
    if not isinstance(value, dict):
        return value
    late = ("scales", "base", "group_ratios")
    return {name: _older(one) for name, one in value.items() if name not in late}


def test_an_entry_of_before_ratios_has_no_scales():
    fields = {"entry": 1, "sequence": 1, "unasked": False, "losses": "[1.0]", "stage": 0}
    old = {"do": "go_on", "lr": 0.1, "steps": 1, "slot": None, "keep": [], "reason": None}
    fields |= {"trial": None, "start": 0, "status": "running", "step": 1, "spent": 1}
    row = fields | {"created_at": None, "action": json.dumps(old), "answer": json.dumps(old)}
    assert entry_of(row).action == Action("go_on", lr=0.1, steps=1)


def test_a_wrong_group_is_refused_with_its_place(client):
    for ratios, pointer in ((["a", "a"], "/group_ratios/1"), (["a"] * 9, "/group_ratios"),
                            ([""], "/group_ratios/0"), ("a", "/group_ratios"),
                            ([1], "/group_ratios/0")):  # fmt: skip
        answer = client.post(PLACE, json=ASKED | {"group_ratios": ratios})
        assert answer.status_code == 422, answer.text
        assert [one["pointer"] for one in answer.json()["errors"]] == [pointer]
