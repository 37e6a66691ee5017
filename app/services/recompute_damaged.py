"""Recompute damaged documents from the requests that their rows hold."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from topoloom.app.config import KERNEL_VERSION
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
from topoloom.app.requests.from_cache_keys import restored
from topoloom.app.requests.iterations import IterationRequest
from topoloom.app.requests.message_sizes import SizesRequest
from topoloom.app.requests.patch_plans import PatchPlanRequest
from topoloom.app.requests.schedules import ScheduleRequest
from topoloom.app.requests.stored_documents import ExportQuestion
from topoloom.app.requests.sweeps import SweepRequest
from topoloom.app.requests.topology_source import TopologySource
from topoloom.app.services import (
    box_designs,
    comparisons,
    costs,
    designs,
    exports,
    frontiers,
    iterations,
    patch_plans,
    plots,
    schedules,
    simulations,
    sweeps,
    topologies,
    verifications,
)
from topoloom.app.services.context import Context
from topoloom.app.store.artifacts import Artefact, key_of
from topoloom.app.store.errors import Damaged


def recomputed(context: Context, kind: str, identity: str, key: str) -> Artefact:
    """Return the document of a damaged row, computed from its canonical request ``key``.

    Raises:
        Damaged: ``key`` has another id, belongs to an earlier kernel version, or holds only the
            digest of a topology or a schedule that a client sent.
    """
    # The id comes first: nothing is computed or stored for another request.
    if key_of(KERNEL_VERSION, kind, key) != identity:
        raise Damaged(kind, identity)
    operation, body = restored(kind, key, context.store.question)
    if body is None:
        raise Damaged(kind, identity)
    model, compute = _REQUESTS[operation]
    if "recipe" in body:
        # Canonical recipes hold whole graphs, and may exceed the length that requests allow.
        found = compute(context, model.model_construct(**body))
    else:
        found = compute(context, model.model_validate(body))
    if found.id != identity:
        raise Damaged(kind, identity)
    return found


def _cost(context: Context, request: CostRequest) -> Artefact:
    return costs.measure(context, request.topology)


def _optimum(context: Context, request: TopologyOptimumRequest) -> Artefact:
    return costs.optimum(context, request.topology, request.question())


_REQUESTS: Mapping[str, tuple[type[Request], Callable[[Context, Any], Artefact]]]
_REQUESTS = MappingProxyType(
    {
        "design": (DesignRequest, designs.create),
        "frontier": (FrontierRequest, frontiers.frontier),
        "topology": (TopologySource, topologies.create),
        "cost": (CostRequest, _cost),
        "optimum": (TopologyOptimumRequest, _optimum),
        "schedule": (ScheduleRequest, schedules.create),
        "patch-plan": (PatchPlanRequest, patch_plans.create),
        "export": (ExportQuestion, exports.export),
        "verification": (VerifyRequest, verifications.create),
        "simulation": (TimedScheduleRequest, simulations.create),
        "comparison": (ComparisonRequest, comparisons.create),
        "sweep": (SweepRequest, sweeps.create),
        "iteration": (IterationRequest, iterations.create),
        "box-design": (BoxDesignRequest, box_designs.create),
        "plot-frontier": (FrontierRequest, plots.draw_frontier),
        "plot-sizes": (SizesRequest, plots.draw_sizes),
        "plot-load": (LoadPlotRequest, plots.draw_load),
        "plot-survey": (FaultPlotRequest, plots.draw_faults),
        "plot-iterations": (IterationPlotRequest, plots.draw_iterations),
        "plot-tree": (TreePlotRequest, plots.draw_tree),
    }
)
