"""Facts of stored documents: labels, families, references, points.

`app.store.indexing` fills these tables from the documents.  Lists filter and sort by them; no
query scans documents.
"""

from sqlalchemy import Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from topoloom.app.store.tables.base import Base


class _About(Base):
    """A fact of a stored document, deleted with the document."""

    __abstract__ = True

    # First in the key: the rows of a document are adjacent.
    kind: Mapped[str] = mapped_column(String(16), primary_key=True, sort_order=-2)
    document_id: Mapped[str] = mapped_column(String(64), primary_key=True, sort_order=-1)


class LabelRow(_About):
    """A label of a document."""

    __tablename__ = "labels"
    __table_args__ = (Index(None, "kind", "label", "document_id"),)

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


ABOUT: tuple[type[_About], ...] = (LabelRow, FamilyRow, ReferenceRow, PointRow)
"""All tables of facts of documents."""
