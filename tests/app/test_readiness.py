import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from fastapi.testclient import TestClient

from topoloom.app.api.main import create_app
from topoloom.app.config import KERNEL_VERSION, Settings
from topoloom.app.store.database import HEAD, DatabaseNotReady, migrate


@pytest.fixture
def service(engine, ready_url):
    """The service on an SQLite and on a PostgreSQL database."""
    with TestClient(
        create_app(Settings(database_url=ready_url)), base_url="http://localhost"
    ) as client:
        yield client, engine


def test_the_service_answers_on_either_database(service):
    client, _ = service
    question = {"nodes": 8, "degree": 2, "collective": "allreduce", "bytes": "1KiB"}
    first = client.post("/v1/designs", json=question)
    again = client.post("/v1/designs", json=question)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.content == again.content
    schedule = client.get(f"/v1/schedules/{first.json()['best']['schedule']['id']}")
    assert schedule.json()["kind"] == "sequence"
    listed = client.get("/v1/designs").json()["items"]
    assert [item["id"] for item in listed] == [first.json()["id"]]


def test_the_service_is_ready_only_at_the_newest_revision(service):
    client, engine = service
    assert client.get("/readyz").json() == {"status": "ready"}
    migrate(engine, "base")
    refused = client.get("/readyz")
    assert (refused.status_code, refused.json()["type"]) == (503, "/problems/database-not-ready")
    assert client.get("/healthz").json() == {"status": "ok"}
    broken = client.get("/v1/designs")
    assert 500 <= broken.status_code < 600
    assert broken.headers["Content-Type"] == "application/problem+json"


def test_the_service_does_not_start_on_an_unmigrated_postgresql(postgres_url):
    app = create_app(Settings(database_url=postgres_url))
    with (
        pytest.raises(DatabaseNotReady, match="topoloom db migrate"),
        TestClient(app, base_url="http://localhost"),
    ):
        pass


def test_the_version_names_package_kernels_and_tables(client):
    found = client.get("/version").json()
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", found["version"])
    assert (found["kernel_version"], found["database_revision"]) == (KERNEL_VERSION, HEAD)


def test_counters_tell_computed_answers_from_stored_ones(client):
    for _ in range(3):
        client.post("/v1/topologies", json={"recipe": "BiRing(5)"})
    client.get("/no/such/path")
    lines = client.get("/metrics").text.splitlines()
    assert 'topoloom_answers_total{kind="topology",source="computed"} 1.0' in lines
    assert 'topoloom_answers_total{kind="topology",source="cache"} 2.0' in lines
    assert any('route="other",status="404"' in line for line in lines)
    assert not any("no/such/path" in line for line in lines)


def test_many_clients_at_once_get_the_same_answer(client):
    question = {"nodes": 16, "degree": 3, "collective": "allgather", "bytes": "1MB"}
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: client.post("/v1/designs", json=question), range(12)))
    assert {answer.status_code for answer in answers} <= {200, 201}
    assert len({answer.content for answer in answers}) == 1
