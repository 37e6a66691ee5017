"""An SQLite file is written without SQLAlchemy as with it; what is not plain is left to it."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from topoloom.app.codegen import database_schema
from topoloom.app.services.open_context import open_context
from topoloom.app.store import lock_waits
from topoloom.app.store.artifacts import KINDS, Computed, key
from topoloom.app.store.database import open_database
from topoloom.app.store.document_store import Store
from topoloom.app.store.embedded_reader import SCHEMA
from topoloom.app.store.embedded_store import EmbeddedStore, opened_store

COMMANDS = (
    ("design", "--nodes", "12", "--degree", "4", "--collective", "allreduce", "--bytes", "1MB"),
    ("frontier", "--nodes", "64", "--degree", "4", "--max-steps", "4"),
    ("measure", "Kautz(2, 2)"),
    ("optimum", "dgx-a100-2", "--collective", "allgather"),
    ("schedule", "BiRing(5)", "--collective", "allgather"),
    ("topology", "mi300x-2", "--without-node", "0.gpu3"),
)
TIMES = {"created_at", "used_at"}
ANSWER = Computed.json({"a": 1}, {"nodes": 3})


def content(path):
    """Return all rows of a file by table, without the times at which they were written."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return {
            name: sorted(
                repr([(key, row[key]) for key in sorted(set(row.keys()) - TIMES)])
                for row in connection.execute(f"SELECT * FROM {name}")
            )
            for (name,) in tables.fetchall()
        }


@pytest.fixture
def plain(tmp_path):
    """A store of a new file."""
    url = f"sqlite:///{tmp_path / 'a.db'}"
    engine = open_database(url)
    store = opened_store(url, lambda: Store(engine))
    assert store is not None
    yield store
    store.close()
    engine.dispose()


def keep(store, number):
    asked = {"n": number}
    return store.keep("topology", asked, key("topology", asked), ANSWER)


def test_answers_are_stored_as_by_sqlalchemy(topoloom, settings, tmp_path, monkeypatch):
    other = open_database(f"sqlite:///{tmp_path / 'b.db'}")
    whole, inserted = Store(other), EmbeddedStore._inserted

    def both(store, *answer):
        whole.keep(*answer)
        return inserted(store, *answer)

    monkeypatch.setattr(EmbeddedStore, "_inserted", both)
    for command in COMMANDS:
        assert topoloom(*command).code == 0
    other.dispose()
    mine = content(settings.database_url.removeprefix("sqlite:///"))
    assert mine == content(tmp_path / "b.db")
    written = {name for name, rows in mine.items() if rows}
    assert written >= {"points", "families", "document_references", "document_owners"}
    assert len(written & set(KINDS.values())) >= 6


def test_the_file_of_statements_is_that_of_the_tables():
    assert SCHEMA.read_text("utf-8") == database_schema.schema_text()


def test_an_answer_that_is_stored_already_is_returned(plain):
    first = keep(plain, 1)
    again = keep(plain, 1)
    assert first.fresh and not again.fresh
    assert plain.get("topology", first.id) == plain.find("topology", first.id) == again


def test_a_rejected_answer_stays_in_memory_until_a_write_succeeds(plain, tmp_path, monkeypatch):
    monkeypatch.setattr(lock_waits, "LOCK_SECONDS", 0.1)
    with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        held = keep(plain, 1)
        assert plain.get("topology", held.id).content == ANSWER.content
        assert other.execute("SELECT count(*) FROM topologies").fetchone() == (0,)
        other.execute("ROLLBACK")
        keep(plain, 2)
        assert other.execute("SELECT count(*) FROM topologies").fetchone() == (2,)


def test_an_error_in_the_middle_stores_nothing(plain, tmp_path):
    with closing(sqlite3.connect(tmp_path / "a.db")) as other:
        other.execute("DROP TABLE document_owners")
        keep(plain, 1)
        assert other.execute("SELECT count(*) FROM topologies").fetchone() == (0,)


def test_many_threads_may_write_and_read(plain):
    with ThreadPoolExecutor(8) as pool:
        kept = list(pool.map(lambda number: keep(plain, number % 10), range(40)))
        found = list(pool.map(lambda one: plain.get("topology", one.id), kept))
    assert [one.id for one in found] == [one.id for one in kept]
    assert len({one.id for one in kept}) == 10


def test_many_may_open_a_new_file_at_the_same_time(tmp_path):
    url = f"sqlite:///{tmp_path / 'new' / 'a.db'}"

    def opened(number):
        store = opened_store(url, lambda: Store(open_database(url)))
        assert store is not None
        keep(store, number)
        store.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(opened, range(4)))
    assert len(content(tmp_path / "new" / "a.db")["topologies"]) == 4


@pytest.mark.parametrize("text", [b"no database", b""], ids=["another file", "empty file"])
def test_a_file_that_is_no_database_is_left_to_sqlalchemy(tmp_path, text):
    path = tmp_path / "a.db"
    path.write_bytes(text)
    store = opened_store(f"sqlite:///{path}", lambda: pytest.fail("must not load"))
    assert (store is None) == bool(text)
    if store is not None:
        store.close()


def test_a_file_of_another_revision_is_left_to_sqlalchemy(settings, tmp_path):
    with open_context(settings) as context:
        identity = keep(context.store, 1).id
    path = settings.database_url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0013'")
    assert opened_store(settings.database_url, lambda: pytest.fail("must not load")) is None
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0014'")
    with open_context(settings) as context:
        assert isinstance(context.store, EmbeddedStore)
        assert context.store.get("topology", identity) is not None
        assert context.whole_store.get("topology", identity) is not None
