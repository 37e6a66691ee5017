"""Labels, pins, sharing and deletion of stored documents."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from topoloom.app.store.errors import NotOwner
from topoloom.app.store.owners import EVERYONE, OPERATORS, grant, owned_by, seen_by
from topoloom.app.store.tables import ABOUT, TABLES, DocumentOwnerRow, LabelRow

MAX_LABELS = 50
"""Most labels of one document."""


class Pinned(ValueError):
    """A pinned document cannot be deleted.

    >>> str(Pinned("design", "ab12cd"))
    'id: the design ab12cd is pinned; unpin it first'
    """

    def __init__(self, kind: str, identity: str) -> None:
        self.field = "id"
        self.rule = f"the {kind} {identity} is pinned; unpin it first"
        super().__init__(f"{self.field}: {self.rule}")


class TooManyLabels(ValueError):
    """A document has the most labels that are allowed.

    >>> str(TooManyLabels())
    'label: must be one of at most 50 labels of a document'
    """

    def __init__(self) -> None:
        self.field = "label"
        self.rule = f"must be one of at most {MAX_LABELS} labels of a document"
        super().__init__(f"{self.field}: {self.rule}")


@dataclass(frozen=True, slots=True)
class Standing:
    """The pin and the labels of a stored document, and whether every key may read it."""

    id: str
    pinned: bool
    labels: tuple[str, ...]
    shared: bool


class Keeping:
    """Labels, pins and deletions of the documents of a database.

    Every method takes a kind and a full id.  Without a document of this id that the owner sees, it
    changes nothing and returns None or False.  A document that the owner sees, but does not own,
    raises `NotOwner`; operators own all documents.  Owners see shared labels and their own.  The
    seal of a document does not cover labels and pins.
    """

    def __init__(self, engine: Engine, owner: str = EVERYONE) -> None:
        self.engine = engine
        self._owner = owner
        self._is_operator = owner in OPERATORS
        self._labels_owner = EVERYONE if self._is_operator else owner

    def standing(self, kind: str, identity: str) -> Standing | None:
        """Return the pin and the labels of a document; None without a document."""
        with self.engine.connect() as connection:
            return self._standing(connection, kind, identity)

    def label(self, kind: str, identity: str, label: str) -> Standing | None:
        """Add a label to a document; no error if it has the label.

        Raises:
            TooManyLabels: The document has `MAX_LABELS` other labels.
        """
        try:
            with self.engine.begin() as connection:
                found = self._owned(connection, kind, identity)
                if found is None or label in found.labels:
                    return found
                if len(found.labels) >= MAX_LABELS:
                    raise TooManyLabels
                values = {"kind": kind, "document_id": identity, "label": label}
                values["owner"] = self._labels_owner
                connection.execute(insert(LabelRow).values(values))
                return self._standing(connection, kind, identity)
        except IntegrityError:  # a concurrent request added the label
            return self.standing(kind, identity)

    def unlabel(self, kind: str, identity: str, label: str) -> Standing | None:
        """Remove a label; no error without the label."""
        with self.engine.begin() as connection:
            if self._owned(connection, kind, identity) is None:
                return None
            mine = [LabelRow.kind == kind, LabelRow.document_id == identity]
            mine += [] if self._is_operator else [LabelRow.owner == self._owner]
            connection.execute(delete(LabelRow).where(*mine, LabelRow.label == label))
            return self._standing(connection, kind, identity)

    def pin(self, kind: str, identity: str, pinned: bool) -> Standing | None:
        """Pin or unpin a document."""
        table = TABLES[kind]
        with self.engine.begin() as connection:
            if self._owned(connection, kind, identity) is None:
                return None
            connection.execute(update(table).where(table.id == identity).values(pinned=pinned))
            return self._standing(connection, kind, identity)

    def share(self, kind: str, identity: str, shared: bool) -> Standing | None:
        """Share a document, with all documents that it refers to; or end the sharing of it alone.

        A document without another owner is then left to operators.
        """
        with self.engine.begin() as connection:
            if self._owned(connection, kind, identity) is None:
                return None
            if shared:
                grant(connection, EVERYONE, kind, identity)
            else:
                _release(connection, EVERYONE, kind, identity)
            return self._standing(connection, kind, identity)

    def delete(self, kind: str, identity: str) -> bool:
        """Delete a document and its facts; return whether it existed.

        A document that has other owners, or is shared, stays for them: it only loses the owner.

        Raises:
            Pinned: The document is pinned.
        """
        table = TABLES[kind]
        with self.engine.begin() as connection:
            found = self._owned(connection, kind, identity)
            if found is None:
                return False
            if found.pinned:
                raise Pinned(kind, identity)
            if not self._is_operator and _release(connection, self._owner, kind, identity):
                mine = (LabelRow.document_id == identity, LabelRow.owner == self._owner)
                connection.execute(delete(LabelRow).where(LabelRow.kind == kind, *mine))
                return True
            free = (table.id == identity, table.pinned.is_(False))
            if connection.execute(delete(table).where(*free)).rowcount:
                forget(connection, kind, [identity])
        return True

    def _standing(self, connection: Connection, kind: str, identity: str) -> Standing | None:
        """Return the standing of a document that the owner sees."""
        table = TABLES[kind]
        query = select(table.pinned, owned_by(EVERYONE, kind, table.id).label("shared"))
        query = query.where(table.id == identity)
        if not self._is_operator:
            query = query.where(seen_by(self._owner, kind, table.id))
        found = connection.execute(query).one_or_none()
        if found is None:
            return None
        mine = [LabelRow.kind == kind, LabelRow.document_id == identity]
        mine += [] if self._is_operator else [LabelRow.owner.in_((self._owner, EVERYONE))]
        labels = select(LabelRow.label).where(*mine).distinct().order_by(LabelRow.label)
        words = connection.execute(labels).scalars().all()
        return Standing(identity, found.pinned, tuple(words), found.shared)

    def _owned(self, connection: Connection, kind: str, identity: str) -> Standing | None:
        """Return the standing of a document that the owner may change."""
        found = self._standing(connection, kind, identity)
        if found is not None and not self._is_operator:
            owned = select(owned_by(self._owner, kind, identity))
            if not connection.execute(owned).scalar_one():
                raise NotOwner(kind, identity)
        return found


def _release(connection: Connection, owner: str, kind: str, identity: str) -> bool:
    """Remove an owner of a document; return whether the document has other owners."""
    row = DocumentOwnerRow
    this = (row.kind == kind, row.document_id == identity)
    connection.execute(delete(row).where(*this, row.owner == owner))
    return connection.execute(select(func.count()).where(*this)).scalar_one() > 0


def forget(connection: Connection, kind: str, identities: Sequence[str]) -> None:
    """Delete the facts of documents in the transaction that deletes the documents."""
    for table in ABOUT:
        about = (table.kind == kind) & table.document_id.in_(identities)
        connection.execute(delete(table).where(about))
