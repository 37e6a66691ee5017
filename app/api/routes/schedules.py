"""/v1/schedules: verified collective schedules."""

from typing import Annotated, Any, Literal

from fastapi import Query, Request, Response

from topoloom.app.api.dependencies import (
    CREATED,
    AcceptDep,
    FieldsDep,
    IdDep,
    IfNoneMatchDep,
    JsonBody,
)
from topoloom.app.api.document_routes import WorkRoute, create_route, list_route
from topoloom.app.api.negotiation import files_described, negotiate
from topoloom.app.api.problems import responses
from topoloom.app.api.request_dispatcher import answered, document
from topoloom.app.api.responses import created_summary, representation, summary
from topoloom.app.api.routes.export_parameters import OptionsDep
from topoloom.app.api.routes.retention import manage_routes
from topoloom.app.api.strict_http import strict_router
from topoloom.app.auth.scopes import DESIGN, READ
from topoloom.app.documents.schedule import ScheduleSummary
from topoloom.app.documents.schedule_file import ScheduleDocument
from topoloom.app.documents.simulation import SimulationDocument
from topoloom.app.jobs.worker_pool.operations import SCHEDULE, SIMULATION
from topoloom.app.requests.evaluations import TimedScheduleRequest
from topoloom.app.requests.schedules import SimulationRequest
from topoloom.app.requests.stored_documents import ExportQuestion
from topoloom.app.services import schedules
from topoloom.app.services.exports import require_available
from topoloom.schedules.formats import FormatName

router = strict_router("/v1/schedules", tags=["schedules"], route_class=WorkRoute)

MEDIA_TYPES = {name: form.media_type for name, form in schedules.FORMATS.items()}

FormatDep = Annotated[
    FormatName | Literal["summary"] | None,
    Query(
        alias="format",
        description="representation; goes before the Accept header; summary: the properties and "
        "the cost, as POST /v1/schedules answers",
    ),
]


create_route(
    router,
    SCHEDULE,
    operation_id="createSchedule",
    summary="Generate and verify a schedule",
    description="Return the properties and the cost of the schedule, which `Location` repeats; "
    "without the query, the path of `Location` is the schedule.",
    scope=DESIGN,
    responses={
        200: CREATED[200] | {"model": ScheduleSummary},
        201: CREATED[201] | {"model": ScheduleSummary},
        **responses(400, 404, 413, 415, 422, 503),
    },
    shown=created_summary,
)

list_route(router, "schedule", "listSchedules", "schedules")
manage_routes(router, "schedule")


@router.get(
    "/{id}",
    operation_id="readSchedule",
    summary="Read a schedule",
    dependencies=[READ],
    response_model=None,
    responses={
        200: {
            "model": ScheduleDocument | ScheduleSummary,
            "description": "the schedule; large ones are streamed",
            "content": files_described(MEDIA_TYPES.values()),
        },
        **responses(404, 406, 422, 503),
    },
)
async def read_schedule(
    request: Request,
    id: IdDep,
    options: OptionsDep,
    form: FormatDep = None,
    fields: FieldsDep = None,
    accept: AcceptDep = None,
    if_none_match: IfNoneMatchDep = None,
) -> Response:
    """Return the schedule in the format asked for; schedule/1 by default."""
    artefact = await document(request, "schedule", id)
    if form == "summary":
        return summary(request, artefact, if_none_match, fields)
    form_ = negotiate(form, accept, MEDIA_TYPES)
    require_available("schedule", form_, options)
    exported = ExportQuestion(kind="schedule", id=artefact.id, format=form_, options=options)
    media = MEDIA_TYPES[form_]
    return await representation(
        request,
        artefact,
        form_,
        media,
        if_none_match,
        exported,
        fields=fields,
        model=ScheduleDocument,
    )


@router.post(
    "/{id}/simulation",
    operation_id="simulateSchedule",
    summary="Use POST /v1/simulations with schedule_id",
    deprecated=True,
    dependencies=[JsonBody, DESIGN],
    response_model=None,
    responses={
        200: {"model": SimulationDocument, "description": "simulation/1"},
        **responses(400, 404, 413, 415, 422, 503),
    },
)
async def simulate_schedule(request: Request, id: IdDep, body: SimulationRequest) -> Response:
    """Return the simulation/1 document of a stored schedule."""
    members: dict[str, Any] = {name: getattr(body, name) for name in body.model_fields_set}
    asked = TimedScheduleRequest(schedule_id=id, **members)
    artefact = await answered(request, SIMULATION, asked)
    return await representation(request, artefact, "json", "application/json", None)
