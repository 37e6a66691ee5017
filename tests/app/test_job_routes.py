"""Jobs over HTTP: promised answers, events, cancels; sweeps as jobs of many parts."""

import json
import time

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from tests.app.test_documents import require_published
from topoloom.app.api.async_reply import preference
from topoloom.app.api.main import create_app
from topoloom.app.config import MAX_WAIT_SECONDS, Settings
from topoloom.app.jobs.model import Task
from topoloom.app.requests.options.option import choices
from topoloom.app.requests.options.sweeps_and_jobs import JOB_OPERATION
from topoloom.app.requests.sweeps import SweepRequest
from topoloom.app.services import sweeps
from topoloom.app.services.operations import OPERATIONS

SIZES = {"kind": "sizes", "nodes": ["6:10:2"], "degrees": [2]}
NOBODY = {"run_worker": False}
AT_ONCE = {"Prefer": "respond-async"}


@pytest.fixture
def idle(settings):
    """Return a client of a service that leaves its jobs to others."""
    chosen = settings.model_copy(update=NOBODY)
    with TestClient(create_app(chosen), base_url="http://localhost") as opened:
        yield opened


def enqueued(client, number=0, operation="design", **more):
    return client.app.state.host.jobs.enqueue(Task.of(operation, {"number": number}), **more)


@pytest.mark.slow
def test_an_answer_that_is_not_at_hand_is_promised_and_then_there(client):
    promised = client.post("/v1/sweeps", json=SIZES, headers=AT_ONCE)
    assert promised.status_code == 202
    assert promised.headers["preference-applied"] == "respond-async"
    job = promised.json()
    assert (job["operation"], job["parts"]["total"]) == ("sweep", 3)
    assert promised.headers["location"] == f"/v1/jobs/{job['id']}"
    done = client.post("/v1/sweeps", json=SIZES, headers={"Prefer": "wait=60"})
    assert done.status_code == 201, done.text
    assert done.headers["preference-applied"] == "wait=60"
    known = client.post("/v1/sweeps", json=SIZES)
    assert (known.status_code, known.text) == (200, done.text)
    read = client.get(f"/v1/jobs/{job['id']}").json()
    assert (read["state"], read["progress"]) == ("done", 1)
    assert read["result"] == done.headers["location"]
    assert client.get(read["result"]).json() == done.json()
    rows = done.json()["rows"]
    assert [row["nodes"] for row in rows] == [6, 8, 10]
    for row in rows:
        frontier = client.app.state.context.read("frontier", row["answer_id"]).document()
        assert [point["name"] for point in row["points"]] == [
            point["name"] for point in frontier["frontier"]
        ]
    (entry,) = client.get("/v1/sweeps").json()["items"]
    assert entry["summary"] == {"kind": "sizes", "over": "sizes", "rows": 3, "without_answer": 0}


def test_a_client_that_does_not_say_waits_and_then_hears_of_the_job(settings):
    chosen = settings.model_copy(update=NOBODY | {"wait_seconds": 1})
    with TestClient(create_app(chosen), base_url="http://localhost") as client:
        start = time.monotonic()
        answer = client.post("/v1/sweeps", json=SIZES)
        assert answer.status_code == 202
        assert time.monotonic() - start > 0.9
        assert "preference-applied" not in answer.headers
        again = client.post("/v1/sweeps", json=SIZES, headers=AT_ONCE)
        assert again.headers["location"] == answer.headers["location"]


PIECES = ["wait", "=", "respond-async", ",", ";", " ", '"', "\\", "7", "99999", "x", "é"]


@given(st.text(max_size=40) | st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_any_prefer_header_means_a_bounded_wait(header):
    found = preference(header)
    assert 0 <= found.wait_seconds <= MAX_WAIT_SECONDS


def test_a_job_that_is_not_there_is_a_404_and_a_wrong_id_a_422(idle):
    nobody = "0" * 32
    for method, path in (
        ("GET", nobody),
        ("DELETE", nobody),
        ("GET", f"{nobody}/events"),
        ("POST", f"{nobody}/cancel"),
    ):
        assert idle.request(method, f"/v1/jobs/{path}").status_code == 404
        wrong = path.replace("0", "x")
        assert idle.request(method, f"/v1/jobs/{wrong}").status_code == 422


def test_a_job_is_cancelled_once_and_deleted_after(idle):
    job = enqueued(idle)
    assert idle.delete(f"/v1/jobs/{job}").status_code == 409
    assert idle.post(f"/v1/jobs/{job}/cancel").json()["state"] == "cancelled"
    again = idle.post(f"/v1/jobs/{job}/cancel")
    assert (again.status_code, again.json()["type"]) == (409, "/problems/job-ended")
    assert idle.delete(f"/v1/jobs/{job}").status_code == 204
    assert idle.get(f"/v1/jobs/{job}").status_code == 404


def test_lists_of_jobs_are_filtered_and_paged(idle):
    jobs = [enqueued(idle, number) for number in range(3)]
    enqueued(idle, 0, "frontier")
    idle.post(f"/v1/jobs/{jobs[0]}/cancel")
    query = {"operation": "design", "limit": 2}
    page = idle.get("/v1/jobs", params=query).json()
    assert [job["id"] for job in page["items"]] == [jobs[2], jobs[1]]
    rest = idle.get("/v1/jobs", params={**query, "cursor": page["next_cursor"]}).json()
    assert [job["id"] for job in rest["items"]] == [jobs[0]]
    assert rest["next_cursor"] is None
    found = idle.get("/v1/jobs", params={"state": "cancelled"}).json()["items"]
    assert [job["id"] for job in found] == [jobs[0]]
    for name in ("state", "operation"):
        assert idle.get("/v1/jobs", params={name: "lost"}).status_code == 422
    assert idle.get("/v1/jobs", params={"cursor": "x"}).status_code == 422


def test_the_filter_knows_every_operation_that_becomes_a_job():
    while_the_client_waits = {"export", "stored", "part", "repairs", "fault-analysis"}
    while_the_client_waits |= {"cross-wiring", "group-schedule", "network-curves", "oxc-allreduce"}
    assert set(choices(JOB_OPERATION.type)) == OPERATIONS.keys() - while_the_client_waits


def events(text):
    """Return id, name and document of every event of a stream."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if line[0] != ":")
        if "data" in fields:
            found.append((int(fields["id"]), fields["event"], json.loads(fields["data"])))
    return found


@pytest.mark.slow
def test_events_tell_of_every_state_and_end_with_the_job(client):
    job = client.post("/v1/sweeps", json=SIZES, headers=AT_ONCE).json()["id"]
    answer = client.get(f"/v1/jobs/{job}/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    told = events(answer.text)
    assert told[-1][1:] == ("done", client.get(f"/v1/jobs/{job}").json())
    ids = [identity for identity, _, _ in told]
    assert ids == sorted(set(ids))
    # Who comes back later hears what it has not heard, and at least how it ended.
    seen = {"Last-Event-ID": str(ids[-2])}
    assert events(client.get(f"/v1/jobs/{job}/events", headers=seen).text) == told[-1:]
    last = {"Last-Event-ID": str(ids[-1])}
    assert events(client.get(f"/v1/jobs/{job}/events", headers=last).text) == told[-1:]


def test_no_more_streams_are_open_than_allowed(settings):
    chosen = settings.model_copy(update=NOBODY | {"max_event_streams": 1})
    with TestClient(create_app(chosen), base_url="http://localhost") as client:
        watcher = client.app.state.watcher
        watcher._streams = 1
        refused = client.get(f"/v1/jobs/{enqueued(client)}/events")
        assert (refused.status_code, refused.json()["type"]) == (
            503,
            "/problems/too-many-listeners",
        )
        assert int(refused.headers["retry-after"]) > 0
        watcher._streams = 0
        job = enqueued(client, 1)
        client.post(f"/v1/jobs/{job}/cancel")
        for _ in range(3):
            assert len(events(client.get(f"/v1/jobs/{job}/events").text)) == 1


def test_who_has_too_many_jobs_is_told_when_to_come_again(settings):
    chosen = settings.model_copy(update=NOBODY | {"max_queued_jobs_per_owner": 3})
    with TestClient(create_app(chosen), base_url="http://localhost") as client:
        answer = client.post("/v1/sweeps", json=SIZES, headers=AT_ONCE)
    assert (answer.status_code, answer.json()["type"]) == (429, "/problems/too-many-jobs")
    assert int(answer.headers["retry-after"]) > 0


def test_who_asks_too_much_of_all_is_told_when_to_come_again(settings):
    chosen = settings.model_copy(update=NOBODY | {"max_queued_jobs": 3})
    with TestClient(create_app(chosen), base_url="http://localhost") as client:
        answer = client.post("/v1/sweeps", json=SIZES, headers=AT_ONCE)
    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/queue-full")
    assert int(answer.headers["retry-after"]) > 0


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({"kind": "sizes", "nodes": [8]}, "degrees"),
        ({"kind": "fault-analysis", "nodes": [8], "degrees": [2]}, "must not have nodes"),
        ({"kind": "fault-analysis"}, "topology"),
        ({"kind": "sizes", "nodes": ["8:4000"], "degrees": [2]}, "2000"),
        ({"kind": "sizes", "nodes": ["2:1900"], "degrees": [2, 3]}, "2000"),
        ({"kind": "sizes", "nodes": ["8:x"], "degrees": [2]}, "ranges"),
        ({"kind": "sizes", "nodes": [1], "degrees": [2]}, "nodes"),
        ({"kind": "workload", "nodes": [8], "degrees": [2]}, "must have collective with bytes"),
        ({"kind": "workload", "nodes": [8], "degrees": [2], "template": {"nope": 1}}, "nope"),
        ({"kind": "fault-analysis", "topology": {"recipe": "BiRing(5)"},
          "template": {"collective": "all-to-all"}}, "all-to-all"),
        ({"kind": "fault-analysis", "topology": {"recipe": "Complete(300)"}}, "20000"),
        ({"kind": "sizes", "nodes": [8], "degrees": [2], "lost": ["link"]}, "must not have lost"),
    ],
)  # fmt: skip
def test_a_sweep_that_cannot_be_is_refused_with_the_rule(idle, body, word):
    answer = idle.post("/v1/sweeps", json=body)
    assert answer.status_code == 422
    assert word in answer.json()["detail"]
    assert idle.get("/v1/jobs").json()["items"] == []


@pytest.mark.slow
def test_a_fault_sweep_says_what_every_kind_of_fault_leaves(client):
    body = {"kind": "fault-analysis", "topology": {"recipe": "BiRing(4)"}}
    answer = client.post("/v1/sweeps", json=body, headers={"Prefer": "wait=60"})
    assert answer.status_code == 201, answer.text
    link, host = answer.json()["rows"]
    # A ring without a link is a line: its ends have one link left of two.
    assert (link["link"], link["alike"], link["left"]) == ([0, 1], 4, "1/2")
    assert (host["node"], host["part"], host["alike"], host["algbw"]) == (0, "host", 4, 1.5)


@pytest.mark.slow
def test_a_question_without_answer_is_a_row_that_says_why(client):
    body = {"kind": "sizes", "nodes": [4, 8], "degrees": [5]}
    answer = client.post("/v1/sweeps", json=body, headers={"Prefer": "wait=60"})
    assert answer.status_code == 201, answer.text
    without, found = answer.json()["rows"]
    assert "must be less than nodes" in without["problem"] and "points" not in without
    assert found["points"]
    (entry,) = client.get("/v1/sweeps").json()["items"]
    assert entry["summary"]["without_answer"] == 1


def test_a_cancelled_sweep_is_cancelled_with_its_parts(idle):
    job = idle.post("/v1/sweeps", json=SIZES, headers=AT_ONCE).json()["id"]
    parts = idle.get("/v1/jobs", params={"parent": job}).json()["items"]
    assert len(parts) == 3 and {part["parent"] for part in parts} == {job}
    assert idle.post(f"/v1/jobs/{job}/cancel").status_code == 200
    states = [idle.get(f"/v1/jobs/{part['id']}").json()["state"] for part in parts]
    assert states == ["cancelled"] * 3


@pytest.mark.slow
def test_jobs_that_others_left_are_carried_out_by_a_service_that_starts(settings):
    with TestClient(
        create_app(settings.model_copy(update=NOBODY)), base_url="http://localhost"
    ) as client:
        job = client.post("/v1/sweeps", json=SIZES, headers=AT_ONCE).json()["id"]
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        assert events(client.get(f"/v1/jobs/{job}/events").text)[-1][1] == "done"


def test_a_webhook_goes_only_where_the_configuration_allows(settings, idle):
    headers = AT_ONCE | {"Topoloom-Webhook": "https://hooks.example/done"}
    refused = idle.post("/v1/sweeps", json=SIZES, headers=headers)
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/webhook-refused")
    assert idle.get("/v1/jobs").json()["items"] == []


def test_hosts_of_webhooks_need_a_secret():
    with pytest.raises(ValueError, match="TOPOLOOM_WEBHOOK_SECRET"):
        Settings(webhook_hosts="hooks.example")


@pytest.mark.slow
def test_jobs_and_sweeps_are_as_published(idle):
    context = idle.app.state.context
    for asked in (SIZES, {"kind": "fault-analysis", "topology": {"recipe": "BiRing(4)"}}):
        sweeps.create(context, SweepRequest.model_validate(asked))
        answer = idle.post("/v1/sweeps", json=asked)
        require_published("post", "/v1/sweeps", answer)
        require_published("get", "/v1/sweeps/{id}", idle.get(answer.headers["location"]))
    require_published("get", "/v1/sweeps", idle.get("/v1/sweeps"))
    more = {**SIZES, "nodes": [6, 12]}
    promised = idle.post("/v1/sweeps", json=more, headers=AT_ONCE)
    require_published("post", "/v1/sweeps", promised)
    place = promised.headers["location"]
    require_published("get", "/v1/jobs/{id}", idle.get(place))
    require_published("get", "/v1/jobs", idle.get("/v1/jobs"))
    require_published("post", "/v1/jobs/{id}/cancel", idle.post(f"{place}/cancel"))
