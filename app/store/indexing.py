"""Insert and delete the facts of documents in the index tables."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from sqlalchemy import Connection, Select, delete, insert, literal, select, update

from topoloom.app.store.index_metadata import Facts, sortable
from topoloom.app.store.tables import (
    ABOUT,
    TABLES,
    DocumentOwnerRow,
    FamilyRow,
    PointRow,
    ReferenceRow,
    TopologyRow,
)

_INHERITED = ("nodes", "degree", "links")
_MEASURED = ("links", "steps", "bandwidth")


def note(connection: Connection, kind: str, identity: str, facts: Facts) -> None:
    """Insert the facts of a new document in the transaction that inserts the document.

    Replaces earlier facts under this id, except owners and labels.
    """
    for table in (FamilyRow, ReferenceRow, PointRow):
        about = (table.kind == kind) & (table.document_id == identity)
        connection.execute(delete(table).where(about))
    head = {"kind": kind, "document_id": identity}
    _insert(connection, FamilyRow, [head | {"family": name} for name in facts.families])
    references = [head | {"to_kind": to, "to_id": one} for to, one in facts.refers_to]
    _insert(connection, ReferenceRow, references)
    points = [
        head | {"position": position} | {name: getattr(one, name) for name in one.__slots__}
        for position, one in enumerate(facts.points)
    ]
    _insert(connection, PointRow, points)
    if facts.topology_id is not None:
        _inherit(connection, kind, identity, facts.topology_id)
    for one in facts.points:
        values = {"links": one.links, "steps": one.steps, "bandwidth": _exact(one.bandwidth)}
        _measured(connection, one.topology_id, values)
    if kind == "topology":
        _remember(connection, identity)


def note_owners(
    connection: Connection, kind: str, identity: str, owners: Iterable[str], size: int
) -> None:
    """Insert the owners of a new document in the transaction that inserts the document."""
    head = {"kind": kind, "document_id": identity, "size": size}
    _insert(connection, DocumentOwnerRow, [head | {"owner": owner} for owner in sorted(owners)])


def forget(connection: Connection, kind: str, identities: Sequence[str]) -> None:
    """Delete the facts of documents in the transaction that deletes the documents."""
    for table in ABOUT:
        about = (table.kind == kind) & table.document_id.in_(identities)
        connection.execute(delete(table).where(about))


def _insert(connection: Connection, table: Any, rows: Iterable[dict[str, Any]]) -> None:
    listed = list(rows)
    if listed:
        connection.execute(insert(table), listed)


def _exact(bandwidth: str) -> str:
    return sortable(Fraction(bandwidth))


def _inherit(connection: Connection, kind: str, identity: str, topology_id: str) -> None:
    """Fill missing facts of a document from its topology."""
    table = TABLES[kind]
    source = select(*(getattr(TopologyRow, name) for name in _INHERITED))
    found = connection.execute(source.where(TopologyRow.id == topology_id)).one_or_none()
    if found is None:
        return
    for name, value in zip(_INHERITED, found, strict=True):
        column = getattr(table, name)
        missing = update(table).where(table.id == identity, column.is_(None))
        if value is not None:
            connection.execute(missing.values({name: value}))
    connection.execute(
        insert(FamilyRow).from_select(
            ["kind", "document_id", "family"], _families(kind, identity, topology_id)
        )
    )


def _families(kind: str, identity: str, topology_id: str) -> Select[str, str, str]:
    return select(literal(kind), literal(identity), FamilyRow.family).where(
        FamilyRow.kind == "topology", FamilyRow.document_id == topology_id
    )


def _measured(connection: Connection, topology_id: str, values: dict[str, Any]) -> None:
    """Store the measured cost of a topology in its row, for lists."""
    this = update(TopologyRow).where(TopologyRow.id == topology_id)
    unknown = TopologyRow.steps.is_(None) | (TopologyRow.links == "unidirectional")
    connection.execute(this.where(unknown).values(**values))


def _remember(connection: Connection, identity: str) -> None:
    """Restore the cost of a topology that is stored again from other documents."""
    columns = [getattr(PointRow, name) for name in _MEASURED]
    query = select(*columns).where(PointRow.topology_id == identity).limit(1)
    found = connection.execute(query).one_or_none()
    if found is not None:
        values = dict(zip(_MEASURED, found, strict=True))
        _measured(connection, identity, values | {"bandwidth": _exact(values["bandwidth"])})
