"""The size of the cache, and eviction of the least recently used documents.

Eviction never removes a pinned or labeled document, a document that a stored document refers to,
or a topology that came from a file or a document and cannot be computed again.  A document whose
last reference is evicted may be evicted one round later.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Engine, Select, and_, delete, exists, func, select, update

from topoloom.app.store.last_used import Uses
from topoloom.app.store.owners import EVERYONE, OPERATORS, owned_by
from topoloom.app.store.retention import forget
from topoloom.app.store.tables import TABLES, LabelRow, ReferenceRow

BATCH = 50
"""Documents deleted in one transaction, which therefore holds its locks for milliseconds."""

PAUSE_SECONDS = 0.02
"""Pause between two batches, for waiting writers."""

_REGISTERED = ('{"document":%', '{"assumed":%')
"""LIKE patterns of the requests of topologies that came from a file or a document."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Counts and total size of the stored documents of a kind."""

    documents: int
    bytes: int
    pinned: int
    labelled: int


@dataclass(frozen=True, slots=True)
class Evicted:
    """The evicted documents, and the bytes that remain stored."""

    documents: int
    bytes: int
    left_bytes: int


def usage(engine: Engine, owner: str = EVERYONE) -> Mapping[str, Usage]:
    """Return the usage of an owner by kind; of all owners for an operator.

    The query is one pass over the index of sizes for each kind.
    """
    found: dict[str, Usage] = {}
    whole = owner in OPERATORS
    with engine.connect() as connection:
        by_kind = select(LabelRow.kind, func.count(LabelRow.document_id.distinct()))
        by_kind = by_kind.where(*([] if whole else [LabelRow.owner == owner]))
        labelled = dict(connection.execute(by_kind.group_by(LabelRow.kind)).all())
        for kind, table in TABLES.items():
            mine = [] if whole else [owned_by(owner, kind, table.id)]
            counted = select(func.count(), func.coalesce(func.sum(table.size), 0))
            counted = counted.select_from(table).where(*mine)
            documents, size = connection.execute(counted).one()
            pins = select(func.count()).select_from(table).where(table.pinned.is_(True), *mine)
            pinned = connection.execute(pins).scalar_one()
            found[kind] = Usage(documents, int(size), pinned, labelled.get(kind, 0))
    return found


def evict(engine: Engine, most_bytes: int, stopped: Callable[[], bool] = lambda: False) -> Evicted:
    """Evict documents until at most ``most_bytes`` are stored, or no document may be evicted.

    Batches of `BATCH` documents have one transaction each, and a pause after it; ``stopped``
    ends the eviction between two batches.  A concurrent read finds a whole document or none.
    """
    left = sum(one.bytes for one in usage(engine).values())
    gone, freed = 0, 0
    while left - freed > most_bytes and not stopped():
        documents, size = _batch(engine, left - freed - most_bytes)
        if not documents:
            break
        gone, freed = gone + documents, freed + size
        time.sleep(PAUSE_SECONDS)
    return Evicted(gone, freed, left - freed)


def write_uses(engine: Engine, uses: Uses) -> int:
    """Store the times of the last reads in batches; return the number of documents."""
    written = 0
    while taken := uses.taken(BATCH):
        by_kind: defaultdict[str, list[str]] = defaultdict(list)
        for kind, identity in taken:
            by_kind[kind].append(identity)
        now = datetime.now(UTC).replace(tzinfo=None)
        with engine.begin() as connection:
            for kind, identities in by_kind.items():
                table = TABLES[kind]
                used = update(table).where(table.id.in_(identities))
                connection.execute(used.values(used_at=now))
        written += len(taken)
    return written


def _batch(engine: Engine, excess: int) -> tuple[int, int]:
    """Evict one batch, no more than needed; return the number of documents and their bytes."""
    with engine.connect() as connection:
        rows = [
            (used, identity, size, kind)
            for kind in TABLES
            for identity, size, used in connection.execute(_free(kind).limit(BATCH))
        ]
    rows.sort(key=lambda row: (row[0] or datetime.min, row[1]))
    chosen: defaultdict[str, dict[str, int]] = defaultdict(dict)
    size = 0
    for _, identity, bytes_, kind in rows[:BATCH]:
        if size >= excess:
            break
        chosen[kind][identity] = bytes_
        size += bytes_
    return _delete(engine, chosen)


def _delete(engine: Engine, chosen: Mapping[str, Mapping[str, int]]) -> tuple[int, int]:
    """Delete the chosen documents that may still be evicted: pins may have changed."""
    gone, freed = 0, 0
    for kind, sizes in chosen.items():
        table = TABLES[kind]
        with engine.begin() as connection:
            mine = and_(table.id.in_(list(sizes)), *_may_go(kind))
            rows = connection.execute(delete(table).where(mine).returning(table.id)).all()
            forget(connection, kind, [identity for (identity,) in rows])
        gone, freed = gone + len(rows), freed + sum(sizes[identity] for (identity,) in rows)
    return gone, freed


def _free(kind: str) -> Select[str, int, datetime | None]:
    """Return the query of evictable documents, the least recently used first."""
    table = TABLES[kind]
    query = select(table.id, table.size, table.used_at).where(*_may_go(kind))
    return query.order_by(table.used_at, table.id)


def _may_go(kind: str) -> list[Any]:
    table = TABLES[kind]
    labelled = exists().where(LabelRow.kind == kind, LabelRow.document_id == table.id)
    named = exists().where(ReferenceRow.to_kind == kind, ReferenceRow.to_id == table.id)
    free = [table.pinned.is_(False), ~labelled, ~named]
    if kind == "topology":
        free += [table.request.not_like(beginning) for beginning in _REGISTERED]
    return free
