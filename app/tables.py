"""The tables: one per kind of computed document, all of the same shape."""

from datetime import datetime

from sqlalchemy import DateTime, Index, LargeBinary, MetaData, String, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, declared_attr, mapped_column

__all__ = [
    "TABLES",
    "Base",
    "CostRow",
    "DesignRow",
    "FrontierRow",
    "OptimumRow",
    "PatchPlanRow",
    "Row",
    "ScheduleRow",
    "SweepRow",
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
    "sweep": SweepRow,
}
"""Kind of document -> where it is kept."""
