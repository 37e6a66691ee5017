"""The tables of the database; this import registers all tables, as migrations require."""

from topoloom.app.store.tables.base import Base
from topoloom.app.store.tables.documents import (
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
from topoloom.app.store.tables.index_metadata import (
    ABOUT,
    DocumentOwnerRow,
    FamilyRow,
    LabelRow,
    PointRow,
    ReferenceRow,
)
from topoloom.app.store.tables.jobs import (
    MAX_OWNER,
    MAX_PHASE,
    JobRow,
    PartRow,
    WorkerRow,
)
from topoloom.app.store.tables.lr_sessions import LrObservationRow, LrSessionRow
from topoloom.app.store.tables.service_state import (
    ApiKeyRow,
    AuditRow,
    ClaimRow,
    PatchProgressRow,
)
from topoloom.app.store.tables.webhooks import MAX_URL, WebhookRow

__all__ = [
    "ABOUT",
    "MAX_OWNER",
    "MAX_PHASE",
    "MAX_URL",
    "TABLES",
    "ApiKeyRow",
    "AuditRow",
    "Base",
    "ClaimRow",
    "ComparisonRow",
    "CostRow",
    "DesignRow",
    "DocumentOwnerRow",
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
