"""The tables: one per kind of computed document, all of the same shape, and what is known of them.

Lists are filtered and sorted by columns, and by the tables of labels, families, references and
points, which `app.indexing` fills from the documents: no question scans through documents.
"""

from datetime import datetime

from sqlalchemy import (
    BigInteger,
    Boolean,
    DateTime,
    Float,
    ForeignKey,
    Index,
    LargeBinary,
    MetaData,
    String,
    Text,
    UniqueConstraint,
    false,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, declared_attr, mapped_column

__all__ = [
    "ABOUT",
    "TABLES",
    "ApiKeyRow",
    "Base",
    "ClaimRow",
    "ComparisonRow",
    "CostRow",
    "DesignRow",
    "ExportRow",
    "FamilyRow",
    "FrontierRow",
    "LabelRow",
    "LrObservationRow",
    "LrSessionRow",
    "OptimumRow",
    "PatchPlanRow",
    "PatchProgressRow",
    "PlotRow",
    "PointRow",
    "ReferenceRow",
    "Row",
    "ScheduleRow",
    "SimulationRow",
    "SweepRow",
    "TopologyRow",
    "VerificationRow",
]

_SORTED = ("nodes", "degree", "steps", "bandwidth")


class Base(DeclarativeBase):
    """Holds the metadata that migrations are compared with."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class Row(Base):
    """One computed document.

    ``id`` is the SHA-256, in hexadecimal, of the canonical JSON of (kind, kernel
    version, request).  ``request`` is that request's canonical JSON.  ``document`` is
    the answer, compressed, in the form that ``media_type`` names; ``digest`` is its
    SHA-256.  ``summary`` is a small JSON object for lists.  ``created_at`` is in UTC.

    The rest is for finding and keeping it, and not sealed: ``bandwidth`` is an exact number
    as `app.facts.sortable` writes it, ``size`` the bytes that the row takes, ``used_at`` about
    when it was read last.
    """

    __abstract__ = True

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    kernel_version: Mapped[str] = mapped_column(String(32))
    request: Mapped[str] = mapped_column(Text)
    summary: Mapped[str] = mapped_column(Text)
    media_type: Mapped[str] = mapped_column(String(64))
    document: Mapped[bytes] = mapped_column(LargeBinary)
    digest: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[datetime] = mapped_column(DateTime)
    nodes: Mapped[int | None]
    degree: Mapped[int | None]
    links: Mapped[str | None] = mapped_column(String(16))
    steps: Mapped[int | None]
    bandwidth: Mapped[str | None] = mapped_column(String(56))
    pinned: Mapped[bool] = mapped_column(Boolean, server_default=false())
    size: Mapped[int] = mapped_column(BigInteger, server_default="0", index=True)
    used_at: Mapped[datetime | None] = mapped_column(DateTime)

    @declared_attr.directive
    @classmethod
    def __table_args__(cls) -> tuple[Index, ...]:
        """Return the indexes in whose order lists are read, and old documents are found."""
        orders = (Index(None, column, "created_at", "id") for column in _SORTED)
        return (
            Index(None, "created_at", "id"),
            *orders,
            Index(None, "pinned", "created_at", "id"),
            Index(None, "used_at", "id"),
        )


class DesignRow(Row):
    """design/1 documents."""

    __tablename__ = "designs"


class FrontierRow(Row):
    """frontier/1 documents."""

    __tablename__ = "frontiers"


class TopologyRow(Row):
    """topology/1 documents; ``name`` is that of the topology, "" if it has none."""

    __tablename__ = "topologies"

    name: Mapped[str] = mapped_column(String(80), index=True, server_default="")


class CostRow(Row):
    """cost/1 documents: what a topology was measured to cost."""

    __tablename__ = "costs"


class OptimumRow(Row):
    """optimum/1 documents."""

    __tablename__ = "optima"


class ScheduleRow(Row):
    """schedule/1 documents."""

    __tablename__ = "schedules"


class PatchPlanRow(Row):
    """patch-plan/1 documents."""

    __tablename__ = "patch_plans"


class ExportRow(Row):
    """Documents in the formats of others; the only rows whose media types are not ours."""

    __tablename__ = "exports"


class ClaimRow(Base):
    """A document that is being computed: by whom, and until when that holds.

    ``until`` is in seconds since 1970, by the clock of the owner.
    """

    __tablename__ = "claims"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    owner: Mapped[str] = mapped_column(String(32), index=True)
    until: Mapped[float] = mapped_column(Float)


class VerificationRow(Row):
    """verification/1 documents: what a checker says of a schedule."""

    __tablename__ = "verifications"


class SimulationRow(Row):
    """simulation/1 documents."""

    __tablename__ = "simulations"


class ComparisonRow(Row):
    """comparison/1 documents."""

    __tablename__ = "comparisons"


class PlotRow(Row):
    """Drawings, as SVG."""

    __tablename__ = "plots"


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
    say whether there may be parallel links.  Bandwidths are exact fractions as texts.
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


ABOUT: tuple[type[_About], ...] = (LabelRow, FamilyRow, ReferenceRow, PointRow)
"""All that is kept beside a document."""


class ApiKeyRow(Base):
    """An API key; moments are in UTC.

    ``id`` is the part of the key that is no secret, ``secret_hash`` the SHA-256, in
    hexadecimal, of the part that is.  ``scopes`` are joined by blanks.
    """

    __tablename__ = "api_keys"

    id: Mapped[str] = mapped_column(String(8), primary_key=True)
    name: Mapped[str] = mapped_column(String(80))
    secret_hash: Mapped[str] = mapped_column(String(64))
    scopes: Mapped[str] = mapped_column(String(80))
    created_at: Mapped[datetime] = mapped_column(DateTime)
    expires_at: Mapped[datetime | None] = mapped_column(DateTime)
    revoked_at: Mapped[datetime | None] = mapped_column(DateTime)
    used_at: Mapped[datetime | None] = mapped_column(DateTime)


class PatchProgressRow(Base):
    """How far a patch plan is: what was seen of its panels last, as JSON.

    ``site`` is the digest of the plant that the plan holds, and no other plan may then hold; none
    once it is done or given up.  ``version`` grows with every change.
    """

    __tablename__ = "patch_progress"
    __table_args__ = (UniqueConstraint("site"),)

    plan_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    site: Mapped[str | None] = mapped_column(String(64))
    version: Mapped[int]
    seen: Mapped[str] = mapped_column(Text)
    changed_at: Mapped[datetime] = mapped_column(DateTime)


class SweepRow(Row):
    """sweep/1 documents."""

    __tablename__ = "sweeps"


TABLES: dict[str, type[Row]] = {
    "design": DesignRow,
    "frontier": FrontierRow,
    "topology": TopologyRow,
    "cost": CostRow,
    "optimum": OptimumRow,
    "schedule": ScheduleRow,
    "patch-plan": PatchPlanRow,
    "export": ExportRow,
    "verification": VerificationRow,
    "simulation": SimulationRow,
    "comparison": ComparisonRow,
    "plot": PlotRow,
    "sweep": SweepRow,
}
"""Kind of document -> where it is kept."""


class LrSessionRow(Base):
    """A training job whose learning rate is tuned; the machine's state is a snapshot.

    ``sequence`` is the number of the last observation that counts, ``entries`` how many the log
    has, and ``version`` grows with every change.  ``lease`` and ``lease_before`` are SHA-256 of
    what the trainer shows, empty for none; ``seen_at`` is when it last did.
    """

    __tablename__ = "lr_sessions"
    __table_args__ = (Index(None, "created_at", "id"),)

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    name: Mapped[str] = mapped_column(String(80))
    status: Mapped[str] = mapped_column(String(16))
    state: Mapped[str] = mapped_column(Text)
    sequence: Mapped[int]
    entries: Mapped[int]
    version: Mapped[int]
    lease: Mapped[str] = mapped_column(String(64))
    lease_before: Mapped[str] = mapped_column(String(64))
    seen_at: Mapped[datetime] = mapped_column(DateTime)
    created_at: Mapped[datetime] = mapped_column(DateTime)


class LrObservationRow(Base):
    """One entry of a session's log, never changed: what answered which action, and the answer.

    An entry of some ``sequence`` stands in the place of all earlier entries from that number
    on.  ``start`` is the trainer's step before it; ``status``, ``step`` and ``spent`` are
    those after it, as is ``state``, which is kept where a stage begins.
    """

    __tablename__ = "lr_observations"
    __table_args__ = (Index(None, "session_id", "sequence", "entry"),)

    session_id: Mapped[str] = mapped_column(
        String(64), ForeignKey("lr_sessions.id", ondelete="CASCADE"), primary_key=True
    )
    entry: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    sequence: Mapped[int]
    unasked: Mapped[bool]
    losses: Mapped[str] = mapped_column(Text)
    action: Mapped[str] = mapped_column(Text)
    stage: Mapped[int]
    trial: Mapped[int | None]
    start: Mapped[int]
    answer: Mapped[str] = mapped_column(Text)
    status: Mapped[str] = mapped_column(String(16))
    step: Mapped[int]
    spent: Mapped[int]
    state: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(DateTime)
