"""Documents of an SQLite file, read and written by the standard library alone.

Loading SQLAlchemy and its tables takes 0.4 s of CPU time, longer than many answers.  This store
serves commands on a file at the newest revision.  Whatever is not plain goes to
`app.store.document_store`: searches, repairs, migrations, locks, and every error.
"""

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, TypeVar

from topoloom.app.config import HEAD
from topoloom.app.store.artifacts import EVERYONE, KINDS, Artefact, Asked, Computed, Listed
from topoloom.app.store.embedded_reader import PRAGMAS, Embedded, new_tables, path_of
from topoloom.app.store.indexing import Result, Rows, insert, note, note_owners
from topoloom.app.store.row_mapping import row_of

if TYPE_CHECKING:
    from topoloom.app.store.document_store import Store

T = TypeVar("T")

BUSY_MILLISECONDS = 200
"""Wait for a lock before `app.store.document_store` waits for the lock, with its own limits."""


class EmbeddedStore:
    """The documents of everybody in an SQLite file; safe for threads.

    ``load`` returns the whole store of the file.  After its first use it serves everything: it may
    hold answers that the database rejected.
    """

    def __init__(self, connection: sqlite3.Connection, load: "Callable[[], Store]") -> None:
        self._connection = connection
        self._load = load
        self._whole: Store | None = None
        self._lock = RLock()

    @property
    def whole(self) -> "Store":
        """The whole store of the file, loaded at the first use."""
        with self._lock:
            if self._whole is None:
                self._whole = self._load()
            return self._whole

    def get(self, kind: str, identity: str) -> Artefact | None:
        """Return the stored document; None if it is missing or damaged."""
        return self._served(
            lambda: Embedded(self._connection).get(kind, identity),
            lambda store: store.get(kind, identity),
        )

    def find(self, kind: str, identity: str) -> Artefact | None:
        """Return the stored answer to a request; None if it is missing or damaged."""
        return self._served(
            lambda: Embedded(self._connection).get(kind, identity),
            lambda store: store.find(kind, identity),
        )

    begin = find

    def question(self, kind: str, identity: str) -> str | None:
        """See `app.store.document_store.Store.question`."""
        return self.whole.question(kind, identity)

    def beginning(self, kind: str, prefix: str, limit: int) -> list[Listed]:
        """See `app.store.document_store.Store.beginning`."""
        return self.whole.beginning(kind, prefix, limit)

    def named(self, name: str, limit: int) -> list[Listed]:
        """See `app.store.document_store.Store.named`; mostly no topology has the name."""
        return self._served(
            lambda: self.whole.named(name, limit) if self._is_name(name) else [],
            lambda store: store.named(name, limit),
        )

    def keep(self, kind: str, request: Asked, identity: str, computed: Computed) -> Artefact:
        """Store an answer; return it, or the answer that another process stored first."""
        return self._served(
            lambda: self._inserted(kind, request, identity, computed),
            lambda store: store.keep(kind, request, identity, computed),
        )

    def close(self) -> None:
        """Close the connection of this store."""
        self._connection.close()

    def _served(self, plainly: Callable[[], T], otherwise: "Callable[[Store], T]") -> T:
        with self._lock, suppress(sqlite3.Error):
            if self._whole is None:
                return plainly()
        # The whole store repeats a statement that failed, and handles or explains the error.
        return otherwise(self.whole)

    def _is_name(self, name: str) -> bool:
        one = "SELECT 1 FROM topologies WHERE name = ? LIMIT 1"
        return self._connection.execute(one, (name,)).fetchone() is not None

    def _inserted(self, kind: str, request: Asked, identity: str, computed: Computed) -> Artefact:
        """Insert an answer that is not stored yet, with its facts."""
        pending = row_of(kind, request, identity, computed)
        now = datetime.now(UTC).replace(tzinfo=None).isoformat(" ", "microseconds")
        row = {"id": identity, "created_at": now, "used_at": now, **pending.values}
        # The connection commits at the end of the block, and rolls back after an error.
        with self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            insert(self._run, KINDS[kind], [row])
            note(self._run, kind, identity, pending.facts)
            note_owners(self._run, kind, identity, {EVERYONE}, row["size"])
        return pending.artefact

    def _run(self, statement: str, rows: Rows) -> Result:
        if len(rows) > 1:
            return self._connection.executemany(statement, rows)
        return self._connection.execute(statement, rows[0])


def opened_store(url: str, load: "Callable[[], Store]") -> EmbeddedStore | None:
    """Return the store of a URL; make the tables of an empty file.

    Returns None, and leaves the file to ``load``, unless the URL names a plain file that can be
    opened at the newest revision.
    """
    path = path_of(url)
    if path is None:
        return None
    connection = None
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        for pragma in (*PRAGMAS, f"busy_timeout={BUSY_MILLISECONDS}"):
            connection.execute(f"PRAGMA {pragma}")
        if _is_empty(connection):
            _make_tables(connection)
        found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except (OSError, sqlite3.Error):
        found = None
    if connection is not None and found == (HEAD,):
        return EmbeddedStore(connection, load)
    if connection is not None:
        connection.close()
    return None


def _is_empty(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)


def _make_tables(connection: sqlite3.Connection) -> None:
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        # Another process may have made them meanwhile.
        for statement in new_tables() if _is_empty(connection) else ():
            connection.execute(statement)
