"""Lists of stored documents, filtered, sorted and paginated by indexed columns alone."""

import base64
import binascii
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Connection, Select, and_, func, select, tuple_

from topoloom.app.store.artifacts import Listed
from topoloom.app.store.index_metadata import sortable
from topoloom.app.store.owners import EVERYONE, OPERATORS, seen_by
from topoloom.app.store.tables import TABLES, FamilyRow, LabelRow, Row

Bound: TypeAlias = int | Fraction | datetime

SORTS = ("created", "nodes", "degree", "steps", "bandwidth")
"""Sort keys of lists; a leading minus puts the largest or newest first."""

_COLUMNS = {"created": "created_at"}


class InvalidCursor(ValueError):
    """The cursor of a list is not from an earlier answer."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Filters and order of a list.

    ``ranges`` maps keys of `SORTS` to the least and the most value, either may be None.  An entry
    without the value is in no range, and last in an order by it.
    """

    ranges: Mapping[str, tuple[Bound | None, Bound | None]] = field(default_factory=dict)
    links: str | None = None
    family: str | None = None
    label: str | None = None
    pinned: bool | None = None
    sort: str = "-created"


def page(
    connection: Connection,
    kind: str,
    limit: int,
    cursor: str | None,
    wanted: Wanted,
    owner: str = EVERYONE,
) -> tuple[list[Listed], str | None]:
    """Return up to ``limit`` entries that an owner sees, and the cursor of the next page.

    The cursor is None on the last page.

    A cursor holds the sort key, the storage time and the id of the last entry.  None of the three
    ever changes: inserts and deletions between two pages move no other entry across pages.

    Raises:
        InvalidCursor: The cursor is not from an earlier page of a list in the same order.
    """
    table = TABLES[kind]
    start = None if cursor is None else _position(cursor, wanted.sort)
    query = entries(table).where(*_conditions(table, kind, wanted, owner)).limit(limit + 1)
    rows: list[Any] = []
    for part in _parts(table, wanted.sort, start):
        if len(rows) <= limit:
            rows += connection.execute(part(query).limit(limit + 1 - len(rows))).all()
    more = len(rows) > limit
    last = rows[limit - 1] if more else None
    return rows_with_labels(connection, kind, rows[:limit], owner), last and _cursor(
        last, wanted.sort
    )


def total(connection: Connection, kind: str, wanted: Wanted, owner: str = EVERYONE) -> int:
    """Return the number of entries that an owner sees over all pages."""
    table = TABLES[kind]
    query = select(func.count()).select_from(table)
    query = query.where(*_conditions(table, kind, wanted, owner))
    return connection.execute(query).scalar_one()


def entries(table: type[Row]) -> Select[*tuple[Any, ...]]:
    """Return the query of the columns that lists show, without an order."""
    names = ("id", "kernel_version", "created_at", "request", "summary", "pinned", *SORTS[1:])
    return select(*(getattr(table, name) for name in names))


def rows_with_labels(
    connection: Connection, kind: str, rows: Sequence[Any], owner: str = EVERYONE
) -> list[Listed]:
    """Return the rows of `entries` with the labels that an owner sees."""
    labels: defaultdict[str, list[str]] = defaultdict(list)
    if rows:
        mine = LabelRow.document_id.in_([row.id for row in rows])
        query = select(LabelRow.document_id, LabelRow.label).where(LabelRow.kind == kind, mine)
        query = query.where(*_labels_seen(owner)).distinct()
        for identity, label in connection.execute(query.order_by(LabelRow.label)):
            labels[identity].append(label)
    return [
        Listed(
            row.id,
            row.kernel_version,
            row.created_at,
            json.loads(row.request),
            json.loads(row.summary),
            row.pinned,
            tuple(labels[row.id]),
        )
        for row in rows
    ]


def _labels_seen(owner: str) -> list[ColumnElement[bool]]:
    return [] if owner in OPERATORS else [LabelRow.owner.in_((owner, EVERYONE))]


def _conditions(
    table: type[Row], kind: str, wanted: Wanted, owner: str
) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if owner not in OPERATORS:
        found.append(seen_by(owner, kind, table.id))
    for name, (least, most) in wanted.ranges.items():
        column = getattr(table, _COLUMNS.get(name, name))
        found += [column >= _stored(least)] if least is not None else []
        found += [column <= _stored(most)] if most is not None else []
    if wanted.links is not None:
        found.append(table.links == wanted.links)
    if wanted.pinned is not None:
        found.append(table.pinned.is_(wanted.pinned))
    for row, column, word, more in (
        (FamilyRow, FamilyRow.family, wanted.family, []),
        (LabelRow, LabelRow.label, wanted.label, _labels_seen(owner)),
    ):
        if word is not None:
            having = select(row.document_id).where(row.kind == kind, column == word, *more)
            found.append(table.id.in_(having))
    return found


def _stored(value: Bound) -> Any:
    return sortable(value) if isinstance(value, Fraction) else value


def _parts(table: type[Row], sort: str, start: "_Start | None") -> list[Any]:
    """Return functions that order and start a query: rows with a value, then rows without."""
    name = sort.removeprefix("-")
    ordered, when = getattr(table, _COLUMNS.get(name, name)), (table.created_at, table.id)
    down = sort.startswith("-")

    def part(columns: tuple[Any, ...], where: list[Any], after: tuple[Any, ...] | None) -> Any:
        if after is not None:
            place, there = tuple_(*columns), tuple_(*after)
            where = [*where, place < there if down else place > there]
        order = [column.desc() if down else column.asc() for column in columns]
        return lambda query: query.where(and_(True, *where)).order_by(*order)

    if name == "created":
        return [part(when, [], None if start is None else start[1:])]
    valued = part((ordered, *when), [ordered.is_not(None)], start)
    none = ordered.is_(None)
    if start is not None and start[0] is None:
        return [part(when, [none], start[1:])]
    return [valued, part(when, [none], None)]


_Start: TypeAlias = tuple[int | str | None, datetime, str]


def _cursor(row: Any, sort: str) -> str:
    name = sort.removeprefix("-")
    value = None if name == "created" else getattr(row, name)
    text = json.dumps([sort, value, row.created_at.isoformat(), row.id], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _position(cursor: str, sort: str) -> _Start:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        made_for, value, moment, identity = json.loads(base64.urlsafe_b64decode(padded))
        if not isinstance(identity, str) or isinstance(value, bool):
            raise ValueError
        kind = str if sort.endswith("bandwidth") else int
        if value is not None and not (isinstance(value, kind) and "created" not in sort):
            raise ValueError
        if isinstance(value, int) and abs(value) > 2**31:
            raise ValueError
        start = value, datetime.fromisoformat(moment).replace(tzinfo=None), identity
    except (TypeError, ValueError, RecursionError, binascii.Error):
        raise InvalidCursor("cursor: must be one that an earlier answer gave") from None
    if made_for != sort:
        raise InvalidCursor(f"cursor: must be one of a list in this order, not by {made_for!r:.20}")
    return start
