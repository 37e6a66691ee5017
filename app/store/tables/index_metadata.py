"""What is known of stored documents: labels, families, references, points.

`app.store.indexing` fills them from the documents; lists are filtered and sorted by them, and no
question scans through documents.
"""

from sqlalchemy import Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from topoloom.app.store.tables.base import Base


class _About(Base):
    """Something that is known of a stored document; it goes when that goes."""

    __abstract__ = True

    # First in the key: a document's own rows lie together.
    kind: Mapped[str] = mapped_column(String(16), primary_key=True, sort_order=-2)
    document_id: Mapped[str] = mapped_column(String(64), primary_key=True, sort_order=-1)


class LabelRow(_About):
    """A word that somebody put on a document."""

    __tablename__ = "labels"
    __table_args__ = (Index(None, "kind", "label", "document_id"),)

    label: Mapped[str] = mapped_column(String(100), primary_key=True)


class FamilyRow(_About):
    """A family or operator in the recipe that a document is about."""

    __tablename__ = "families"
    __table_args__ = (Index(None, "kind", "family", "document_id"),)

    family: Mapped[str] = mapped_column(String(64), primary_key=True)


class ReferenceRow(_About):
    """Another document whose id a document holds: it is kept as long as that is."""

    __tablename__ = "document_references"
    __table_args__ = (Index(None, "to_kind", "to_id"),)

    to_kind: Mapped[str] = mapped_column(String(16), primary_key=True)
    to_id: Mapped[str] = mapped_column(String(64), primary_key=True)


class PointRow(_About):
    """A topology whose costs a document tells, on the graph and on its transpose.

    ``recipe`` is left out where the document does not say it, ``parallel`` where it does not
    say whether there may be parallel links.  Bandwidths are exact fractions as texts.  Costs
    are by breadth-first broadcast, or by labels within ``within_steps``.
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
"""All that is kept beside a document."""
