"""Labels, pins and deletion of stored documents."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from topoloom.app.store.indexing import forget
from topoloom.app.store.tables import TABLES, LabelRow, ReferenceRow

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
    """The pin and the labels of a stored document."""

    id: str
    pinned: bool
    labels: tuple[str, ...]


class Keeping:
    """Labels, pins and deletions of the documents of a database.

    Every method takes a kind and a full id.  Without a document of this id, it changes nothing and
    returns None or False.  The seal of a document does not cover labels and pins.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def standing(self, kind: str, identity: str) -> Standing | None:
        """Return the pin and the labels of a document; None without a document."""
        with self.engine.connect() as connection:
            return _standing(connection, kind, identity)

    def label(self, kind: str, identity: str, label: str) -> Standing | None:
        """Add a label to a document; no error if it has the label.

        Raises
        ------
        TooManyLabels
            The document has `MAX_LABELS` other labels.
        """
        try:
            with self.engine.begin() as connection:
                found = _standing(connection, kind, identity)
                if found is None or label in found.labels:
                    return found
                if len(found.labels) >= MAX_LABELS:
                    raise TooManyLabels
                values = {"kind": kind, "document_id": identity, "label": label}
                connection.execute(insert(LabelRow).values(values))
                return _standing(connection, kind, identity)
        except IntegrityError:  # a concurrent request added the label
            return self.standing(kind, identity)

    def unlabel(self, kind: str, identity: str, label: str) -> Standing | None:
        """Remove a label; no error without the label."""
        with self.engine.begin() as connection:
            mine = (LabelRow.kind == kind) & (LabelRow.document_id == identity)
            connection.execute(delete(LabelRow).where(mine, LabelRow.label == label))
            return _standing(connection, kind, identity)

    def pin(self, kind: str, identity: str, pinned: bool) -> Standing | None:
        """Pin or unpin a document."""
        table = TABLES[kind]
        with self.engine.begin() as connection:
            connection.execute(update(table).where(table.id == identity).values(pinned=pinned))
            return _standing(connection, kind, identity)

    def delete(self, kind: str, identity: str) -> bool:
        """Delete a document and its facts; return whether it existed.

        Raises
        ------
        Pinned
            The document is pinned.
        """
        table = TABLES[kind]
        with self.engine.begin() as connection:
            free = (table.id == identity, table.pinned.is_(False))
            if connection.execute(delete(table).where(*free)).rowcount:
                forget(connection, kind, [identity])
                return True
            if _standing(connection, kind, identity) is not None:
                raise Pinned(kind, identity)
        return False

    def referring(self, kind: str, identity: str) -> int:
        """Return the number of stored documents that refer to this document."""
        to = (ReferenceRow.to_kind == kind, ReferenceRow.to_id == identity)
        with self.engine.connect() as connection:
            query = select(func.count()).select_from(ReferenceRow).where(*to)
            return connection.execute(query).scalar_one()


def _standing(connection: Connection, kind: str, identity: str) -> Standing | None:
    table = TABLES[kind]
    query = select(table.pinned).where(table.id == identity)
    pinned = connection.execute(query).scalar_one_or_none()
    if pinned is None:
        return None
    mine = (LabelRow.kind == kind) & (LabelRow.document_id == identity)
    labels: Sequence[str] = (
        connection.execute(select(LabelRow.label).where(mine).order_by(LabelRow.label))
        .scalars()
        .all()
    )
    return Standing(identity, pinned, tuple(labels))
