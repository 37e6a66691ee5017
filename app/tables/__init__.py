"""The tables of the database; whoever imports any of them knows all, as migrations must."""

from app.tables.base import Base
from app.tables.documents import (
    TABLES,
    ComparisonRow,
    CostRow,
    DesignRow,
    ExportRow,
    FrontierRow,
    OptimumRow,
    PatchPlanRow,
    PlotRow,
    Row,
    ScheduleRow,
    SimulationRow,
    SweepRow,
    TopologyRow,
    VerificationRow,
)
from app.tables.jobs import MAX_OWNER, MAX_PHASE, MAX_URL, JobRow, PartRow, WebhookRow, WorkerRow
from app.tables.known import ABOUT, FamilyRow, LabelRow, PointRow, ReferenceRow
from app.tables.learning_rates import LrObservationRow, LrSessionRow
from app.tables.service import ApiKeyRow, ClaimRow, PatchProgressRow

__all__ = [
    "ABOUT",
    "MAX_OWNER",
    "MAX_PHASE",
    "MAX_URL",
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
    "JobRow",
    "LabelRow",
    "LrObservationRow",
    "LrSessionRow",
    "OptimumRow",
    "PartRow",
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
    "WebhookRow",
    "WorkerRow",
]
