"""Owners of stored documents: who sees a document, and who may change a document.

The table ``document_owners`` has a row for each owner of a document, and a row of `EVERYONE` for a
shared document.  The owner of a caller is the team of the API key, or ``key:ID`` for a key without
a team.  Keys with the scope admin are `ADMIN`; callers of a service without keys are `EVERYONE`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, exists, literal, or_, select, tuple_
from sqlalchemy.dialects import postgresql, sqlite

from topoloom.app.config import Settings
from topoloom.app.store.artifacts import EVERYONE
from topoloom.app.store.tables.documents import TABLES
from topoloom.app.store.tables.index_metadata import DocumentOwnerRow, ReferenceRow

ADMIN = "admin"
"""The owner of documents that keys with the scope admin make."""

OPERATORS = frozenset({EVERYONE, ADMIN})
"""Owners that see and change all documents, jobs and sessions."""

ADDRESS = "address:"
"""Beginning of the names of callers that have no key: nobody owns their documents and jobs."""


@dataclass(frozen=True, slots=True)
class OwnerRules:
    """Rules of an installation for owners.

    New documents are ``private`` or shared.  ``share_answers`` gives a stored answer to every owner
    who sends its request.  ``most_bytes`` is the quota of an owner; 0 for no limit.
    """

    private: bool = True
    share_answers: bool = True
    most_bytes: int = 0

    @classmethod
    def of(cls, settings: Settings) -> "OwnerRules":
        """Return the rules of the settings."""
        return cls(
            settings.private_documents,
            settings.share_answers,
            settings.max_stored_bytes_per_owner,
        )


_INSERT = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
_AT_ONCE = 500


DEFAULT_RULES = OwnerRules()


def owner_of(caller: str) -> str:
    """Return the owner of the documents of a caller; addresses own no documents.

    >>> owner_of("key:0a1b2c3d"), owner_of("address:127.0.0.1")
    ('key:0a1b2c3d', '')
    """
    return EVERYONE if caller.startswith(ADDRESS) else caller


def seen_by(owner: Any, kind: Any, document_id: Any) -> ColumnElement[bool]:
    """Return the condition that an owner sees a document: his own, or a shared one."""
    row = DocumentOwnerRow
    mine = or_(row.owner == owner, row.owner == EVERYONE)
    return exists().where(row.kind == kind, row.document_id == document_id, mine)


def owned_by(owner: Any, kind: Any, document_id: Any) -> ColumnElement[bool]:
    """Return the condition that an owner owns a document."""
    row = DocumentOwnerRow
    return exists().where(row.kind == kind, row.document_id == document_id, row.owner == owner)


def search_conditions(
    owner: str, kind: str, document_id: Any
) -> Sequence[ColumnElement[bool] | None]:
    """Return conditions in the order of a search: own documents, then shared ones, then all.

    The first condition that some document meets decides, so that no document of another owner
    makes a name or a prefix ambiguous.
    """
    if owner == EVERYONE:
        return (None,)
    nearest = (owned_by(owner, kind, document_id), owned_by(EVERYONE, kind, document_id))
    return (*nearest, None) if owner == ADMIN else nearest


def grant(connection: Connection, owner: str, kind: str, identity: str) -> None:
    """Add an owner of a document, and of all documents that it refers to.

    Adds no owner of a missing document.  A document that the owner has is not followed further.
    """
    pending = [(kind, identity)]
    while pending:
        for one in {kind for kind, _ in pending}:
            _insert(connection, owner, one, [id_ for kind_, id_ in pending if kind_ == one])
        found: set[tuple[str, str]] = set()
        for start in range(0, len(pending), _AT_ONCE):
            found |= _referenced(connection, owner, pending[start : start + _AT_ONCE])
        pending = sorted(found)


def _insert(connection: Connection, owner: str, kind: str, ids: Sequence[str]) -> None:
    table, row = TABLES[kind], DocumentOwnerRow
    make = _INSERT[connection.dialect.name]
    for start in range(0, len(ids), _AT_ONCE):
        some = table.id.in_(ids[start : start + _AT_ONCE])
        values = select(literal(kind), table.id, literal(owner), table.size).where(some)
        names = [row.kind, row.document_id, row.owner, row.size]
        connection.execute(make(row).from_select(names, values).on_conflict_do_nothing())


def _referenced(
    connection: Connection, owner: str, documents: Sequence[tuple[str, str]]
) -> set[tuple[str, str]]:
    """Return the stored documents that these documents refer to and the owner lacks."""
    row = ReferenceRow
    query = select(row.to_kind, row.to_id).where(tuple_(row.kind, row.document_id).in_(documents))
    query = query.where(~owned_by(owner, row.to_kind, row.to_id))
    return {(kind, identity) for kind, identity in connection.execute(query)}
