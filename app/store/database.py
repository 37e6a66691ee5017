"""Open the database, and migrate its tables to the newest revision.

Opening an embedded SQLite database also migrates it.  Only ``topoloom db migrate`` migrates a
PostgreSQL database, which has an operator.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.pool import ConnectionPoolEntry, StaticPool

from topoloom.app.config import HEAD
from topoloom.app.extras import MissingExtra, require_extra
from topoloom.app.store.embedded_reader import PRAGMAS, new_tables
from topoloom.app.store.lock_waits import LIMIT, BoundedPool, limit_lock_waits

CONNECT_SECONDS = 5
"""Timeout of a connection to PostgreSQL."""

STATEMENT_SECONDS = 60
"""Timeout of a statement on PostgreSQL; the largest document takes a few seconds."""

MIGRATION_SECONDS = 60
"""Longest wait for the migration of another process on SQLite."""

_MIGRATION_LOCK = 7_063_411


class DatabaseNotReady(RuntimeError):
    """The database cannot be opened, reached or used; the message says what to do."""


def open_engine(url: str) -> Engine:
    """Return an engine for the URL; create the folder of an SQLite file.

    Errors of the engine name statements without their values, which may be secrets.

    Raises:
        DatabaseNotReady: The URL does not parse, its driver is missing, or the folder cannot be
            created.
    """
    try:
        parsed = make_url(url)
        engine = _open_sqlite(parsed) if is_embedded(parsed) else _open_server(parsed)
    except MissingExtra as error:
        raise DatabaseNotReady(f"database_url: {error}") from None
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError) as error:
        raise DatabaseNotReady(f"database_url: cannot be used: {first_line(error)}") from None
    limit_lock_waits(engine)
    if not is_in_memory(parsed):
        _close_late_connections(engine)
    return engine


def open_database(url: str) -> Engine:
    """Return an engine whose tables are at the newest revision.

    Migrates an embedded database; any other database must be at the newest revision.
    """
    engine = open_engine(url)
    try:
        if current_revision(engine) != HEAD:
            if is_embedded(engine.url):
                _make_or_migrate(engine)
            else:
                require_head(engine)
    except BaseException:
        engine.dispose()
        raise
    return engine


def _make_or_migrate(engine: Engine) -> None:
    """Create the newest tables in an empty database; migrate any other database.

    Migrations would delay the first command by half a second, mostly to import alembic.
    """
    with _reached(engine) as connection:
        _lock(connection)
        empty = not inspect(connection).get_table_names()
        if empty:
            for statement in new_tables():
                connection.exec_driver_sql(statement)
        connection.commit()
    if not empty:
        migrate(engine)


def is_embedded(url: URL) -> bool:
    """Return whether the database is SQLite, in a file or in memory."""
    return url.get_backend_name() == "sqlite"


def is_in_memory(url: URL) -> bool:
    """Return whether the database lives in memory, on one connection for all threads."""
    return is_embedded(url) and url.database in (None, "", ":memory:")


def current_revision(engine: Engine) -> str | None:
    """Return the revision of the tables; None without tables.

    Raises:
        DatabaseNotReady: The database cannot be reached.
    """
    with _reached(engine) as connection:
        return _revision(connection)


def require_head(engine: Engine) -> None:
    """Raise `DatabaseNotReady` unless the tables are at the newest revision."""
    revision = current_revision(engine)
    if revision != HEAD:
        found = f"at revision {revision}" if revision else "without tables"
        raise DatabaseNotReady(
            f"database_url: the database is {found}, not at {HEAD}; run `topoloom db migrate`"
        )


def migrate(engine: Engine, revision: str = "head") -> None:
    """Migrate the tables up or down to a revision; safe in concurrent processes."""
    from alembic import command
    from alembic.util import CommandError

    with _reached(engine) as connection:
        _lock(connection)
        config = _alembic_config()
        config.attributes["connection"] = connection
        down = revision == "base" or revision < (_revision(connection) or "")
        try:
            (command.downgrade if down else command.upgrade)(config, revision)
        except CommandError as error:
            raise DatabaseNotReady(f"revision: {first_line(error)}") from None
        connection.commit()


def _alembic_config() -> Any:
    from alembic.config import Config

    from topoloom import migrations

    config = Config()
    config.set_main_option("script_location", migrations.__path__[0])
    config.set_main_option("path_separator", "os")
    return config


def _lock(connection: Connection) -> None:
    """Take the migration lock, which ends with the transaction."""
    if is_embedded(connection.engine.url):
        connection.exec_driver_sql(f"PRAGMA busy_timeout = {MIGRATION_SECONDS * 1000}")
        connection.info.pop(LIMIT, None)
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    else:
        # No timeout: a migration may rewrite a large table.
        connection.execute(text("SET LOCAL statement_timeout = 0"))
        connection.execute(text("SET LOCAL lock_timeout = 0"))
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


@contextmanager
def _reached(engine: Engine) -> Iterator[Connection]:
    try:
        with engine.connect() as connection:
            yield connection
    except DBAPIError as error:
        raise DatabaseNotReady(
            f"database_url: {redacted_url(engine.url)} cannot be used: "
            f"{first_line(error.orig or error)}"
        ) from error


def redacted_url(url: URL) -> str:
    """Return the URL of a database without user and password.

    >>> redacted_url(make_url("postgresql+psycopg://me:secret@db/topoloom"))
    'postgresql+psycopg://db/topoloom'
    """
    return url._replace(username=None, password=None).render_as_string()


def _with_driver(url: URL) -> URL:
    """Return the URL with psycopg, the installed driver, for ``postgresql://``."""
    if url.drivername in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    return url


def _open_server(url: URL) -> Engine:
    """Return an engine for a database server, with timeouts."""
    url = _with_driver(url)
    if url.get_driver_name() == "psycopg":
        require_extra("psycopg", "postgres")
    return create_engine(
        url,
        pool_pre_ping=True,
        poolclass=BoundedPool,
        connect_args=connect_arguments(url),
        hide_parameters=True,
    )


def connect_arguments(url: URL) -> dict[str, Any]:
    """Return the timeouts of connections to a database server, as arguments of the driver."""
    if url.get_backend_name() != "postgresql":
        return {}
    asked = url.query.get("options", "")
    limits: dict[str, Any] = {
        "options": f"{asked} -c statement_timeout={STATEMENT_SECONDS * 1000}".strip()
    }
    if "connect_timeout" not in url.query:
        limits["connect_timeout"] = CONNECT_SECONDS
    return limits


def _close_late_connections(engine: Engine) -> None:
    """Close the connections that threads return after the engine is disposed of.

    SQLAlchemy puts such a connection into the former pool, which nobody empties.
    """
    generation = 0

    def disposed(_: Engine) -> None:
        nonlocal generation
        generation += 1

    def connected(_: object, record: ConnectionPoolEntry) -> None:
        record.info["generation"] = generation

    def returned(connection: object, record: ConnectionPoolEntry) -> None:
        if connection is not None and record.info["generation"] != generation:
            record.invalidate()

    event.listen(engine, "engine_disposed", disposed)
    event.listen(engine, "connect", connected)
    event.listen(engine, "checkin", returned)


def _open_sqlite(url: URL) -> Engine:
    if is_in_memory(url):
        # One connection for all threads: a second connection would see an empty database.
        threads = {"check_same_thread": False}
        engine = create_engine(
            url, poolclass=StaticPool, connect_args=threads, hide_parameters=True
        )
    else:
        folder = Path(url.database or "").parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DatabaseNotReady(f"database_url: {folder}: {error.strerror}") from None
        # No limit of connections: threads that wait to write leave reads a connection.
        engine = create_engine(url, max_overflow=-1, hide_parameters=True)
    event.listen(engine, "connect", _prepare_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    for pragma in PRAGMAS:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def first_line(error: BaseException) -> str:
    """Return the first line of an error; its type where it has no text."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
