"""The audit log: every changing or refused administrative request, and every such command."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import ColumnElement, Engine, delete, func, insert, select, tuple_

from topoloom.app.store.listing import InvalidCursor
from topoloom.app.store.tables import AuditRow

MAX_TARGET = 500
MAX_ROWS = 1_000_000
"""Most entries; older entries are deleted, so that refused requests cannot fill the disk."""

COMMAND = "command"
"""The owner of an entry of the command line, which has no key."""
COMMANDS = (
    *(f"cache {name}" for name in ("delete", "evict", "import", "label", "pin", "share")),
    *(f"cache {name}" for name in ("unlabel", "unpin", "unshare")),
    *("jobs cancel", "keys create", "keys revoke", "lr cancel", "lr delete"),
)
"""The actions of commands; the action of a request is the operation id of its route."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the audit log; see `app.store.tables.AuditRow`."""

    id: str
    at: datetime
    owner: str
    key: str
    action: str
    target: str
    request_id: str
    status: int


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Filters of a list of entries; None does not filter."""

    owner: str | None = None
    key: str | None = None
    action: str | None = None
    since: datetime | None = None
    until: datetime | None = None


def record(
    engine: Engine,
    action: str,
    target: str,
    *,
    owner: str = COMMAND,
    key: str = "",
    request_id: str = "",
    status: int = 0,
) -> None:
    """Add an entry; the defaults are those of a command, whose action is one of `COMMANDS`."""
    values = {
        "id": secrets.token_hex(16),
        "at": datetime.now(UTC).replace(tzinfo=None),
        "owner": owner,
        "key": key,
        "action": action,
        "target": target[:MAX_TARGET],
        "request_id": request_id,
        "status": status,
    }
    with engine.begin() as connection:
        connection.execute(insert(AuditRow).values(values))


def page(
    engine: Engine, limit: int, cursor: str | None = None, wanted: AuditFilter | None = None
) -> tuple[list[Entry], str | None]:
    """Return up to ``limit`` entries, newest first, and the cursor of the next page or None.

    Raises:
        InvalidCursor: The cursor is not from an earlier page, or its entry was deleted.
    """
    row = AuditRow
    query = select(*(getattr(row, name) for name in Entry.__dataclass_fields__))
    query = query.where(*_conditions(wanted or AuditFilter()))
    with engine.connect() as connection:
        if cursor is not None:
            place = select(row.at, row.id).where(row.id == cursor)
            last = connection.execute(place).one_or_none()
            if last is None:
                raise InvalidCursor("cursor: must be one that an earlier answer gave")
            query = query.where(tuple_(row.at, row.id) < tuple_(*last))
        found = connection.execute(query.order_by(row.at.desc(), row.id.desc()).limit(limit + 1))
        entries = [Entry(*one) for one in found]
    return entries[:limit], entries[limit - 1].id if len(entries) > limit else None


def total(engine: Engine, wanted: AuditFilter) -> int:
    """Return the number of entries over all pages."""
    query = select(func.count()).select_from(AuditRow).where(*_conditions(wanted))
    with engine.connect() as connection:
        return connection.execute(query).scalar_one()


def actions(engine: Engine) -> list[str]:
    """Return the actions of all entries, sorted."""
    with engine.connect() as connection:
        return sorted(connection.execute(select(AuditRow.action).distinct()).scalars())


def _conditions(wanted: AuditFilter) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions of a list of entries."""
    for name in ("owner", "key", "action"):
        value = getattr(wanted, name)
        if value is not None:
            yield getattr(AuditRow, name) == value
    if wanted.since is not None:
        yield AuditRow.at >= wanted.since
    if wanted.until is not None:
        yield AuditRow.at < wanted.until


def expire(engine: Engine, days: float) -> None:
    """Delete the entries of more than some days ago, and those beyond `MAX_ROWS`."""
    row = AuditRow
    oldest = datetime.now(UTC).replace(tzinfo=None) - timedelta(days=days)
    excess = select(row.at).order_by(row.at.desc()).offset(MAX_ROWS).limit(1)
    with engine.begin() as connection:
        limit = connection.execute(excess).scalar_one_or_none() or oldest
        connection.execute(delete(row).where(row.at <= max(limit, oldest)))
