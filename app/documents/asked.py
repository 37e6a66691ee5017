"""Keys of answers read back: from what a row says was asked to the request that asks it again."""

from collections.abc import Mapping
from typing import Any

from app.schemas import (
    DesignRequest,
    FrontierRequest,
    OptimumRequest,
    PatchPlanRequest,
    ScheduleRequest,
    TopologySource,
)
from app.sweep_request import SweepRequest

__all__ = [
    "Asked",
    "design_again",
    "frontier_again",
    "optimum_again",
    "patch_plan_again",
    "schedule_again",
    "subject_again",
    "sweep_again",
    "topology_again",
]

Asked = Mapping[str, Any]


def design_again(asked: Asked) -> DesignRequest:
    """Return the request for a design."""
    return DesignRequest.model_validate(asked)


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
    if "document" in asked:
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
    pairs = [dict(zip(("panel", "a", "b"), pair, strict=True)) for pair in asked["present"]]
    request = {"topology": subject_again(asked)} | _rest(asked) | {"present": pairs}
    return PatchPlanRequest.model_validate(request)


def sweep_again(asked: Asked) -> SweepRequest:
    """Return the request for a sweep."""
    if "topology_id" not in asked:
        return SweepRequest.model_validate(asked)
    return SweepRequest.model_validate({"topology": subject_again(asked)} | _rest(asked))


def _rest(asked: Asked) -> dict[str, Any]:
    return {name: value for name, value in asked.items() if name != "topology_id"}
