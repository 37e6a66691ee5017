"""A request waits once for the locks of another process; reads need no lock."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial

import pytest
from sqlalchemy import create_engine, event, text
from sqlalchemy.exc import OperationalError, TimeoutError

from tests.app.jobs.work import until
from tests.app.test_owners import serve as serve
from topoloom.app.config import Settings
from topoloom.app.jobs.worker_pool.claims import Claims
from topoloom.app.jobs.worker_pool.store_proxy import StoreServer
from topoloom.app.observability.logs import request_id
from topoloom.app.store import lock_waits
from topoloom.app.store.artifacts import Computed, key
from topoloom.app.store.database import migrate, open_engine
from topoloom.app.store.document_store import Store
from topoloom.app.store.index_metadata import Facts
from topoloom.app.store.lock_waits import LEAST_SECONDS, LIMIT, BoundedPool, share_one_bound
from topoloom.app.store.tables import Base

DESIGN = {"nodes": 6, "degree": 2, "collective": "allgather", "bytes": "1MB"}
WRITERS = 20
"""Requests that wait to write."""


@contextmanager
def locked(settings):
    """Let another process write all tables for the duration of this block."""
    engine = create_engine(settings.database_url)
    with engine.connect() as other:
        if engine.dialect.name == "sqlite":
            other.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            tables = ", ".join(Base.metadata.tables)
            other.exec_driver_sql(f"LOCK TABLE {tables} IN EXCLUSIVE MODE")
        yield
    engine.dispose()


@contextmanager
def failed_waits(engine):
    """Yield the limits of the waits of requests that fail in this block, in seconds."""
    waits = []

    def note(context):
        if request_id() and context.connection is not None:
            waits.append(context.connection.info[LIMIT])

    event.listen(engine, "handle_error", note)
    yield waits
    event.remove(engine, "handle_error", note)


@pytest.fixture
def patient(monkeypatch):
    """Only a request's own waits shorten its waits, not those of other requests."""
    monkeypatch.setattr(lock_waits, "LOCK_SECONDS", 0.5)
    monkeypatch.setattr(lock_waits, "LOCKED_SECONDS", 0.5)


@pytest.mark.slow
def test_a_cold_answer_waits_for_locks_up_to_one_bound(client, settings, patient):
    with locked(settings), failed_waits(client.app.state.engine) as waits:
        answer = client.post("/v1/designs", json=DESIGN)
        assert answer.status_code == 201
        assert client.get(answer.headers["Location"]).status_code == 200
    assert len(waits) > 2
    assert sum(waits) <= 0.5 + len(waits) * LEAST_SECONDS
    assert client.get("/readyz").status_code == 200


def test_a_request_for_a_job_waits_for_locks_up_to_one_bound(client, settings, patient):
    with locked(settings), failed_waits(client.app.state.engine) as waits:
        refused = client.post("/v1/designs", json=DESIGN, headers={"Prefer": "respond-async"})
        assert refused.status_code == 503 and refused.headers["Retry-After"]
    assert sum(waits) <= 0.5 + len(waits) * LEAST_SECONDS


def refused_writes(engine, begin=lambda: None):
    """Return the limits of the waits of three transactions that do not get a lock."""
    begin()
    limits = []
    for _ in range(3):
        with engine.connect() as connection:
            limits.append(connection.info[LIMIT])
            with pytest.raises(OperationalError):
                connection.execute(text("UPDATE topologies SET name = ''"))
    return limits


@pytest.mark.one_in(2)
def test_the_transactions_of_a_request_share_one_bound(database_url, patient):
    engine = open_engine(database_url)
    migrate(engine)
    with locked(Settings(database_url=database_url)):
        assert refused_writes(engine) == [0.5, 0.5, 0.5]
        of_request = copy_context().run(refused_writes, engine, share_one_bound)
        assert of_request[0] == 0.5 and sum(of_request) <= 0.5 + 2 * LEAST_SECONDS
    engine.dispose()


def test_a_job_that_stores_a_document_waits_for_locks_up_to_one_bound(settings, patient):
    engine, waits = open_engine(settings.database_url), []
    migrate(engine)
    event.listen(
        engine, "handle_error", lambda context: waits.append(context.connection.info[LIMIT])
    )
    asked, claims = {"nodes": 6}, Claims(engine)
    server = StoreServer(Store(engine), claims, lambda: None)
    assert server.begin("design", key("design", asked)) is None
    with locked(settings):
        document = Computed.json({"id": key("design", asked)}, {})
        server.keep("design", asked, key("design", asked), document, Facts())
    assert len(waits) == 2, "the document, and the end of its claim"
    assert sum(waits) <= 0.5 + LEAST_SECONDS
    claims.close()
    engine.dispose()


def test_waits_for_a_connection_count_as_waits_of_the_request(patient):
    engine = create_engine("sqlite://", poolclass=BoundedPool, pool_size=1, max_overflow=0)

    def limits():
        share_one_bound()
        yield engine.pool._timeout
        with pytest.raises(TimeoutError):
            engine.connect()
        yield engine.pool._timeout

    with engine.connect():
        assert copy_context().run(lambda: [*limits()]) == [0.5, LEAST_SECONDS]
        assert engine.pool._timeout == 0.5
    engine.dispose()


def test_requests_for_jobs_take_turns_at_an_embedded_database(client, settings, monkeypatch):
    monkeypatch.setattr(lock_waits, "LOCK_SECONDS", 300)
    pool = client.app.state.engine.pool
    asked = [DESIGN | {"nodes": 7 + number} for number in range(5)]
    with ThreadPoolExecutor(len(asked)) as threads:
        with locked(settings):
            post = partial(client.post, "/v1/designs", headers={"Prefer": "respond-async"})
            waiting = [threads.submit(post, json=one) for one in asked]
            line = client.app.state.job_threads._turns._waiting
            until(lambda: sum(map(len, line.values())) == len(asked) - 1)
            assert pool.checkedout() <= 3, "one of them, the worker and the messenger"
        assert {one.result().status_code for one in waiting} == {202}


@pytest.mark.slow
def test_stored_answers_are_read_while_many_requests_wait_to_write(client, settings, monkeypatch):
    stored = client.post("/v1/designs", json=DESIGN)
    monkeypatch.setattr(lock_waits, "LOCK_SECONDS", 300)
    pool = client.app.state.engine.pool
    with ThreadPoolExecutor(WRITERS) as threads:
        with locked(settings):
            waiting = [
                threads.submit(
                    client.post,
                    "/v1/designs",
                    json=DESIGN | {"nodes": 7 + number},
                    headers={"Prefer": "respond-async"},
                )
                for number in range(WRITERS)
            ]
            until(lambda: pool.checkedout() >= 1)
            assert client.get(stored.headers["Location"]).status_code == 200
            assert client.post("/v1/designs", json=DESIGN).status_code == 200
            assert client.get("/v1/designs").json()["items"]
            assert not any(one.done() for one in waiting)
        assert {one.result().status_code for one in waiting} == {202}


@pytest.mark.slow
def test_a_wait_to_write_that_failed_delays_no_read(client, settings, patient, monkeypatch):
    stored = client.post("/v1/designs", json=DESIGN)
    monkeypatch.setattr("topoloom.app.store.write_behind.LONG", 0.1)
    monkeypatch.setattr("topoloom.app.store.write_behind.REST", 1000)
    with locked(settings):
        assert client.post("/v1/designs", json=DESIGN | {"nodes": 7}).status_code == 201
        again = client.post("/v1/designs", json=DESIGN)
    assert (again.status_code, again.json()) == (200, stored.json())


def test_another_owner_gets_a_known_answer_while_the_database_is_locked(serve, patient):
    service = serve()
    made = service.by("ann")("POST", "/v1/designs", json=DESIGN)
    settings = service.client.app.state.context.settings
    bob = service.by("bob")
    assert bob("GET", made.headers["Location"]).status_code == 404
    with locked(settings):
        known = bob("POST", "/v1/designs", json=DESIGN)
        assert (known.status_code, known.json()) == (200, made.json())
        assert bob("GET", made.headers["Location"]).status_code == 200
    assert service.client.get("/readyz").status_code == 200
    assert service.client.app.state.store.settled() is None
    assert not service.client.app.state.store._unsaved.all()
    assert bob("GET", made.headers["Location"]).status_code == 200
