"""Facts of stored documents: owners, labels, families, references, points.

`app.store.indexing` and `app.store.owners` fill these tables.  Lists filter and sort by them; no
query scans documents.
"""

from sqlalchemy import BigInteger, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from topoloom.app.store.tables.base import Base


class _About(Base):
    """A fact of a stored document, deleted with the document."""

    __abstract__ = True

    # First in the key: the rows of a document are adjacent.
    kind: Mapped[str] = mapped_column(String(16), primary_key=True, sort_order=-2)
    document_id: Mapped[str] = mapped_column(String(64), primary_key=True, sort_order=-1)


MAX_DOCUMENT_OWNER = 128


class DocumentOwnerRow(_About):
    """An owner of a document; see `app.store.owners`.  ``size`` is the size of the document."""

    __tablename__ = "document_owners"
    __table_args__ = (Index(None, "owner", "kind", "size"),)

    owner: Mapped[str] = mapped_column(String(MAX_DOCUMENT_OWNER), primary_key=True)
    size: Mapped[int] = mapped_column(BigInteger)


class LabelRow(_About):
    """A label that an owner put on a document; everybody sees the labels of ``""``."""

    __tablename__ = "labels"
    __table_args__ = (Index(None, "kind", "label", "document_id"),)

    owner: Mapped[str] = mapped_column(String(MAX_DOCUMENT_OWNER), primary_key=True)
    label: Mapped[str] = mapped_column(String(100), primary_key=True)


class FamilyRow(_About):
    """A family or operator in the recipe of a document."""

    __tablename__ = "families"
    __table_args__ = (Index(None, "kind", "family", "document_id"),)

    family: Mapped[str] = mapped_column(String(64), primary_key=True)


class ReferenceRow(_About):
    """A reference to another document, which is kept while this document is stored."""

    __tablename__ = "document_references"
    __table_args__ = (Index(None, "to_kind", "to_id"),)

    to_kind: Mapped[str] = mapped_column(String(16), primary_key=True)
    to_id: Mapped[str] = mapped_column(String(64), primary_key=True)


class PointRow(_About):
    """A topology whose costs a document states, on the graph and on its transpose.

    ``recipe`` is null if the document does not name it, ``parallel`` if the document does not
    state whether parallel links are allowed.  Bandwidths are exact fractions as texts.  Costs
    are by breadth-first broadcast, or by a slack schedule within ``within_steps``.
    """

    __tablename__ = "points"
    __table_args__ = (
        Index(None, "nodes", "degree", "links"),
        Index(None, "topology_id"),
    )

    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    kernel_version: Mapped[str] = mapped_column(String(32))
    topology_id: Mapped[str] = mapped_column(String(64))
    name: Mapped[str] = mapped_column(String(80))
    recipe: Mapped[str | None] = mapped_column(Text)
    nodes: Mapped[int]
    degree: Mapped[int]
    links: Mapped[str] = mapped_column(String(16))
    parallel: Mapped[bool | None]
    steps: Mapped[int]
    bandwidth: Mapped[str] = mapped_column(Text)
    transpose_steps: Mapped[int]
    transpose_bandwidth: Mapped[str] = mapped_column(Text)
    within_steps: Mapped[int | None]


ABOUT: tuple[type[_About], ...] = (DocumentOwnerRow, LabelRow, FamilyRow, ReferenceRow, PointRow)
"""All tables of facts of documents."""
