"""/v1/schedules: verified collective schedules."""

import json
from collections.abc import Iterable, Mapping
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import JSONResponse

from app.access.scopes import DESIGN, READ
from app.archives import zipped
from app.deps import (
    CREATED,
    AcceptDep,
    ContextDep,
    IdDep,
    IfNoneMatchDep,
    JsonBody,
    created,
    list_route,
    representation,
)
from app.documents.schedule import ScheduleSummary
from app.documents.schedule_file import ScheduleDocument
from app.documents.simulation import SimulationDocument
from app.negotiation import negotiate
from app.options import table
from app.options.table import ScheduleFormat
from app.problems import responses
from app.quantities import Bytes, Positive
from app.schemas import ScheduleRequest, SimulationRequest
from app.services import schedules, simulations
from app.turns import computing, looked_up_first

__all__ = ["router"]

router = APIRouter(prefix="/v1/schedules", tags=["schedules"])

MEDIA_TYPES = {name: form.media_type for name, form in schedules.FORMATS.items()}

FormatDep = Annotated[
    ScheduleFormat | None,
    Query(alias="format", description="representation; goes before the Accept header"),
]


async def _options(
    dialect: Annotated[str | None, table.DIALECT.query(max_length=40)] = None,
    inplace: Annotated[bool | None, table.INPLACE.query()] = None,
    ranks_per_node: Annotated[int | None, table.RANKS_PER_NODE.query()] = None,
    bytes: Annotated[Bytes | None, table.EXPORT_BYTES.query()] = None,
    alpha_us: Annotated[Positive | None, table.EXPORT_ALPHA_US.query()] = None,
    node_gbps: Annotated[Positive | None, table.EXPORT_NODE_GBPS.query()] = None,
) -> schedules.Options:
    """Return what the query says about the format."""
    return schedules.Options(
        dialect=dialect,
        inplace=inplace,
        ranks_per_node=ranks_per_node,
        bytes=bytes,
        alpha_us=alpha_us,
        node_gbps=node_gbps,
    )


OptionsDep = Annotated[schedules.Options, Depends(_options)]


@router.post(
    "",
    operation_id="createSchedule",
    summary="Generate and verify a schedule",
    dependencies=[JsonBody, DESIGN],
    responses={
        200: CREATED[200] | {"model": ScheduleSummary},
        201: CREATED[201] | {"model": ScheduleSummary},
        **responses(400, 404, 413, 415, 422, 503),
    },
)
@looked_up_first
def create_schedule(request: Request, body: ScheduleRequest, context: ContextDep) -> Response:
    """Return what the schedule is and costs; `Location` is where it can be read."""
    artefact = schedules.create(context, body)
    return created(request, artefact, json.dumps(artefact.summary))


list_route(router, "schedule", "listSchedules", "schedules")


@router.get(
    "/{id}",
    operation_id="readSchedule",
    summary="Read a schedule",
    dependencies=[READ],
    response_model=None,
    responses={
        200: {
            "model": ScheduleDocument,
            "description": "the schedule; large ones are streamed",
            "content": {
                media: {"schema": {"type": "string"}}
                for name, media in MEDIA_TYPES.items()
                if name != "json"
            },
        },
        **responses(404, 406, 422, 503),
    },
)
@looked_up_first
def read_schedule(
    request: Request,
    id: IdDep,
    context: ContextDep,
    options: OptionsDep,
    form: FormatDep = None,
    accept: AcceptDep = None,
    if_none_match: IfNoneMatchDep = None,
) -> Response:
    """Return the schedule in the format asked for; schedule/1 by default."""
    artefact = context.read("schedule", id)
    form_ = negotiate(form, accept, MEDIA_TYPES)
    schedules.require_options(form_, options)
    variant = "-".join([form_, *(f"{name}={value}" for name, value in options.given.items())])
    return representation(
        request,
        artefact,
        variant,
        MEDIA_TYPES[form_],
        if_none_match,
        lambda: _content(schedules.export(context, artefact, form_, options)),
    )


def _content(exported: Iterable[str] | schedules.Files) -> bytes | Iterable[str]:
    """Return what is sent: several files are packed into one."""
    if isinstance(exported, Mapping):
        return zipped({f"schedule{name}": data for name, data in exported.items()})
    return exported


@router.post(
    "/{id}/simulation",
    operation_id="simulateSchedule",
    summary="Simulate a schedule",
    dependencies=[JsonBody, DESIGN],
    response_model=None,
    responses={
        200: {"model": SimulationDocument, "description": "simulation/1"},
        **responses(400, 404, 413, 415, 422, 503),
    },
)
@computing
def simulate_schedule(
    request: Request, id: IdDep, body: SimulationRequest, context: ContextDep
) -> JSONResponse:
    """Return the time of a stored schedule; nothing is stored."""
    return JSONResponse(dict(simulations.of_stored(context, id, body)))
