"""Read stored documents of an embedded database with the standard library alone; its tables.

Loading SQLAlchemy takes longer than a cached answer on the command line (0.33 s of CPU against
0.26 s).  This module only reads by id, and only files at the newest revision;
`app.store.embedded_store` also writes.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from topoloom.app.config import HEAD
from topoloom.app.store.artifacts import KINDS, Artefact
from topoloom.app.store.row_mapping import StoredRow, verified_document

# The timeout comes first: the switch to WAL needs a lock that another process may hold.
# NORMAL: commits survive the process.  A power failure may lose the last answers, which can be
# computed again; the file stays consistent.
PRAGMAS = ("busy_timeout=10000", "journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON")
"""Pragmas of every connection that may write."""

SCHEMA = Path(__file__).parent / "tables" / "schema.sql"
"""Statements that make the tables at the newest revision, generated from `app.store.tables`."""

_PREFIX = "sqlite:///"


def new_tables() -> list[str]:
    """Return the statements that make an empty database one of the newest revision."""
    revision = f"INSERT INTO alembic_version (version_num) VALUES ('{HEAD}')"
    return [*SCHEMA.read_text("utf-8").split(";\n"), revision]


class Embedded:
    """The documents of an SQLite file; see `open_embedded`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def get(self, kind: str, identity: str) -> Artefact | None:
        """Return the stored document, or None; the same as `app.store.document_store.Store.get`.

        A damaged document counts as missing; its recomputation repairs it.
        """
        columns = ", ".join(StoredRow._fields)
        query = f"SELECT {columns} FROM {KINDS[kind]} WHERE id = ?"
        row = self._connection.execute(query, (identity,)).fetchone()
        return None if row is None else verified_document(kind, StoredRow(*row))

    def topology_names(self, limit: int) -> list[str]:
        """Return the names of the newest topologies, each once."""
        query = f"SELECT summary FROM {KINDS['topology']} ORDER BY created_at DESC LIMIT ?"
        rows = self._connection.execute(query, (limit,))
        return list(dict.fromkeys(json.loads(summary)["name"] for (summary,) in rows))


def path_of(url: str) -> str | None:
    """Return the path in the URL of an SQLite file without options; None for other URLs.

    >>> path_of("sqlite:///here.db"), path_of("sqlite:///:memory:"), path_of("sqlite:///a.db?b=c")
    ('here.db', None, None)
    """
    path = url.removeprefix(_PREFIX)
    return None if path in (url, "", ":memory:") or "?" in path else path


@contextmanager
def open_embedded(url: str) -> Iterator[Embedded | None]:
    """Yield a reader of the database of a URL; None unless it is a file at the newest revision."""
    path = path_of(url)
    if path is None or not Path(path).is_file():
        yield None
        return
    connection = None
    try:
        connection = sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True, timeout=10)
        found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.Error:
        found = None
    try:
        yield Embedded(connection) if connection is not None and found == (HEAD,) else None
    finally:
        if connection is not None:
            connection.close()
