"""The content-addressed cache of computed documents.

A document's id is the SHA-256 of the canonical JSON of (kind, kernel version,
request).  Two processes that compute the same document at the same time both
succeed: the first insert wins, and documents are deterministic.  A failed computation stores
nothing.  A damaged document counts as missing: the store repairs its row with the recomputed
document.  If the database rejects an answer, the answer stays in memory until a later write
succeeds.

A document has owners (`app.store.owners`).  Look-ups by id, prefix or name find only what the
owner of the store sees.  The answer to a request belongs to everybody who sends the request.
"""

import hashlib
import json
import logging
import sqlite3
import time
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import quote

from sqlalchemy import Engine, Select, bindparam, event, insert, select, update
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from topoloom.app.store.artifacts import Artefact, Asked, Computed
from topoloom.app.store.document_lists import DocumentLists
from topoloom.app.store.errors import StoreFull
from topoloom.app.store.index_metadata import Facts
from topoloom.app.store.indexing import note, note_owners, run_on
from topoloom.app.store.last_used import Uses
from topoloom.app.store.owners import (
    DEFAULT_RULES,
    EVERYONE,
    OPERATORS,
    OwnerRules,
    grant,
    owner_of,
    seen_by,
)
from topoloom.app.store.quotas import Quotas
from topoloom.app.store.retention import Keeping
from topoloom.app.store.row_mapping import StoredRow, row_of, verified_document
from topoloom.app.store.server_reads import ServerReads
from topoloom.app.store.tables import TABLES
from topoloom.app.store.write_behind import Growth, Pending, Unsaved

log = logging.getLogger(__name__)


class InstantReads:
    """Reads of the rows of an SQLite file, on one connection that only reads.

    A read in a thread takes the interpreter again after every call of SQLite; beside threads that
    compute, each time takes up to some milliseconds.  The read itself takes a tenth of one.
    """

    def __init__(self, engine: Engine) -> None:
        url = engine.url
        is_plain = url.get_backend_name() == "sqlite" and not url.query
        self._path = url.database if is_plain and url.database != ":memory:" else None
        self._connection: sqlite3.Connection | None = None
        event.listen(engine, "engine_disposed", self._close)

    async def row(
        self, query: Select[*tuple[Any, ...]], given: dict[str, Any]
    ) -> tuple[Any, ...] | None:
        """Return the only row of a query; None without a row, and where the read must wait."""
        if not self._path:
            return None
        text, constants = _compiled(query)
        try:
            if self._connection is None:
                place = f"file:{quote(self._path)}?mode=ro"
                self._connection = sqlite3.connect(
                    place, timeout=0, isolation_level=None, check_same_thread=False, uri=True
                )
            rows = self._connection.execute(text, constants | given).fetchall()
        except sqlite3.Error:
            return None
        return rows[0] if rows else None

    def _close(self, _: Engine) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class Store(DocumentLists):
    """Documents by kind and id, as one owner sees them; `on_behalf_of` returns another view."""

    def __init__(self, engine: Engine, rules: OwnerRules = DEFAULT_RULES) -> None:
        super().__init__(engine)
        self._rules = rules
        self._unsaved = Unsaved()
        on_server = engine.dialect.driver == "psycopg"
        self._instant = ServerReads(engine) if on_server else InstantReads(engine)
        self.quotas = Quotas(engine, rules.most_bytes)
        self.growth = Growth()
        self.uses = Uses()

    def on_behalf_of(self, caller: str) -> "Store":
        """Return the store as a caller sees it, an owner or an address."""
        if caller == self.owner:
            return self
        view = copy(self)
        view.owner = owner_of(caller)
        return view

    @property
    def keeping(self) -> Keeping:
        """Labels, pins and deletions on behalf of the owner."""
        return Keeping(self._engine, self.owner)

    def get(self, kind: str, identity: str) -> Artefact | None:
        """Return the stored document; None if it is missing, damaged, or of another owner."""
        unsaved = self._unsaved.get(identity, self._seen)
        if unsaved is not None:
            return unsaved
        row, is_seen = self._row(kind, identity)
        return self._sound(kind, row) if row is not None and is_seen else None

    async def seen_at_once(self, kind: str, identity: str) -> Artefact | None:
        """Return a stored document that the owner sees, on the event loop.

        None also where the read must wait; `get` and `find` then tell more.
        """
        given, everything = {"identity": identity, "owner": self.owner}, self._seen is None
        found = await self._instant.row(_reading(kind, everything), given)
        row, is_seen = _as_seen(found, everything)
        return self._sound(kind, row) if row is not None and is_seen else None

    def find(self, kind: str, identity: str) -> Artefact | None:
        """Return the stored answer to a request; the owner of this store then owns the answer.

        Returns None if the answer is missing or damaged, or the database fails.

        Raises:
            QuotaExceeded, StoreFull: The owner does not have the answer, and may store nothing
                more.
        """
        if self._unsaved.is_unread:
            return self._unsaved_answer(identity)
        start = time.monotonic()
        try:
            return self._unsaved_answer(identity) or self._answer(kind, identity)
        except SQLAlchemyError as error:
            what = f"the {kind} {identity} could not be looked up"
            self._failed(what, error, start, reading=True)
            return self._unsaved_answer(identity)

    def _answer(self, kind: str, identity: str) -> Artefact | None:
        row, is_seen = self._row(kind, identity)
        if row is not None and is_seen:
            return self._sound(kind, row)
        self._require_room()
        found = None
        if row is not None and self._rules.share_answers:
            found = self._sound(kind, row)
        if row is not None and found is not None:
            self._grant(row, found)
        return found

    def _unsaved_answer(self, identity: str) -> Artefact | None:
        found = self._unsaved.get(identity, self._seen)
        if found is None and self._rules.share_answers:
            found = self._unsaved.get(identity)
            self._unsaved.grant(identity, self.owner)
        return found

    def _row(self, kind: str, identity: str) -> tuple[StoredRow | None, bool]:
        """Return the row of a document, and whether the owner sees the document."""
        given = {"identity": identity, "owner": self.owner}
        with self._engine.connect() as connection:
            query = _reading(kind, self._seen is None)
            return _as_seen(connection.execute(query, given).one_or_none(), self._seen is None)

    def _sound(self, kind: str, row: StoredRow) -> Artefact | None:
        found = verified_document(kind, row)
        if found is not None:
            self.uses.note(kind, row.id)
        return found

    @property
    def _seen(self) -> frozenset[str] | None:
        """The owners whose documents the owner of this store sees; None for all."""
        return None if self.owner in OPERATORS else frozenset({self.owner, EVERYONE})

    def _require_room(self) -> None:
        if self.growth.full is not None:
            raise StoreFull(*self.growth.full)
        if self.owner not in OPERATORS:
            self.quotas.require_room(self.owner)

    def _grant(self, row: StoredRow, found: Artefact) -> None:
        """Add an owner of a stored answer; if the database rejects the owner, hold the answer."""
        start = time.monotonic()
        try:
            with self._engine.begin() as connection:
                grant(connection, self.owner, found.kind, found.id)
        except SQLAlchemyError as error:
            self._failed(f"the owner of {found.kind} {found.id} could not be stored", error, start)
            computed = Computed(found.content, found.media_type, found.summary)
            pending = row_of(found.kind, json.loads(row.request), found.id, computed)
            self._unsaved.hold(replace(pending, owners=frozenset({self.owner})))
        self.quotas.forget(self.owner)

    def question(self, kind: str, identity: str) -> str | None:
        """Return the request of a row in canonical JSON; None without a row."""
        row, is_seen = self._row(kind, identity)
        return row.request if row is not None and is_seen else None

    def claim(self, identity: str) -> str:
        """Return the id of the claim on a document; owners who share no answers do not wait."""
        if self._rules.share_answers:
            return identity
        return hashlib.sha256(f"{self.owner}\n{identity}".encode()).hexdigest()

    def begin(self, kind: str, identity: str) -> Artefact | None:
        """Return the stored document, or None for the caller to compute the document."""
        return self.find(kind, identity)

    def keep(
        self,
        kind: str,
        request: Asked,
        identity: str,
        computed: Computed,
        facts: Facts | None = None,
    ) -> Artefact:
        """Store an answer; return it, or the answer that another process stored first.

        ``facts`` are the metadata of the answer if they are known already.
        """
        owners = {self.owner} if self._rules.private else {self.owner, EVERYONE}
        pending = row_of(kind, request, identity, computed, facts)
        kept = self._saved(replace(pending, owners=frozenset(owners)))
        if self.owner not in OPERATORS:
            self.quotas.forget(self.owner)
            # An owner does not learn that another owner has stored the answer.
            return kept if self._rules.share_answers else replace(kept, fresh=True)
        return kept

    def delete(self, kind: str, identity: str) -> bool:
        """Delete a document, stored or still in memory; see `app.store.retention.Keeping`."""
        held = self._unsaved.release(identity, None if self._seen is None else self.owner)
        self.quotas.forget(self.owner)
        return self.keeping.delete(kind, identity) or held

    def settled(self) -> str | None:
        """Store the answers in memory; return the error if the database rejects them."""
        if self._unsaved.reason is not None:
            self._settle(taken=False)
        return self._unsaved.reason

    def _settle(self, *, taken: bool) -> None:
        """Store all answers in memory; after one write is ``taken``, drop the rejected answers."""
        for pending in self._unsaved.all():
            if self._try(pending) is not None:
                taken = True
            elif taken:
                self._unsaved.reason = None
            else:
                return
            self._unsaved.drop(pending.artefact.id)

    def _saved(self, pending: Pending) -> Artefact:
        """Store an answer, or hold it in memory; return it, or the answer stored before."""
        waiting = self._unsaved.all()
        found = None if self._unsaved.resting else self._try(pending)
        if found is None:
            self._unsaved.hold(pending)
            return pending.artefact
        if waiting:
            self._settle(taken=True)
        return found

    def _try(self, pending: Pending) -> Artefact | None:
        """Store an answer; return None on failure."""
        artefact, start = pending.artefact, time.monotonic()
        try:
            found = self._insert(artefact.kind, artefact.id, pending)
        except SQLAlchemyError as error:
            self._failed(f"the {artefact.kind} {artefact.id} could not be stored", error, start)
            return None
        self._unsaved.reason = None
        return found or artefact

    def _failed(
        self, what: str, error: SQLAlchemyError, start: float, *, reading: bool = False
    ) -> None:
        why = str(getattr(error, "orig", None) or error).strip().splitlines()[:1]
        log.error("%s: %s", what, "".join(why))
        self._unsaved.failed(what, time.monotonic() - start, reading=reading)

    def _insert(self, kind: str, identity: str, pending: Pending) -> Artefact | None:
        """Insert a row, or repair a damaged row; return an earlier sound document, or None."""
        table, values = TABLES[kind], dict(pending.values)
        now = datetime.now(UTC).replace(tzinfo=None)
        try:
            with self._engine.begin() as connection:
                times = {"created_at": now, "used_at": now}
                connection.execute(insert(table).values(id=identity, **times, **values))
                run = run_on(connection)
                note(run, kind, identity, pending.facts)
                note_owners(run, kind, identity, pending.owners, values["size"])
        except IntegrityError:
            return self._repaired(kind, identity, pending)
        self.growth.add(values["size"])
        return None

    def _repaired(self, kind: str, identity: str, pending: Pending) -> Artefact | None:
        """Add the owners of a stored document; return it, or None after a repair of its row."""
        table = TABLES[kind]
        row, _ = self._row(kind, identity)
        found = None if row is None else self._sound(kind, row)
        with self._engine.begin() as connection:
            if found is None:
                values = update(table).where(table.id == identity).values(**pending.values)
                connection.execute(values)
                note(run_on(connection), kind, identity, pending.facts)
                log.warning("the stored %s %s was damaged, and is mended", kind, identity)
            for owner in pending.owners - {EVERYONE}:
                grant(connection, owner, kind, identity)
        return found


def _as_seen(found: Sequence[Any] | None, everything: bool) -> tuple[StoredRow | None, bool]:
    """Return the row that the query of `_reading` found, and whether the owner sees it."""
    if found is None:
        return None, False
    row = StoredRow(*found[: len(StoredRow._fields)])
    return row, everything or bool(found[len(StoredRow._fields)])


@cache
def _reading(kind: str, everything: bool) -> Select[*tuple[Any, ...]]:
    """Return the query of a row, with ``is_seen`` unless the owner sees ``everything``."""
    table = TABLES[kind]
    columns = [getattr(table, name) for name in StoredRow._fields]
    if not everything:
        columns.append(seen_by(bindparam("owner"), kind, table.id).label("is_seen"))
    return select(*columns).where(table.id == bindparam("identity"))


@cache
def _compiled(query: Select[*tuple[Any, ...]]) -> tuple[str, dict[str, Any]]:
    """Return the text of a query, one of a few, and its constants by name."""
    compiled = query.compile(dialect=sqlite.dialect(paramstyle="named"))
    return str(compiled), dict(compiled.params)
