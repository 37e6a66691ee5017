"""Work as clients see it: limits, refusals, large bodies, what is written once."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from fastapi.testclient import TestClient

from tests.app.jobs.work import until
from tests.patience import slowdown
from topoloom.app.api.main import create_app
from topoloom.app.jobs.worker_pool.pool import WorkerPool
from topoloom.schedules.errors import TooLarge

ENDED = 8.0
"""Seconds in which a core must be free again on an idle machine: the work takes over 20."""


def said(answer):
    """Return an answer; of a problem, without the id of its request."""
    if answer.status_code < 300:
        return answer.content
    return {**answer.json(), "request_id": None}


BIG = {"nodes": 16384, "degree": 32, "collective": "allreduce", "bytes": "1GB"}


def test_the_limit_of_the_service_is_kept_by_a_search_that_says_nothing(settings):
    hasty = settings.model_copy(update={"max_seconds": 1.0})
    with TestClient(create_app(hasty), base_url="http://localhost") as client:
        start = time.monotonic()
        answer = client.post("/v1/designs", json=BIG)
        assert answer.status_code == 422
        assert answer.json()["type"] == "/problems/took-too-long"
        assert client.get("/v1/jobs").json()["items"] == []
        assert time.monotonic() - start < 1 + ENDED * slowdown()


def test_the_same_question_is_refused_again_without_work(client, monkeypatch):
    topology = {"recipe": "BiRing(5)"}
    made = client.post(
        "/v1/schedules", json={"topology": topology, "collective": "broadcast", "root": 0}
    )
    place = made.headers["Location"].partition("?")[0] + "?format=msccl-xml"
    first = client.get(place)
    assert first.status_code == 422 and first.json()["type"] == "/problems/not-exportable"
    monkeypatch.setattr(WorkerPool, "run", None)
    assert said(client.get(place)) == said(first)


def test_an_export_is_written_once(client, monkeypatch):
    made = client.post(
        "/v1/schedules", json={"topology": {"recipe": "BiRing(5)"}, "collective": "allgather"}
    )
    places = [
        made.headers["Location"].partition("?")[0] + query
        for query in ("", "?format=dot", "?format=msccl-xml")
    ]
    first = [client.get(place) for place in places]
    assert [answer.status_code for answer in first] == [200, 422, 200]
    monkeypatch.setattr(WorkerPool, "run", None)
    for place, answer in zip(places, first, strict=True):
        again = client.get(place)
        assert again.status_code == answer.status_code
        assert said(again) == said(answer)


def test_a_large_body_is_read_by_a_worker_and_says_the_same(client):
    topology = client.post("/v1/topologies", json={"recipe": "Kautz(4, 4)"})
    document = topology.json()
    document.pop("id")
    text = json.dumps(document, indent=9)
    assert len(text) > 2 * 64 * 2**10
    headers = {"Content-Type": "application/json"}
    made = client.post("/v1/topologies", content=text, headers=headers)
    assert made.status_code == 201
    small = json.dumps({"name": made.json()["name"]})
    assert client.post("/v1/topologies", content=small, headers=headers).status_code in (200, 422)
    assert client.post("/v1/topologies", content=text, headers=headers).status_code == 200
    wrong = client.post("/v1/topologies", content=text)
    assert wrong.status_code == 415
    assert client.post("/v1/topologies?x=1", content=text, headers=headers).status_code == 422
    aside = headers | {"Prefer": "respond-async"}
    unreadable = client.post("/v1/topologies", content=text.encode("utf-16"), headers=aside)
    assert unreadable.status_code == 400
    broken = client.post("/v1/topologies", content=text[:-1], headers=headers)
    assert broken.status_code == 400 and broken.json()["type"] == "/problems/malformed-body"


def test_too_much_work_is_refused_with_when_to_come_back(settings, monkeypatch):
    few = {"max_working": 1, "max_waiting": 2, "max_waiting_per_owner": 1}
    app = create_app(settings.model_copy(update=few))
    release, begun = Event(), []

    def held(pool, task, cancelled, **how):
        begun.append(task)
        release.wait(300)
        raise TooLarge("/nodes", "must be fewer")

    monkeypatch.setattr(WorkerPool, "run", held)
    with (
        TestClient(app, base_url="http://localhost", client=("10.0.0.1", 1)) as client,
        ThreadPoolExecutor(5) as pool,
    ):
        asked = []
        for n in (8, 9):
            asked.append(pool.submit(client.post, "/v1/designs", json={**BIG, "nodes": n}))
            until(lambda: len(app.state.computations._in_flight) == len(asked))
        refused = client.post("/v1/designs", json={**BIG, "nodes": 10})
        assert refused.status_code == 429
        assert refused.json()["type"] == "/problems/too-many-waiting"
        assert int(refused.headers["Retry-After"]) > 0
        # Two more slots are reserved for owners that run nothing; the next such owner waits.
        for n in (2, 3, 4):
            other = TestClient(app, base_url="http://localhost", client=(f"10.0.0.{n}", 1))
            other.portal = client.portal  # All run in one event loop.
            asked.append(pool.submit(other.post, "/v1/designs", json={**BIG, "nodes": 9 + n}))
            until(lambda: len(app.state.computations._in_flight) == len(asked))
        last = TestClient(app, base_url="http://localhost", client=("10.0.0.5", 1))
        last.portal = client.portal
        refused = last.post("/v1/designs", json={**BIG, "nodes": 14})
        assert refused.status_code == 503 and refused.json()["type"] == "/problems/busy"
        assert int(refused.headers["Retry-After"]) > 0
        release.set()
        assert {one.result().status_code for one in asked} == {422}
