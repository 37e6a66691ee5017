"""Stored documents of an embedded database, read with nothing but the standard library.

A question that was answered before is answered in a tenth of a second; loading SQLAlchemy
alone takes longer.  Only reading by id happens here, and only of a file whose tables are at
the newest revision; `app.store.embedded_writer` also writes, and for everything else there is
`app.store.document_store`.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from topoloom.app.config import HEAD
from topoloom.app.store.artifacts import KINDS, Artefact
from topoloom.app.store.integrity import StoredRow, unsealed

__all__ = ["PRAGMAS", "Embedded", "connected", "opened"]

# Waiting comes first: switching to WAL needs the lock that others may hold.
# NORMAL: what is committed outlives the process; a power failure may take the last answers,
# which are computed again, and leaves the file whole.
PRAGMAS = ("busy_timeout=10000", "journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON")
"""What every connection that may write begins with."""

_PREFIX = "sqlite:///"


class Embedded:
    """The documents of an SQLite file; see `opened`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def get(self, kind: str, identity: str) -> Artefact | None:
        """Return the stored document, or None; the same as `app.store.document_store.Store.get`.

        A damaged one counts as none: whoever computes answers also mends them.
        """
        columns = ", ".join(StoredRow._fields)
        query = f"SELECT {columns} FROM {KINDS[kind]} WHERE id = ?"
        row = self._connection.execute(query, (identity,)).fetchone()
        return None if row is None else unsealed(kind, StoredRow(*row))

    def topology_names(self, limit: int) -> list[str]:
        """Return the names of the newest topologies, each once."""
        query = f"SELECT summary FROM {KINDS['topology']} ORDER BY created_at DESC LIMIT ?"
        rows = self._connection.execute(query, (limit,))
        return list(dict.fromkeys(json.loads(summary)["name"] for (summary,) in rows))


@contextmanager
def opened(url: str) -> Iterator[Embedded | None]:
    """Open the database of a URL for reading; None unless it is a file at the newest revision."""
    connection = connected(url)
    try:
        yield None if connection is None else Embedded(connection)
    finally:
        if connection is not None:
            connection.close()


def connected(url: str, mode: str = "ro") -> sqlite3.Connection | None:
    """Connect to the file of a URL; None unless its tables are at the newest revision.

    ``mode`` as in URIs of SQLite: "ro" to read, "rw" to write also.
    """
    path = url.removeprefix(_PREFIX)
    if path == url or not path or path == ":memory:" or "?" in path or not Path(path).is_file():
        return None
    connection = None
    try:
        connection = sqlite3.connect(f"file:{quote(path)}?mode={mode}", uri=True, timeout=10)
        for pragma in PRAGMAS if mode == "rw" else ():
            connection.execute(f"PRAGMA {pragma}")
        found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.Error:
        found = None
    if connection is not None and found != (HEAD,):
        connection.close()
        return None
    return connection
