"""/v1/designs: the best topology for a workload."""

from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from app.deps import (
    CREATED,
    ContextDep,
    HeavyDep,
    IdDep,
    IfNoneMatchDep,
    JsonBody,
    created,
    list_route,
    representation,
)
from app.problems import responses
from app.schemas import DesignRequest
from app.services import designs

__all__ = ["router"]

router = APIRouter(prefix="/v1/designs", tags=["designs"])


class CostDocument(BaseModel):
    """Exact cost of one pass."""

    steps: int
    bandwidth: str


class TimedCost(CostDocument):
    """A cost and its time for the workload."""

    seconds: float


class Point(TimedCost):
    """A point of the Pareto frontier."""

    recipe: str
    nodes: int
    degree: int
    transpose: CostDocument
    status: str
    gap: CostDocument
    topology_id: str


class Best(BaseModel):
    """The point of least time, with a verified schedule."""

    recipe: str
    seconds: float
    topology_id: str
    schedule: dict[str, Any] | None
    schedule_left_out: str = ""


class TaskDocument(BaseModel):
    """What runs one task of the workload, and how long it takes once."""

    collective: str
    bytes: int
    count: int
    algorithm: str
    chunks: int
    steps: int
    seconds: float
    floor_seconds: float


class SwitchDocument(BaseModel):
    """From so many bytes on this algorithm is the fastest on the topology."""

    collective: str
    from_bytes: int
    algorithm: str


class UsedSchedule(BaseModel):
    """A verified schedule of an algorithm in use; ``runs`` is what it is a schedule of."""

    collective: str
    algorithm: str
    runs: str
    id: str | None
    left_out: str = ""


class PointSeconds(BaseModel):
    """The time of a point of the frontier, used in the same way."""

    topology_id: str
    seconds: float


class CoDesign(BaseModel):
    """One topology, and the fastest algorithm for every message size."""

    recipe: str
    topology_id: str
    seconds: float
    floor_seconds: float
    tasks: list[TaskDocument]
    switch_over: list[SwitchDocument]
    schedules: list[UsedSchedule]
    points: list[PointSeconds]


class BaselineDocument(BaseModel):
    """What is run today on the same hosts."""

    name: str
    seconds: float
    steps: int
    chunks: int


class DesignDocument(BaseModel):
    """design/1."""

    schema_: str = Field(alias="schema")
    id: str
    request: dict[str, Any]
    workload: dict[str, Any]
    bounds: TimedCost
    frontier: list[Point]
    best: Best
    co_design: CoDesign
    baselines: list[BaselineDocument]


_BODY = {"model": DesignDocument}


@router.post(
    "",
    operation_id="createDesign",
    summary="Find the best topology for a workload",
    dependencies=[JsonBody, HeavyDep],
    responses={
        200: CREATED[200] | _BODY,
        201: CREATED[201] | _BODY,
        **responses(400, 413, 415, 422, 503),
    },
)
def create_design(request: Request, body: DesignRequest, context: ContextDep) -> Response:
    """Search, measure, schedule and verify; the same question is answered once."""
    artefact = designs.create(context, body)
    return created(request, artefact, artefact.text())


list_route(router, "design", "listDesigns", "designs")


@router.get(
    "/{id}",
    operation_id="readDesign",
    summary="Read a design",
    response_model=None,
    responses={200: _BODY | {"description": "design/1"}, **responses(404, 422, 503)},
)
def read_design(id: IdDep, context: ContextDep, if_none_match: IfNoneMatchDep = None) -> Response:
    """Return a design/1 document."""
    artefact = context.read("design", id)
    return representation(artefact, "json", "application/json", if_none_match, artefact.text)
