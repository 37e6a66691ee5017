"""Small stored documents are read on the event loop, where this takes no lock and no thread."""

import asyncio
import sqlite3
import time
from contextlib import closing, suppress

import pytest

from tests.app.conftest import migrated
from tests.app.jobs.work import until
from topoloom.app.api.request_dispatcher import FairThreads
from topoloom.app.store.artifacts import Computed, key
from topoloom.app.store.database import migrate, open_engine
from topoloom.app.store.document_store import Store
from topoloom.app.store.owners import OwnerRules

DESIGN = {"nodes": 6, "degree": 2, "collective": "allgather", "bytes": "1MB"}
ID = key("design", {"nodes": 6})


def kept(store):
    return store.keep("design", {"nodes": 6}, ID, Computed.json({"id": ID}, {}))


async def when_open(store):
    """Wait until a connection to a server is open; the first read begins to open it."""
    await store.seen_at_once("design", ID)
    await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))


def seen(store, *views, identity=ID):
    """Return what each view sees at once, or the store if there is none, and close."""

    async def read():
        await when_open(store)
        return [await view.seen_at_once("design", identity) for view in views or [store]]

    return asyncio.run(read())


def test_a_stored_answer_needs_no_thread(client, monkeypatch):
    made = client.post("/v1/designs", json=DESIGN)

    async def refused(*given):
        raise AssertionError("a thread")

    def answered():
        # The worker may still hold the file for a moment; then a thread waits for it.
        with suppress(AssertionError):
            return client.post("/v1/designs", json=DESIGN)

    monkeypatch.setattr(FairThreads, "run", refused)
    again = until(answered)
    assert (again.status_code, again.json()) == (200, made.json())
    assert client.get(made.headers["Location"]).json() == made.json()


@pytest.mark.parametrize("is_private", [True, False])
def test_an_owner_sees_at_once_what_the_owner_sees(engine, is_private):
    store = Store(engine, OwnerRules(private=is_private))
    ann, bob, operator = (store.on_behalf_of(owner) for owner in ("key:ann", "key:bob", "admin"))
    document = kept(ann)
    views = (ann, bob, operator)
    for one, found in zip(views, seen(store, *views), strict=True):
        assert found == one.get("design", ID)
        assert (found is None) == (is_private and one is bob)
        assert found is None or found.content == document.content
    assert seen(ann, identity="0" * 64) == [None]


def test_a_damaged_document_is_not_seen_at_once(engine):
    store = Store(engine)
    kept(store)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE designs SET digest = 'x'")
    assert seen(store) == [None]


def test_a_file_that_another_process_holds_shows_nothing_at_once(settings):
    engine = open_engine(migrated(settings.database_url))
    store = Store(engine)
    kept(store)
    engine.dispose()
    with closing(sqlite3.connect(settings.database_url.removeprefix("sqlite:///"))) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("UPDATE designs SET kernel_version = kernel_version")
        assert seen(store) == [None]
        other.rollback()
    assert seen(store) != [None]
    engine.dispose()


@pytest.mark.slow
def test_a_table_that_another_session_holds_shows_nothing_after_a_second(postgres_url):
    engine = open_engine(migrated(postgres_url))
    store = Store(engine)
    kept(store)

    async def read():
        await when_open(store)
        assert await store.seen_at_once("design", ID) is not None
        with engine.begin() as other:
            other.exec_driver_sql("LOCK TABLE designs")
            start = time.monotonic()
            both = await asyncio.gather(*(store.seen_at_once("design", ID) for _ in range(2)))
            assert both == [None, None]
            assert 0.9 < time.monotonic() - start < 30

    asyncio.run(read())
    engine.dispose()


@pytest.mark.slow
def test_reads_go_on_after_a_restart_of_the_server_which_is_logged_once(own_postgres, caplog):
    engine = open_engine(migrated(own_postgres.url))
    store = Store(engine)
    kept(store)

    async def read():
        await when_open(store)
        assert await store.seen_at_once("design", ID) is not None
        own_postgres.stop()
        for _ in range(30):
            assert await store.seen_at_once("design", ID) is None
            await asyncio.sleep(0.1)
        own_postgres.start()
        async with asyncio.timeout(60):
            while await store.seen_at_once("design", ID) is None:
                await asyncio.sleep(0.05)

    with caplog.at_level("INFO", "topoloom.app.store.server_reads"):
        asyncio.run(read())
    said = [record.message.partition(":")[0] for record in caplog.records]
    assert said == [
        "a read on the event loop failed",
        "no connection for reads on the event loop",
        "reads on the event loop continue",
    ]
    engine.dispose()


def test_a_database_in_memory_is_read_by_its_one_connection():
    engine = open_engine("sqlite://")
    migrate(engine)
    store = Store(engine)
    kept(store)
    assert seen(store) == [None]
    assert store.get("design", ID) is not None
    engine.dispose()
