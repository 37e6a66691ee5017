"""The documents: one table per kind, all of the same shape."""

from datetime import datetime

from sqlalchemy import BigInteger, Boolean, DateTime, Index, LargeBinary, String, Text, false
from sqlalchemy.orm import Mapped, declared_attr, mapped_column

from topoloom.app.store.tables.base import Base

_SORTED = ("nodes", "degree", "steps", "bandwidth")


class Row(Base):
    """One computed document.

    ``id`` is the SHA-256, in hexadecimal, of the canonical JSON of (kind, kernel
    version, request).  ``request`` is that request's canonical JSON.  ``document`` is
    the answer, compressed, in the form that ``media_type`` names; ``digest`` is its
    SHA-256.  ``summary`` is a small JSON object for lists.  ``created_at`` is in UTC.

    The other columns serve search and retention, and the seal does not cover them.
    ``bandwidth`` is an exact number in the form of `app.store.index_metadata.sortable`,
    ``size`` the bytes of the row, ``used_at`` the approximate time of the last read.
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
        """Return the indexes for the orders of lists and for eviction."""
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
    """topology/1 documents; ``name`` is the name of the topology, or ""."""

    __tablename__ = "topologies"

    name: Mapped[str] = mapped_column(String(80), index=True, server_default="")


class CostRow(Row):
    """cost/1 documents: the measured costs of topologies."""

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
    """Exported documents; the only rows with media types of other programs."""

    __tablename__ = "exports"


class VerificationRow(Row):
    """verification/1 documents: the verdicts of the checker on schedules."""

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


class SweepRow(Row):
    """sweep/1 documents."""

    __tablename__ = "sweeps"


class IterationRow(Row):
    """iteration/1 documents."""

    __tablename__ = "iterations"


class BoxDesignRow(Row):
    """box-design/1 documents."""

    __tablename__ = "box_designs"


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
    "iteration": IterationRow,
    "box-design": BoxDesignRow,
}
"""Kind of document -> its table."""
