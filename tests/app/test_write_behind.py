"""An answer that cannot be stored is an answer all the same, and /readyz says so."""

import logging
import sqlite3
from contextlib import contextmanager

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import event, text

from tests.app.jobs.work import until
from topoloom.app.api.main import create_app
from topoloom.app.config import Settings
from topoloom.app.jobs.worker_pool.pool import WorkerPool
from topoloom.app.jobs.worker_pool.store_proxy import StoreServer
from topoloom.app.store.artifacts import Artefact
from topoloom.app.store.database import migrate, open_engine
from topoloom.app.store.write_behind import Pending, Unsaved

DESIGN = {"nodes": 6, "degree": 2, "collective": "allgather", "bytes": "1MB"}
LATER = {"recipe": "UniRing(7)"}


@pytest.fixture
def settings(tmp_path):
    """Pages so small that no answer fits into what is left of one."""
    path = tmp_path / "small.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA page_size=512")
    connection.execute("CREATE TABLE one (x)")
    connection.execute("DROP TABLE one")
    connection.close()
    return Settings(database_url=f"sqlite:///{path}")


@contextmanager
def on_every_use(engine, *pragmas):
    """Let every connection of an SQLite engine begin with these pragmas."""

    def prepare(connection, _record, _proxy):
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")

    event.listen(engine, "checkout", prepare)
    try:
        yield
    finally:
        event.remove(engine, "checkout", prepare)


@contextmanager
def read_only(engine, _path):
    with on_every_use(engine, "query_only=ON"):
        yield
    engine.dispose()


@contextmanager
def full(engine, _path):
    # Below what there is SQLite takes it for what there is: no page can be added.
    with on_every_use(engine, "max_page_count=1"):
        yield
    engine.dispose()


@contextmanager
def locked(engine, path):
    other = sqlite3.connect(path, isolation_level=None)
    with on_every_use(engine, "busy_timeout=50"):
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")
    other.close()
    engine.dispose()


def test_what_takes_longer_is_waited_for_where_no_job_can_be_noted(
    client, settings, caplog, monkeypatch
):
    run, engine = WorkerPool.run, client.app.state.engine

    def held(*given, **how):
        until(lambda: "no job can be noted" in caplog.text)
        return run(*given, **how)

    monkeypatch.setattr(WorkerPool, "run", held)
    with read_only(engine, settings.database_url.removeprefix("sqlite:///")):
        with caplog.at_level(logging.ERROR):
            answer = client.post("/v1/designs", json=DESIGN, headers={"Prefer": "wait=1"})
        assert answer.status_code == 201


@pytest.mark.one_in(3)
@pytest.mark.parametrize("broken", [read_only, full, locked])
def test_an_answer_is_delivered_when_sqlite_does_not_take_it(client, settings, broken, caplog):
    engine = client.app.state.engine
    with broken(engine, settings.database_url.removeprefix("sqlite:///")):
        with caplog.at_level(logging.ERROR):
            answer = client.post("/v1/designs", json=DESIGN)
        assert answer.status_code == 201
        assert "could not be stored" in caplog.text
        for _ in range(2):
            refused = client.get("/readyz")
            assert (refused.status_code, refused.json()["type"]) == (
                503,
                "/problems/database-not-ready",
            )
            assert refused.json()["detail"].endswith("answers cannot be stored just now")
        # It is read where the answer said it is, and not computed again, meanwhile too.
        assert client.get(answer.headers["Location"]).json() == answer.json()
        assert client.post("/v1/designs", json=DESIGN).status_code == 200
        assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 200
    listed = client.get("/v1/designs").json()["items"]
    assert [item["id"] for item in listed] == [answer.json()["id"]]


@pytest.mark.slow
def test_a_later_store_ends_what_readyz_says_and_stores_the_rest(client):
    engine = client.app.state.engine
    with full(engine, None):
        made = [client.post("/v1/topologies", json={"recipe": f"UniRing({n})"}) for n in (3, 4)]
        assert [answer.status_code for answer in made] == [201, 201]
    assert client.post("/v1/topologies", json=LATER).status_code == 201
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM topologies")).scalar() == 3
    assert client.get("/readyz").status_code == 200


@pytest.mark.slow
def test_an_answer_is_delivered_when_postgresql_goes_away_meanwhile(own_postgres, monkeypatch):
    engine = open_engine(own_postgres.url)
    migrate(engine)
    engine.dispose()
    keep = StoreServer.keep
    stopped = []

    def stopping(*answer):
        if not stopped:
            own_postgres.stop()
            stopped.append(True)
        return keep(*answer)

    app = create_app(Settings(database_url=own_postgres.url))
    with TestClient(app, base_url="http://localhost") as client:
        monkeypatch.setattr(StoreServer, "keep", stopping)
        answer = client.post("/v1/designs", json=DESIGN)
        assert stopped and answer.status_code == 201
        assert client.get("/readyz").status_code == 503
        assert client.get(answer.headers["Location"]).json() == answer.json()
        own_postgres.start()
        assert client.get("/readyz").status_code == 200
        listed = client.get("/v1/designs").json()["items"]
        assert [item["id"] for item in listed] == [answer.json()["id"]]
        schedule = answer.json()["best"]["schedule"]["id"]
        assert client.get(f"/v1/schedules/{schedule}").status_code == 200


def pending(name, size):
    return Pending(Artefact("cost", name, b"x" * size, "", "", {}, fresh=True), {})


def test_so_much_is_held_and_the_newest_always():
    unsaved = Unsaved(most=10)
    for name, size in (("a", 4), ("b", 4), ("c", 4)):
        unsaved.hold(pending(name, size))
    assert [one.artefact.id for one in unsaved.all()] == ["b", "c"]
    unsaved.hold(pending("d", 100))
    assert [one.artefact.id for one in unsaved.all()] == ["d"]
    assert unsaved.get("d").fresh is False
    assert unsaved.get("a") is None
