import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text
from sqlalchemy.exc import OperationalError

from topoloom.app import extras
from topoloom.app.store import lock_waits
from topoloom.app.store.database import (
    HEAD,
    DatabaseNotReady,
    _alembic_config,
    current_revision,
    migrate,
    open_database,
    open_engine,
    require_head,
)
from topoloom.app.store.tables import TABLES, Base


def test_the_head_named_in_the_code_is_the_newest_migration():
    assert ScriptDirectory.from_config(_alembic_config()).get_heads() == [HEAD]


def test_migrations_make_exactly_the_tables_of_the_models(database_url):
    engine = open_engine(database_url)
    migrate(engine)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
    engine.dispose()


@pytest.mark.slow
def test_migrations_go_up_and_down_and_up_again(database_url):
    engine = open_engine(database_url)
    assert current_revision(engine) is None
    migrate(engine)
    assert current_revision(engine) == HEAD
    migrate(engine, "base")
    assert current_revision(engine) is None
    assert set(inspect(engine).get_table_names()) == {"alembic_version"}
    migrate(engine)
    names = {table.__tablename__ for table in TABLES.values()}
    assert names < set(inspect(engine).get_table_names())
    engine.dispose()


def test_migrating_what_is_at_head_changes_nothing(database_url):
    engine = open_engine(database_url)
    migrate(engine)
    migrate(engine)
    require_head(engine)
    engine.dispose()


@pytest.mark.slow
@pytest.mark.one_in(2)
def test_many_processes_may_migrate_at_the_same_time(database_url):
    code = (
        "import sys; from topoloom.app.store.database import *;"
        "e = open_engine(sys.argv[1]); migrate(e); e.dispose()"
    )
    command = [sys.executable, "-c", code, database_url]
    running = [subprocess.Popen(command) for _ in range(3)]
    assert [process.wait(timeout=120) for process in running] == [0, 0, 0]
    engine = open_engine(database_url)
    require_head(engine)
    engine.dispose()


def test_an_embedded_database_is_migrated_when_opened(tmp_path):
    engine = open_database(f"sqlite:///{tmp_path / 'new' / 'folder' / 'x.db'}")
    require_head(engine)
    with engine.connect() as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
        assert connection.execute(text("PRAGMA foreign_keys")).scalar() == 1
        assert connection.execute(text("PRAGMA busy_timeout")).scalar() == 5_000
    engine.dispose()


def test_a_wait_for_a_lock_that_failed_makes_the_next_waits_short(database_url, monkeypatch):
    monkeypatch.setattr(lock_waits, "LOCK_SECONDS", 0.3)
    monkeypatch.setattr(lock_waits, "LOCKED_SECONDS", 0.1)
    monkeypatch.setattr(lock_waits, "LOCKED_FOR", 1000)
    engine = open_engine(database_url)
    migrate(engine)
    embedded = engine.dialect.name == "sqlite"
    limit = text("PRAGMA busy_timeout" if embedded else "SHOW lock_timeout")
    write = text("UPDATE topologies SET name = ''")
    with engine.connect() as holder, engine.connect() as other:
        assert other.execute(limit).scalar() in (300, "300ms")
        lock = "BEGIN EXCLUSIVE" if embedded else "LOCK TABLE topologies IN EXCLUSIVE MODE"
        holder.exec_driver_sql(lock)
        with pytest.raises(OperationalError):
            other.execute(write)
        other.rollback()
        # Reads go on.
        assert other.execute(text("SELECT count(*) FROM topologies")).scalar() == 0
    with engine.begin() as connection:
        assert connection.execute(limit).scalar() in (100, "100ms")
        connection.execute(write)
    monkeypatch.setattr(lock_waits.time, "monotonic", lambda: float("inf"))
    with engine.connect() as connection:
        assert connection.execute(limit).scalar() in (300, "300ms")
    engine.dispose()


def described(engine):
    """Everything that the database itself tells of its tables, in no order of columns."""
    found = inspect(engine)
    parts = (
        "get_columns",
        "get_pk_constraint",
        "get_indexes",
        "get_unique_constraints",
        "get_foreign_keys",
        "get_check_constraints",
    )
    return {
        (table, part): sorted(map(plain, rows if isinstance(rows, list) else [rows]))
        for table in found.get_table_names()
        for part in parts
        for rows in [getattr(found, part)(table)]
    }


def plain(row):
    """Return a row as text; the condition of an index as its SQL."""
    options = {name: str(value) for name, value in row.get("dialect_options", {}).items()}
    return str({**row, "dialect_options": options})


def test_a_new_embedded_database_has_the_tables_that_migrations_make(tmp_path):
    made = open_database(f"sqlite:///{tmp_path / 'made.db'}")
    migrated = open_engine(f"sqlite:///{tmp_path / 'migrated.db'}")
    migrate(migrated)
    assert described(made) == described(migrated)
    assert current_revision(made) == HEAD
    for engine in (made, migrated):
        engine.dispose()


@pytest.mark.slow
def test_a_new_embedded_database_can_be_migrated_down_and_up(tmp_path):
    engine = open_database(f"sqlite:///{tmp_path / 'x.db'}")
    before = described(engine)
    migrate(engine, "base")
    assert set(inspect(engine).get_table_names()) == {"alembic_version"}
    engine.dispose()
    engine = open_database(f"sqlite:///{tmp_path / 'x.db'}")
    assert described(engine) == before
    engine.dispose()


@pytest.mark.slow
def test_many_processes_may_open_a_new_embedded_database_at_the_same_time(tmp_path):
    url = f"sqlite:///{tmp_path / 'x.db'}"
    code = (
        "import sys; from topoloom.app.store.database import *;"
        "e = open_database(sys.argv[1]); require_head(e)"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, url]) for _ in range(4)]
    assert [process.wait(timeout=120) for process in running] == [0, 0, 0, 0]


def test_a_database_in_memory_is_one_database_for_all_threads():
    engine = open_database("sqlite://")
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(current_revision, [engine] * 8)) == {HEAD}
    engine.dispose()


def test_a_postgresql_database_is_not_migrated_behind_its_owners_back(postgres_url):
    with pytest.raises(DatabaseNotReady, match="run `topoloom db migrate`"):
        open_database(postgres_url)
    engine = open_engine(postgres_url)
    assert inspect(engine).get_table_names() == []
    migrate(engine)
    engine.dispose()
    open_database(postgres_url).dispose()


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "oracle+nothing://x",
        "postgresql://nobody@127.0.0.1:1/none",
        "sqlite:////proc/none/x.db",
    ],
)
def test_an_unusable_database_is_one_clear_error(url):
    with pytest.raises(DatabaseNotReady, match=r"^database_url: ") as caught:
        open_database(url)
    assert "\n" not in str(caught.value)


def test_a_missing_driver_of_postgresql_is_named_with_what_installs_it(monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    install = re.escape("database_url: needs psycopg: pip install 'topoloom[postgres]'")
    with pytest.raises(DatabaseNotReady, match=install):
        open_engine("postgresql://localhost/topoloom")


def test_a_password_is_never_shown():
    with pytest.raises(DatabaseNotReady) as caught:
        open_database("postgresql://me:secret@127.0.0.1:1/none")
    assert "secret" not in str(caught.value)


def test_a_file_that_is_no_database_is_one_clear_error(tmp_path: Path):
    (tmp_path / "x.db").write_text("this is not a database, it is a text file" * 100)
    with pytest.raises(DatabaseNotReady, match="not a database"):
        open_database(f"sqlite:///{tmp_path / 'x.db'}")


def test_a_connection_that_is_returned_after_the_end_is_closed(database_url):
    engine = open_engine(database_url)
    with engine.connect() as late:
        late.execute(text("SELECT 1"))
        driver = late.connection.driver_connection
        engine.dispose()
    with pytest.raises(Exception, match=r"(?i)closed"):
        driver.execute("SELECT 1")
    with engine.connect() as again:
        assert again.scalar(text("SELECT 1")) == 1
        kept = again.connection.driver_connection
    with engine.connect() as again:
        assert again.connection.driver_connection is kept
    engine.dispose()
