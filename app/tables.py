"""The tables: one per kind of computed document, all of the same shape, and those of sessions."""

from datetime import datetime

from sqlalchemy import (
    DateTime,
    Float,
    ForeignKey,
    Index,
    LargeBinary,
    MetaData,
    String,
    Text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, declared_attr, mapped_column

__all__ = [
    "TABLES",
    "Base",
    "ClaimRow",
    "CostRow",
    "DesignRow",
    "ExportRow",
    "FrontierRow",
    "LrObservationRow",
    "LrSessionRow",
    "OptimumRow",
    "PatchPlanRow",
    "Row",
    "ScheduleRow",
    "TopologyRow",
]


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

    @declared_attr.directive
    @classmethod
    def __table_args__(cls) -> tuple[Index, ...]:
        """Return the index in whose order lists are read."""
        return (Index(None, "created_at", "id"),)


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


TABLES: dict[str, type[Row]] = {
    "design": DesignRow,
    "frontier": FrontierRow,
    "topology": TopologyRow,
    "cost": CostRow,
    "optimum": OptimumRow,
    "schedule": ScheduleRow,
    "patch-plan": PatchPlanRow,
    "export": ExportRow,
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
