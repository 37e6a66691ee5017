"""All that can be asked for and may take long, by name: one table for routes, workers and jobs."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from app.artefacts import Artefact
from app.documents.base import Presented
from app.questions import (
    ExportQuestion,
    OptimumQuestion,
    SimulationQuestion,
    StoredQuestion,
)
from app.schemas import (
    DesignRequest,
    FrontierRequest,
    PatchPlanRequest,
    ScheduleRequest,
    TopologySource,
)
from app.services import (
    costs,
    designs,
    exports,
    frontiers,
    patch_plans,
    schedules,
    simulations,
    topologies,
)
from app.services.context import Context
from app.work.task import Operation

__all__ = [
    "COST",
    "DESIGN",
    "EXPORT",
    "FRONTIER",
    "OPERATIONS",
    "OPTIMUM",
    "PATCH_PLAN",
    "SCHEDULE",
    "SIMULATION",
    "STORED",
    "TOPOLOGY",
]


def _optimum(context: Context, asked: OptimumQuestion) -> Artefact:
    return costs.optimum(context, asked.topology, asked.question)


def _stored(context: Context, asked: StoredQuestion) -> Artefact:
    return context.read(asked.kind, asked.id)


def _simulated(context: Context, asked: SimulationQuestion) -> Presented:
    return simulations.of_stored(context, asked.id, asked.on)


DESIGN = Operation("design", DesignRequest, designs.create)
FRONTIER = Operation("frontier", FrontierRequest, frontiers.frontier)
TOPOLOGY = Operation("topology", TopologySource, topologies.create)
COST = Operation("cost", TopologySource, costs.measure)
OPTIMUM = Operation("optimum", OptimumQuestion, _optimum)
SCHEDULE = Operation("schedule", ScheduleRequest, schedules.create)
SIMULATION = Operation("simulation", SimulationQuestion, _simulated, is_stored=False)
PATCH_PLAN = Operation("patch-plan", PatchPlanRequest, patch_plans.create)
EXPORT = Operation("export", ExportQuestion, exports.export)
STORED = Operation("stored", StoredQuestion, _stored)

OPERATIONS: Mapping[str, Operation[Any]] = MappingProxyType(
    {
        one.name: one
        for one in (
            DESIGN,
            FRONTIER,
            TOPOLOGY,
            COST,
            OPTIMUM,
            SCHEDULE,
            SIMULATION,
            PATCH_PLAN,
            EXPORT,
            STORED,
        )
    }
)
"""The operations by name."""
