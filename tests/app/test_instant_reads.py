"""Small stored documents are read on the event loop, where this takes no lock."""

import sqlite3
from contextlib import closing

import pytest

from topoloom.app.api.request_dispatcher import FairThreads
from topoloom.app.store.artifacts import Computed, key
from topoloom.app.store.database import migrate, open_engine
from topoloom.app.store.document_store import Store
from topoloom.app.store.owners import OwnerRules

DESIGN = {"nodes": 6, "degree": 2, "collective": "allgather", "bytes": "1MB"}
ID = key("design", {"nodes": 6})


@pytest.fixture
def engine(settings):
    engine = open_engine(settings.database_url)
    migrate(engine)
    yield engine
    engine.dispose()


def kept(store):
    return store.keep("design", {"nodes": 6}, ID, Computed.json({"id": ID}, {}))


def test_a_stored_answer_needs_no_thread(client, monkeypatch):
    made = client.post("/v1/designs", json=DESIGN)

    async def refused(*given):
        raise AssertionError("a thread")

    monkeypatch.setattr(FairThreads, "run", refused)
    again = client.post("/v1/designs", json=DESIGN)
    assert (again.status_code, again.json()) == (200, made.json())
    assert client.get(made.headers["Location"]).json() == made.json()


@pytest.mark.parametrize("is_private", [True, False])
def test_an_owner_sees_at_once_what_the_owner_sees(engine, is_private):
    store = Store(engine, OwnerRules(private=is_private))
    ann, bob, operator = (store.on_behalf_of(owner) for owner in ("key:ann", "key:bob", "admin"))
    document = kept(ann)
    for one in (ann, bob, operator):
        found = one.seen_at_once("design", ID)
        assert found == one.get("design", ID)
        assert (found is None) == (is_private and one is bob)
        assert found is None or found.content == document.content
    assert ann.seen_at_once("design", "0" * 64) is None


def test_a_damaged_document_is_not_seen_at_once(engine):
    store = Store(engine)
    kept(store)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE designs SET document = x'00'")
    assert store.seen_at_once("design", ID) is None


def test_a_read_that_must_wait_sees_nothing_at_once(engine, settings):
    store = Store(engine)
    kept(store)
    engine.dispose()
    with closing(sqlite3.connect(settings.database_url.removeprefix("sqlite:///"))) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("UPDATE designs SET kernel_version = kernel_version")
        assert store.seen_at_once("design", ID) is None
        other.rollback()
    assert store.seen_at_once("design", ID) is not None


def test_a_database_in_memory_is_read_by_its_one_connection():
    engine = open_engine("sqlite://")
    migrate(engine)
    store = Store(engine)
    kept(store)
    assert store.seen_at_once("design", ID) is None
    assert store.get("design", ID) is not None
    engine.dispose()
