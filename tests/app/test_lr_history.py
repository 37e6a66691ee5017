"""The history of a session of tuned learning rates: JSON, CSV and a picture."""

import csv
import io

import pytest

from tests.app.lr_jobs import (
    STEPS,
    Job,
)

pytest.importorskip("sklearn", reason="the extra `tune` is not installed")


@pytest.fixture
def job(client):
    return Job(client)


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_long_history_comes_in_parts(job, monkeypatch):
    from topoloom.app.api.routes import lr_sessions as routes

    monkeypatch.setattr(routes, "PAGE", 20)
    job.train()
    whole, after = [], 0
    while after is not None:
        part = job.client.get(f"{job.place}/history", params={"after": after}).json()
        assert 0 < len(part["entries"]) <= 20
        whole += [entry["sequence"] for entry in part["entries"]]
        after = part["next_after"]
    assert whole == list(range(1, job.sequence + 1))


@pytest.mark.slow
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


@pytest.mark.slow
def test_an_explosion_is_drawn_too(client):
    pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")
    job = Job(client, name="$x^{<b>")
    job.report([])  # the untrained model is saved
    job.report(["nan"] * job.action["steps"])
    job.report([1e300] * job.action["steps"])
    job.train()
    assert job.client.get(f"{job.place}/history?format=svg").status_code == 200
    assert job.client.get(f"{job.place}/history?format=png").status_code == 422
    refused = job.client.get(f"{job.place}/history", headers={"Accept": "image/png"})
    assert refused.status_code == 406
