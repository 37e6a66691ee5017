"""Backup and restore of an embedded database while the service runs.

SQLite copies a database page by page under its own locks (``sqlite3_backup``), so that the copy
is one consistent state.  PostgreSQL has ``pg_dump`` and ``pg_restore`` for this
(docs/how-to/run-the-service.md).
"""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from sqlalchemy.engine import make_url

from topoloom.app.config import HEAD
from topoloom.app.store.database import DatabaseNotReady, is_embedded

_PAGES = 4096
"""Pages copied at a time; writers run between two batches."""


def back_up(url: str, copy: Path) -> int:
    """Copy the database of a URL to a new file; return its size in bytes.

    The file appears only after it is complete, checked and on the disk.

    Raises:
        DatabaseNotReady: The database is not a file, the database is unreadable, or the copy is not
            writable.
    """
    source = _file_of(url)
    if not source.is_file():
        raise DatabaseNotReady(f"database_url: {source}: no such file")
    if copy.exists():
        raise DatabaseNotReady(f"{copy}: exists; a backup replaces no file")
    part = copy.with_name(f"{copy.name}.part")
    try:
        part.unlink(missing_ok=True)
        _copy(source, part)
        _make_one_file(part)
        _require_ours(part)
        _sync(part)
        part.rename(copy)
        _sync(copy.parent)
    except (OSError, sqlite3.Error) as error:
        raise DatabaseNotReady(f"{copy}: {error}") from None
    finally:
        part.unlink(missing_ok=True)
    return copy.stat().st_size


def restore(url: str, copy: Path, *, replace: bool = False) -> None:
    """Replace the database of a URL with a copy.

    Open connections see the copy from then on.  The next opening migrates a copy of an earlier
    version.

    Raises:
        DatabaseNotReady: The copy is not a database, is damaged or is of a later version; or a
            database exists and ``replace`` is false.
    """
    target = _file_of(url)
    try:
        _require_ours(copy)
        if target.is_file() and not replace:
            raise DatabaseNotReady(f"{target}: is there already; --replace to lose what it holds")
        target.parent.mkdir(parents=True, exist_ok=True)
        _copy(copy, target)
        _sync(target)
    except (OSError, sqlite3.Error) as error:
        raise DatabaseNotReady(f"{copy}: {error}") from None


def _file_of(url: str) -> Path:
    parsed = make_url(url)
    if not is_embedded(parsed):
        raise DatabaseNotReady(
            "database_url: must be an SQLite file here; PostgreSQL has pg_dump and pg_restore"
        )
    if not parsed.database or parsed.database == ":memory:":
        raise DatabaseNotReady("database_url: must be a file; what is in memory is not kept")
    return Path(parsed.database)


def _copy(source: Path, target: Path) -> None:
    with closing(_read(source)) as read, closing(sqlite3.connect(target, timeout=30)) as write:
        read.backup(write, pages=_PAGES)


def _make_one_file(file: Path) -> None:
    """Turn off the write-ahead log, so that the database is one file."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")


def _require_ours(file: Path) -> None:
    """Raise unless a file is a complete Topoloom database of this or an earlier version."""
    with closing(_read(file)) as connection:
        try:
            found = connection.execute("PRAGMA quick_check").fetchone()[0]
            revision = connection.execute("SELECT version_num FROM alembic_version").fetchone()[0]
        except (sqlite3.Error, TypeError) as error:
            raise DatabaseNotReady(f"{file}: is no database of Topoloom: {error}") from None
    if found != "ok":
        raise DatabaseNotReady(f"{file}: is damaged: {found}")
    if revision > HEAD:
        raise DatabaseNotReady(f"{file}: is of revision {revision}, newer than {HEAD} here")


def _read(file: Path) -> sqlite3.Connection:
    if not file.is_file():
        raise DatabaseNotReady(f"{file}: no such file")
    return sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True, timeout=30)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
