"""New answers of an embedded database, written with nothing but the standard library.

A frontier that was never asked is found and stored in less than two seconds of the processor, of
which loading SQLAlchemy and its tables would be a quarter.  Frontiers and topologies are written
here as `app.store.document_store` and `app.store.indexing` write them, a test compares the tables;
for everything else, and where anything fails, the whole store takes over.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from topoloom.app.store.artifacts import KINDS, Artefact, Asked, Computed, Listed
from topoloom.app.store.embedded_reader import Embedded, connected
from topoloom.app.store.index_metadata import Facts, sortable
from topoloom.app.store.row_mapping import NAMED, row_of

if TYPE_CHECKING:
    from topoloom.app.store.document_store import Store

__all__ = ["EmbeddedStore", "opened"]

_WRITTEN = ("frontier", NAMED)
"""Kinds whose facts are their own: others are given those of the topology they are about."""


class EmbeddedStore:
    """The documents of an SQLite file, as a command needs them that stores frontiers.

    The methods are those of `app.store.document_store.Store`.  ``whole`` opens that when it is
    needed, after which it does everything.
    """

    def __init__(self, connection: sqlite3.Connection, whole: "Callable[[], Store]") -> None:
        self._connection = connection
        self._stored = Embedded(connection)
        self._open = whole
        self._whole: Store | None = None

    def get(self, kind: str, identity: str) -> Artefact | None:
        """Return the stored document; None if there is none, or a damaged one."""
        return self._stored_or(lambda: self._all().get(kind, identity), kind, identity)

    def find(self, kind: str, identity: str) -> Artefact | None:
        """Return the same, None also where the database does not answer."""
        return self._stored_or(lambda: self._all().find(kind, identity), kind, identity)

    def _stored_or(
        self, ask_whole: "Callable[[], Artefact | None]", kind: str, identity: str
    ) -> Artefact | None:
        if self._whole is None:
            try:
                return self._stored.get(kind, identity)
            except sqlite3.Error:
                pass
        return ask_whole()

    def question(self, kind: str, identity: str) -> str | None:
        """Return the question that a row says it answers."""
        return self._all().question(kind, identity)

    def beginning(self, kind: str, prefix: str, limit: int) -> list[Listed]:
        """Return entries whose ids begin so."""
        return self._all().beginning(kind, prefix, limit)

    def named(self, name: str, limit: int) -> list[Listed]:
        """Return topologies of this name."""
        return self._all().named(name, limit)

    def begin(self, kind: str, identity: str) -> Artefact | None:
        """Return the stored document, or None for the caller to compute the document."""
        return self.find(kind, identity)

    def keep(self, kind: str, request: Asked, identity: str, computed: Computed) -> Artefact:
        """Store an answer; return it, or the one that somebody else stored in the meantime."""
        if self._whole is not None or kind not in _WRITTEN:
            return self._all().keep(kind, request, identity, computed)
        row = row_of(kind, request, identity, computed)
        try:
            with self._connection:
                _insert(self._connection, kind, identity, row.values, row.facts)
            return row.artefact
        except sqlite3.Error:
            # Somebody stored it in the meantime, or a damaged one, or nothing can be written.
            return self._all().keep(kind, request, identity, computed, row.facts)

    def _all(self) -> "Store":
        if self._whole is None:
            self._whole = self._open()
        return self._whole


@contextmanager
def opened(url: str, whole: "Callable[[], Store]") -> Iterator[EmbeddedStore | None]:
    """Open the database of a URL; None unless it is a file at the newest revision."""
    connection = connected(url, "rw")
    try:
        yield None if connection is None else EmbeddedStore(connection, whole)
    finally:
        if connection is not None:
            connection.close()


def _insert(
    connection: sqlite3.Connection,
    kind: str,
    identity: str,
    values: Mapping[str, Any],
    facts: Facts,
) -> None:
    """Insert a row, and what is known of it, as `app.store.indexing.note` does."""
    now = datetime.now(UTC).replace(tzinfo=None).isoformat(" ", "microseconds")
    _add(
        connection,
        KINDS[kind],
        [{"id": identity, "created_at": now, "used_at": now, **values}],
    )
    for table in ("families", "document_references", "points"):
        about = f"DELETE FROM {table} WHERE kind = ? AND document_id = ?"
        connection.execute(about, (kind, identity))
    head = {"kind": kind, "document_id": identity}
    _add(connection, "families", [head | {"family": name} for name in facts.families])
    references = [head | {"to_kind": to, "to_id": one} for to, one in facts.refers_to]
    _add(connection, "document_references", references)
    points = [
        head | {"position": position} | {name: getattr(one, name) for name in one.__slots__}
        for position, one in enumerate(facts.points)
    ]
    _add(connection, "points", points)
    for one in facts.points:
        _measured(connection, one.topology_id, one.links, one.steps, one.bandwidth)
    if kind == NAMED:
        told = "SELECT links, steps, bandwidth FROM points WHERE topology_id = ? LIMIT 1"
        for row in connection.execute(told, (identity,)).fetchall():
            _measured(connection, identity, *row)


def _add(connection: sqlite3.Connection, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    for row in rows:
        columns, marks = ", ".join(row), ", ".join("?" * len(row))
        added = f"INSERT INTO {table} ({columns}) VALUES ({marks})"
        connection.execute(added, tuple(row.values()))


def _measured(
    connection: sqlite3.Connection, topology_id: str, links: str, steps: int, bandwidth: str
) -> None:
    """Let lists of topologies say what one was measured to cost."""
    connection.execute(
        "UPDATE topologies SET links = ?, steps = ?, bandwidth = ? "
        "WHERE id = ? AND (steps IS NULL OR links = 'unidirectional')",
        (links, steps, sortable(Fraction(bandwidth)), topology_id),
    )
