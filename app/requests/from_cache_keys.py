"""Keys of answers read back: from what a row says was asked to the request that asks it again."""

from collections.abc import Mapping
from typing import Any

from topoloom.app.requests.designs import DesignRequest, FrontierRequest
from topoloom.app.requests.evaluations import (
    ComparisonRequest,
    LoadPlotRequest,
    SurveyPlotRequest,
    TimedScheduleRequest,
    TreePlotRequest,
    VerifyRequest,
)
from topoloom.app.requests.message_sizes import SizesRequest
from topoloom.app.requests.patch_plans import PatchPlanRequest
from topoloom.app.requests.schedules import ExportRequest, OptimumRequest, ScheduleRequest
from topoloom.app.requests.stored_documents import ExportQuestion
from topoloom.app.requests.sweeps import SweepRequest
from topoloom.app.requests.topology_source import TopologySource

__all__ = [
    "Asked",
    "comparison_again",
    "design_again",
    "export_again",
    "frontier_again",
    "frontier_plot_again",
    "optimum_again",
    "patch_plan_again",
    "plot_again",
    "plotted_frontier",
    "schedule_again",
    "simulation_again",
    "subject_again",
    "sweep_again",
    "topology_again",
    "verification_again",
]

Asked = Mapping[str, Any]


def design_again(asked: Asked) -> DesignRequest:
    """Return the request for a design."""
    return DesignRequest.model_validate(asked)


def export_again(asked: Asked) -> ExportQuestion:
    """Return which document was wanted in which format.

    >>> export_again({"of": "schedule", "id": "0" * 64, "format": "chakra-et", "bytes": 64}).variant
    'chakra-et-bytes=64'
    """
    said = {name: value for name, value in asked.items() if name not in ("of", "id", "format")}
    options = ExportRequest.model_validate(said)
    return ExportQuestion(kind=asked["of"], id=asked["id"], format=asked["format"], options=options)


def frontier_again(asked: Asked) -> FrontierRequest:
    """Return the request for a frontier."""
    return FrontierRequest.model_validate(asked)


def topology_again(asked: Asked) -> TopologySource | None:
    """Return the source of a topology; None of one that came as it is, known by its digest.

    >>> topology_again({"fabric": "dgx-a100-2"}) == TopologySource(fabric="dgx-a100-2")
    True
    >>> topology_again({"document": "sha256:…", "name": ""}) is None
    True
    """
    if "document" in asked or "assumed" in asked:
        return None
    if "recipe" in asked:
        # Longer than a request may be: it can hold whole graphs.
        return TopologySource.model_construct(**asked)
    if "changes" in asked:
        changes = {name: parts for name, parts in asked["changes"].items() if parts}
        asked = {"id": asked["topology_id"], "changes": changes}
    return TopologySource.model_validate(asked)


def subject_again(asked: Asked) -> TopologySource:
    """Return the stored topology that an answer is about."""
    return TopologySource(id=asked["topology_id"])


def optimum_again(asked: Asked) -> OptimumRequest:
    """Return the request for an optimum, beside its topology."""
    return OptimumRequest.model_validate(_rest(asked))


def schedule_again(asked: Asked) -> ScheduleRequest:
    """Return the request for a schedule."""
    return ScheduleRequest.model_validate({"topology": subject_again(asked)} | _rest(asked))


def patch_plan_again(asked: Asked) -> PatchPlanRequest:
    """Return the request for a patch plan."""
    if "plant" in asked:
        return PatchPlanRequest.model_validate({"topology": subject_again(asked)} | _rest(asked))
    pairs = [dict(zip(("panel", "a", "b"), pair, strict=True)) for pair in asked["present"]]
    request = {"topology": subject_again(asked)} | _rest(asked) | {"present": pairs}
    return PatchPlanRequest.model_validate(request)


def verification_again(asked: Asked) -> VerifyRequest | None:
    """Return the request for a check; None of what was sent along, known by its digest."""
    if "schedule_id" not in asked:
        return None
    return VerifyRequest(topology=subject_again(asked), schedule_id=asked["schedule_id"])


def simulation_again(asked: Asked) -> TimedScheduleRequest | None:
    """Return the request for a simulation; None of what was sent along."""
    if "schedule_id" not in asked:
        return None
    named = {"topology": subject_again(asked), "schedule_id": asked["schedule_id"]}
    return TimedScheduleRequest.model_validate(named | asked["simulation"])


def comparison_again(asked: Asked) -> ComparisonRequest:
    """Return the request for a comparison."""
    names = {"design": "designs", "schedule": "schedules"}
    compared: dict[str, Any] = {
        names[kind]: ids for kind, ids in asked["of"].items() if kind in names
    }
    if "topology" in asked["of"]:
        compared["topology"] = {"id": asked["of"]["topology"][0]}
    said = {name: value for name, value in asked.items() if name != "of"}
    return ComparisonRequest.model_validate(compared | said)


def plotted_frontier(asked: Asked) -> str | None:
    """Return the id of the frontier that is drawn; None where something else is."""
    return next(iter(asked["of"].get("frontier", ())), None)


def plot_again(asked: Asked) -> LoadPlotRequest | SurveyPlotRequest:
    """Return the request for the drawing of a schedule, or of a survey."""
    if asked["plot"] == "survey":
        return SurveyPlotRequest(sweep_id=asked["of"]["sweep"][0])
    schedule = {"schedule_id": asked["of"]["schedule"][0]}
    if asked["plot"] == "load":
        return LoadPlotRequest.model_validate(schedule)
    said = {name: value for name, value in asked.items() if name not in ("plot", "of")}
    return TreePlotRequest.model_validate(schedule | said)


def frontier_plot_again(asked: Asked, drawn: FrontierRequest) -> FrontierRequest:
    """Return the request for the drawing of a frontier, or of times on its topologies."""
    if asked["plot"] == "frontier":
        return drawn
    return SizesRequest.model_validate(asked["request"])


def sweep_again(asked: Asked) -> SweepRequest:
    """Return the request for a sweep."""
    if "topology_id" not in asked:
        return SweepRequest.model_validate(asked)
    return SweepRequest.model_validate({"topology": subject_again(asked)} | _rest(asked))


def _rest(asked: Asked) -> dict[str, Any]:
    return {name: value for name, value in asked.items() if name != "topology_id"}
