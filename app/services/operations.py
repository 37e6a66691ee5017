"""Table of the long-running operations by name, shared by routes, workers, jobs and repairs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from topoloom.app.documents.base import Presented
from topoloom.app.requests.base import Request
from topoloom.app.requests.box_designs import BoxDesignRequest
from topoloom.app.requests.designs import DesignRequest, FrontierRequest
from topoloom.app.requests.evaluations import (
    ComparisonRequest,
    CostRequest,
    FaultPlotRequest,
    IterationPlotRequest,
    LoadPlotRequest,
    TimedScheduleRequest,
    TopologyOptimumRequest,
    TreePlotRequest,
    VerifyRequest,
)
from topoloom.app.requests.group_schedules import GroupScheduleRequest
from topoloom.app.requests.iterations import IterationRequest
from topoloom.app.requests.message_sizes import SizesRequest
from topoloom.app.requests.network_curves import NetworkCurvesRequest
from topoloom.app.requests.oxc import OxcRequest
from topoloom.app.requests.patch_plans import CrossWiringRequest, PatchPlanRequest
from topoloom.app.requests.schedules import ScheduleRequest
from topoloom.app.requests.stored_documents import (
    ExportQuestion,
    FaultAnalysisQuestion,
    PartQuestion,
    RepairsQuestion,
    StoredQuestion,
)
from topoloom.app.requests.sweeps import SweepRequest
from topoloom.app.requests.topology_source import TopologySource
from topoloom.app.services import (
    box_designs,
    comparisons,
    costs,
    cross_wiring,
    designs,
    exports,
    frontiers,
    group_schedules,
    iterations,
    network_curves,
    oxc,
    patch_plans,
    plots,
    repairs,
    schedules,
    simulations,
    sparse_fields,
    sweeps,
    topologies,
    verifications,
)
from topoloom.app.services.context import Context
from topoloom.app.store.artifacts import Artefact

B = TypeVar("B", bound=Request)


@dataclass(frozen=True, slots=True)
class Operation(Generic[B]):
    """An operation: a request model, and a function that answers with a document."""

    name: str
    body: type[B]
    answer: Callable[[Context, B], Artefact | Presented]


def _measured(context: Context, asked: CostRequest) -> Artefact:
    return costs.measure(context, asked.topology, field="/topology")


def _optimum(context: Context, asked: TopologyOptimumRequest) -> Artefact:
    return costs.optimum(context, asked.topology, asked.question(), field="/topology")


def _stored(context: Context, asked: StoredQuestion) -> Artefact:
    return context.read(asked.kind, asked.id)


DESIGN = Operation("design", DesignRequest, designs.create)
FRONTIER = Operation("frontier", FrontierRequest, frontiers.frontier)
TOPOLOGY = Operation("topology", TopologySource, topologies.create)
COST = Operation("cost", CostRequest, _measured)
OPTIMUM = Operation("optimum", TopologyOptimumRequest, _optimum)
SCHEDULE = Operation("schedule", ScheduleRequest, schedules.create)
PATCH_PLAN = Operation("patch-plan", PatchPlanRequest, patch_plans.create)
VERIFICATION = Operation("verification", VerifyRequest, verifications.create)
SIMULATION = Operation("simulation", TimedScheduleRequest, simulations.create)
COMPARISON = Operation("comparison", ComparisonRequest, comparisons.create)
FRONTIER_PLOT = Operation("plot-frontier", FrontierRequest, plots.draw_frontier)
SIZES_PLOT = Operation("plot-sizes", SizesRequest, plots.draw_sizes)
LOAD_PLOT = Operation("plot-load", LoadPlotRequest, plots.draw_load)
FAULT_PLOT = Operation("plot-survey", FaultPlotRequest, plots.draw_faults)
ITERATION_PLOT = Operation("plot-iterations", IterationPlotRequest, plots.draw_iterations)
TREE_PLOT = Operation("plot-tree", TreePlotRequest, plots.draw_tree)
EXPORT = Operation("export", ExportQuestion, exports.export)
SWEEP = Operation("sweep", SweepRequest, sweeps.create)
STORED = Operation("stored", StoredQuestion, _stored)
REPAIRS = Operation("repairs", RepairsQuestion, repairs.of_stored)
FAULT_ANALYSIS = Operation(
    "fault-analysis", FaultAnalysisQuestion, repairs.fault_analysis_of_stored
)
CROSS_WIRING = Operation("cross-wiring", CrossWiringRequest, cross_wiring.of_plant)
BOX_DESIGN = Operation("box-design", BoxDesignRequest, box_designs.create)
GROUP_SCHEDULE = Operation("group-schedule", GroupScheduleRequest, group_schedules.create)
ITERATION = Operation("iteration", IterationRequest, iterations.create)
NETWORK_CURVES = Operation("network-curves", NetworkCurvesRequest, network_curves.curves_document)
OXC_ALLREDUCE = Operation("oxc-allreduce", OxcRequest, oxc.allreduce)
PART = Operation("part", PartQuestion, sparse_fields.part)

OPERATIONS: Mapping[str, Operation[Any]] = MappingProxyType(
    {one.name: one for one in dict(globals()).values() if isinstance(one, Operation)}
)
"""The operations by name."""
