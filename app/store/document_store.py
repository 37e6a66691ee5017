"""The content-addressed cache of computed documents.

A document's id is the SHA-256 of the canonical JSON of (kind, kernel version,
request).  Two processes that compute the same document at the same time both
succeed: the first insert wins, and documents are deterministic.  A failed computation stores
nothing.  A damaged document counts as missing: the store repairs its row with the recomputed
document.  If the database rejects an answer, the answer stays in memory until a later write
succeeds.
"""

import logging
import time
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Engine, Select, insert, select, update
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from topoloom.app.store.artifacts import Artefact, Asked, Computed, Listed
from topoloom.app.store.index_metadata import Facts
from topoloom.app.store.indexing import note
from topoloom.app.store.last_used import Uses
from topoloom.app.store.listing import Wanted, entries, listed, page, total
from topoloom.app.store.retention import Keeping
from topoloom.app.store.row_mapping import NAMED, StoredRow, row_of, unsealed
from topoloom.app.store.tables import TABLES, TopologyRow
from topoloom.app.store.write_behind import Pending, Unsaved

log = logging.getLogger(__name__)


class Store:
    """Documents by kind and id, in the tables of `app.store.tables`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._unsaved = Unsaved()
        self.keeping = Keeping(engine)
        self.uses = Uses()

    def get(self, kind: str, identity: str) -> Artefact | None:
        """Return the stored document; None if it is missing or damaged."""
        unsaved = self._unsaved.get(identity)
        if unsaved is not None:
            return unsaved
        table = TABLES[kind]
        columns = [getattr(table, name) for name in StoredRow._fields]
        with self._engine.connect() as connection:
            row = connection.execute(select(*columns).where(table.id == identity)).one_or_none()
        found = None if row is None else unsealed(kind, StoredRow(*row))
        if found is not None:
            self.uses.note(kind, identity)
        return found

    def find(self, kind: str, identity: str) -> Artefact | None:
        """Return the stored document; None if it is missing or damaged, or the database fails."""
        if self._unsaved.resting:
            return self._unsaved.get(identity)
        start = time.monotonic()
        try:
            return self.get(kind, identity)
        except SQLAlchemyError as error:
            self._failed(f"the {kind} {identity} could not be looked up", error, start)
            return self._unsaved.get(identity)

    def question(self, kind: str, identity: str) -> str | None:
        """Return the request of a row in canonical JSON; None without a row."""
        table = TABLES[kind]
        with self._engine.connect() as connection:
            return connection.execute(
                select(table.request).where(table.id == identity)
            ).scalar_one_or_none()

    def beginning(self, kind: str, prefix: str, limit: int) -> list[Listed]:
        """Return up to ``limit`` entries whose ids begin with a prefix, by id.

        ``prefix`` has lower case hexadecimal characters.  The query is a range of the primary key.
        """
        table = TABLES[kind]
        # The next character of an id is hexadecimal, thus below "g".
        within = (table.id >= prefix, table.id < prefix + "g")
        query = entries(table).where(*within).order_by(table.id).limit(limit)
        return self._listed(kind, query)

    def named(self, name: str, limit: int) -> list[Listed]:
        """Return up to ``limit`` topologies of this name, newest first."""
        table = TopologyRow
        query = entries(table).where(table.name == name)
        query = query.order_by(table.created_at.desc(), table.id).limit(limit)
        return self._listed(NAMED, query)

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
        return self._saved(row_of(kind, request, identity, computed, facts))

    def delete(self, kind: str, identity: str) -> bool:
        """Delete a document, stored or still in memory; see `app.store.retention.Keeping`."""
        held = self._unsaved.get(identity) is not None
        self._unsaved.drop(identity)
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
            found = self._insert(artefact.kind, artefact.id, dict(pending.values), pending.facts)
        except SQLAlchemyError as error:
            self._failed(f"the {artefact.kind} {artefact.id} could not be stored", error, start)
            return None
        self._unsaved.reason = None
        return found or artefact

    def _failed(self, what: str, error: SQLAlchemyError, start: float) -> None:
        why = str(getattr(error, "orig", None) or error).strip().splitlines()[:1]
        log.error("%s: %s", what, "".join(why))
        self._unsaved.failed(what, time.monotonic() - start)

    def _insert(
        self, kind: str, identity: str, values: dict[str, Any], facts: Facts
    ) -> Artefact | None:
        """Insert a row, or repair a damaged row; return an earlier sound document, or None."""
        table = TABLES[kind]
        now = datetime.now(UTC).replace(tzinfo=None)
        try:
            with self._engine.begin() as connection:
                times = {"created_at": now, "used_at": now}
                connection.execute(insert(table).values(id=identity, **times, **values))
                note(connection, kind, identity, facts)
        except IntegrityError:
            found = self.get(kind, identity)
            if found is not None:
                return found
            with self._engine.begin() as connection:
                connection.execute(update(table).where(table.id == identity).values(**values))
                note(connection, kind, identity, facts)
            log.warning("the stored %s %s was damaged, and is mended", kind, identity)
        return None

    def page(
        self, kind: str, limit: int, cursor: str | None, wanted: Wanted | None = None
    ) -> tuple[list[Listed], str | None]:
        """Return up to ``limit`` entries, and the cursor of the next page; see `app.store.listing`.

        Raises
        ------
        InvalidCursor
            The cursor is not from an earlier page of a list in the same order.
        """
        with self._engine.connect() as connection:
            return page(connection, kind, limit, cursor, wanted or Wanted())

    def total(self, kind: str, wanted: Wanted) -> int:
        """Return the number of entries over all pages of a list."""
        with self._engine.connect() as connection:
            return total(connection, kind, wanted)

    def _listed(self, kind: str, query: Select[*tuple[Any, ...]]) -> list[Listed]:
        with self._engine.connect() as connection:
            return listed(connection, kind, connection.execute(query).all())
