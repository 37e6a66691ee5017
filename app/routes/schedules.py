"""/v1/schedules: verified collective schedules."""

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from app.deps import (
    CREATED,
    AcceptDep,
    ContextDep,
    HeavyDep,
    IdDep,
    IfNoneMatchDep,
    JsonBody,
    created,
    list_route,
    representation,
)
from app.negotiation import negotiate
from app.problems import responses
from app.schemas import ScheduleRequest, SimulationRequest
from app.services import schedules, simulations

__all__ = ["router"]

router = APIRouter(prefix="/v1/schedules", tags=["schedules"])

MEDIA_TYPES = {"json": "application/json", "msccl-xml": "application/xml"}

FormatDep = Annotated[
    Literal["json", "msccl-xml"] | None,
    Query(alias="format", description="representation; goes before the Accept header"),
]
DialectDep = Annotated[
    str | None, Query(max_length=40, description="dialect of MSCCL XML, see the documentation")
]


class ScheduleSummary(BaseModel):
    """What a schedule is and costs; the schedule itself is read by its id."""

    id: str
    topology_id: str
    topology: str
    name: str
    algorithm: str
    collective: str
    steps: int = 0
    bandwidth: str = ""
    chunks_per_shard: int = 0
    bandwidth_loss: str = ""
    inverse_rate: str = ""
    trees_per_root: int = 0
    ranks: int = 0
    data: int = 0
    gap: str = ""
    parts: list[dict[str, Any]] = []


@router.post(
    "",
    operation_id="createSchedule",
    summary="Generate and verify a schedule",
    dependencies=[JsonBody, HeavyDep],
    responses={
        200: CREATED[200] | {"model": ScheduleSummary},
        201: CREATED[201] | {"model": ScheduleSummary},
        **responses(400, 404, 413, 415, 422, 503),
    },
)
def create_schedule(request: Request, body: ScheduleRequest, context: ContextDep) -> Response:
    """Return what the schedule is and costs; `Location` is where it can be read."""
    artefact = schedules.create(context, body)
    return created(request, artefact, json.dumps(artefact.summary))


list_route(router, "schedule", "listSchedules", "schedules")


@router.get(
    "/{id}",
    operation_id="readSchedule",
    summary="Read a schedule",
    response_model=None,
    responses={
        200: {
            "description": "the schedule; large ones are streamed",
            "content": {
                "application/json": {"schema": {"type": "object"}},
                "application/xml": {"schema": {"type": "string"}},
            },
        },
        **responses(404, 406, 422, 503),
    },
)
def read_schedule(
    id: IdDep,
    context: ContextDep,
    form: FormatDep = None,
    dialect: DialectDep = None,
    accept: AcceptDep = None,
    if_none_match: IfNoneMatchDep = None,
) -> Response:
    """Return the schedule in the format asked for; schedule/1 by default."""
    artefact = context.read("schedule", id)
    form_ = negotiate(form, accept, MEDIA_TYPES)
    schedules.require_available(form_, dialect)
    return representation(
        artefact,
        f"{form_}-{dialect}" if dialect else form_,
        MEDIA_TYPES[form_],
        if_none_match,
        lambda: schedules.export(context, artefact, form_, dialect),
    )


class Utilisation(BaseModel):
    """For which share of the time links carried data."""

    busiest: float
    mean: float
    busiest_link: dict[str, Any]


class SimulationDocument(BaseModel):
    """simulation/1: the time of a schedule, message by message; ``algbw`` in GB/s."""

    schema_: Annotated[str, Field(alias="schema")]
    schedule_id: str
    topology: str
    collective: str
    request: dict[str, Any]
    seconds: float
    exact_seconds: str
    algbw: float | None
    chunks: int
    messages: int
    events: int
    utilisation: Utilisation


@router.post(
    "/{id}/simulation",
    operation_id="simulateSchedule",
    summary="Simulate a schedule",
    dependencies=[JsonBody, HeavyDep],
    response_model=SimulationDocument,
    responses=responses(400, 404, 413, 415, 422, 503),
)
def simulate_schedule(id: IdDep, body: SimulationRequest, context: ContextDep) -> dict[str, Any]:
    """Return the time of a stored schedule; nothing is stored."""
    return simulations.of_stored(context, id, body)
