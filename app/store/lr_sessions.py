"""Learning-rate sessions in the database: a snapshot each, and an append-only log.

Every change of a session is one transaction that names the version that it replaces.  If this is
no longer the present version, the transaction changes nothing, and the caller reads again.
"""

from collections import OrderedDict
from collections.abc import Iterator
from copy import copy
from threading import Lock
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
    Select,
    bindparam,
    delete,
    func,
    insert,
    literal,
    select,
    tuple_,
    update,
)

from topoloom.app.store.artifacts import ID_LENGTH
from topoloom.app.store.errors import MAX_CANDIDATES, Ambiguous, NotOwner, NotStored
from topoloom.app.store.listing import InvalidCursor
from topoloom.app.store.lr_records import Entry, Session, entry_of, entry_row, session_row
from topoloom.app.store.owners import DEFAULT_RULES, EVERYONE, OPERATORS, OwnerRules, owner_of
from topoloom.app.store.quotas import Quotas
from topoloom.app.store.tables import LrObservationRow, LrSessionRow
from topoloom.learning_rate import State

KIND = "lr-session"
CACHED = 256  # parsed states in memory
FETCHED = 200  # entries of a log in memory at a time


# Statements are module constants, so that SQLAlchemy caches their compiled form.
_SESSIONS, _LOG = (
    LrSessionRow.metadata.tables["lr_sessions"],
    LrObservationRow.metadata.tables["lr_observations"],
)
_READ = select(_SESSIONS).where(_SESSIONS.c.id == bindparam("identity"))
_INSERT, _APPEND = insert(_SESSIONS), insert(_LOG)
_REPLACE = (
    update(_SESSIONS)
    .where(_SESSIONS.c.id == bindparam("identity"), _SESSIONS.c.version == bindparam("before"))
    .values({column.name: bindparam(column.name) for column in _SESSIONS.c})
)


class LrStore:
    """Sessions by id, and their logs, as one owner sees them; see `app.store.owners`."""

    def __init__(
        self, engine: Engine, rules: OwnerRules = DEFAULT_RULES, quotas: Quotas | None = None
    ) -> None:
        self._engine, self._rules = engine, rules
        self._quotas = quotas or Quotas(engine, rules.most_bytes)
        self.owner = EVERYONE
        self._states: OrderedDict[str, tuple[int, State]] = OrderedDict()
        self._lock = Lock()

    def on_behalf_of(self, caller: str) -> "LrStore":
        """Return the sessions as a caller sees them, an owner or an address."""
        view = copy(self)
        view.owner = owner_of(caller)
        return view

    def insert(self, session: Session) -> None:
        """Store a new session; raise `QuotaExceeded` if the owner may store nothing more."""
        self._quotas.require_room(self.owner)
        with self._engine.begin() as connection:
            connection.execute(_INSERT, session_row(session))
        self._remember(session)

    def get(self, identity: str) -> Session:
        """Return the session of an id, or of a unique prefix.

        Raises:
            NotStored, Ambiguous: No session matches, or several do.
        """
        if len(identity) < ID_LENGTH:
            identity = self._completed(identity)
        with self._engine.connect() as connection:
            row = connection.execute(_READ, {"identity": identity}).one_or_none()
        if row is None or not (self._sees_all or row.owner in (self.owner, EVERYONE)):
            raise NotStored(KIND, identity)
        return self._session(row._mapping)

    def for_change(self, identity: str, *, ending: bool = False) -> Session:
        """Return the same for a change; raise `NotOwner` for a session of another owner.

        Every owner may train a shared session, whose lease tells who does; only operators end it.
        """
        session = self.get(identity)
        mine = (self.owner,) if ending else (self.owner, EVERYONE)
        if self.owner not in OPERATORS and session.owner not in mine:
            raise NotOwner(KIND, session.id)
        return session

    @property
    def _sees_all(self) -> bool:
        return self.owner in OPERATORS or not self._rules.private

    def page(self, limit: int, cursor: str | None) -> tuple[list[Session], str | None]:
        """Return up to ``limit`` sessions, newest first, and the cursor of the next page.

        Raises:
            InvalidCursor: The cursor is not from an earlier page, or its session was deleted.
        """
        row = LrSessionRow
        query = self._narrowed(select(row.__table__))
        query = query.order_by(row.created_at.desc(), row.id.desc())
        with self._engine.connect() as connection:
            if cursor is not None:
                place = select(row.created_at, row.id).where(row.id == cursor)
                at = connection.execute(place).one_or_none()
                if at is None:
                    raise InvalidCursor("cursor: must be one that an earlier answer gave")
                query = query.where(tuple_(row.created_at, row.id) < tuple_(*at))
            rows = connection.execute(query.limit(limit + 1)).all()
        sessions = [self._session(found._mapping) for found in rows[:limit]]
        return sessions, sessions[-1].id if len(rows) > limit else None

    def total(self) -> int:
        """Return the number of sessions that the owner sees."""
        query = self._narrowed(select(func.count()).select_from(LrSessionRow))
        with self._engine.connect() as connection:
            return connection.execute(query).scalar_one()

    def replace(self, before: Session, after: Session, entry: Entry | None = None) -> bool:
        """Store the next version, with a log entry; return False if ``before`` is outdated."""
        with self._engine.begin() as connection:
            # The write comes first: on SQLite a transaction that begins by reading may not.
            expected = {"identity": before.id, "before": before.version}
            values, logged = session_row(after), None
            if entry is not None:
                logged = entry_row(after, entry)
                values["size"] += sum(len(one) for one in logged.values() if isinstance(one, str))
            changed = connection.execute(_REPLACE, values | expected)
            if changed.rowcount != 1:
                return False
            if logged is not None:
                connection.execute(_APPEND, logged)
        self._remember(after)
        return True

    def delete(self, identity: str) -> None:
        """Delete a session and its log."""
        with self._engine.begin() as connection:
            connection.execute(delete(LrSessionRow).where(LrSessionRow.id == identity))
        self._quotas.forget(self.owner)
        with self._lock:
            self._states.pop(identity, None)

    def observed(self, session: Session, sequence: int) -> Entry:
        """Return the valid observation of a sequence number."""
        row = LrObservationRow
        query = select(row.__table__).where(row.session_id == session.id, row.sequence == sequence)
        with self._engine.connect() as connection:
            found = connection.execute(query.order_by(row.entry.desc()).limit(1)).one()
        return entry_of(found._mapping)

    def log(self, session: Session, after: int = 0, *, bare: bool = False) -> Iterator[Entry]:
        """Yield the valid observations with numbers above ``after``, oldest first.

        With ``bare`` they lack their losses.
        """
        row = LrObservationRow
        columns = [
            literal("[]").label(name) if bare and name == "losses" else getattr(row, name)
            for name in Entry.__dataclass_fields__
        ]
        with self._engine.connect() as connection:
            numbers = self._counting(connection, session, after)
            for start in range(0, len(numbers), FETCHED):
                few = numbers[start : start + FETCHED]
                query = select(*columns).where(row.session_id == session.id, row.entry.in_(few))
                for found in connection.execute(query.order_by(row.entry)):
                    yield entry_of(found._mapping)

    def snapshot(self, session: Session, sequence: int) -> tuple[int, State] | None:
        """Return the last logged state up to a number, with its number."""
        row = LrObservationRow
        with self._engine.connect() as connection:
            numbers = self._counting(connection, session, 0)
            query = select(row.sequence, row.state, row.entry).where(
                row.session_id == session.id, row.state.is_not(None), row.sequence <= sequence
            )
            found = connection.execute(query.order_by(row.entry.desc())).all()
        counting = set(numbers)
        for number, text, entry in found:
            if entry in counting:
                return number, State.from_json(str(text))
        return None

    def _counting(self, connection: Connection, session: Session, after: int) -> list[int]:
        """Return the valid entries: each entry invalidates earlier ones from its number on."""
        row = LrObservationRow
        query = select(row.entry, row.sequence).where(row.session_id == session.id)
        found: list[tuple[int, int]] = []
        for entry, sequence in connection.execute(query.order_by(row.entry)):
            del found[sequence - 1 :]
            found.append((entry, sequence))
        return [entry for entry, sequence in found if after < sequence <= session.sequence]

    def _completed(self, prefix: str) -> str:
        row = LrSessionRow
        query = select(row.id, row.name).where(row.id >= prefix, row.id < prefix + "g")
        query = self._narrowed(query)
        with self._engine.connect() as connection:
            found = connection.execute(query.order_by(row.id).limit(MAX_CANDIDATES + 1)).all()
        if not found:
            raise NotStored(KIND, prefix)
        if len(found) > 1:
            raise Ambiguous(KIND, prefix, [(one.id, one.name) for one in found])
        return found[0].id

    def _narrowed(self, query: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
        """Return a query of the sessions that the owner sees."""
        if self._sees_all:
            return query
        return query.where(LrSessionRow.owner.in_((self.owner, EVERYONE)))

    def _session(self, row: Any) -> Session:
        facts: dict[str, Any] = dict(row)
        with self._lock:
            known = self._states.get(facts["id"])
        if known is not None and known[0] == facts["version"]:
            state = known[1]
        else:
            state = State.from_json(facts["state"])
        facts["state"] = state
        session = Session(**facts)
        self._remember(session)
        return session

    def _remember(self, session: Session) -> None:
        with self._lock:
            self._states[session.id] = (session.version, session.state)
            self._states.move_to_end(session.id)
            while len(self._states) > CACHED:
                self._states.popitem(last=False)
