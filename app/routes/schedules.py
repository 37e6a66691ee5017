"""/v1/schedules: verified collective schedules."""

from typing import Annotated

from fastapi import Query, Request, Response
from fastapi.responses import JSONResponse

from app.access.scopes import DESIGN, READ
from app.deps import CREATED, AcceptDep, FieldsDep, IdDep, IfNoneMatchDep, JsonBody
from app.documents.schedule import ScheduleSummary
from app.documents.schedule_file import ScheduleDocument
from app.documents.simulation import SimulationDocument
from app.manners import strict_router
from app.negotiation import files_described, negotiate
from app.options.exporting import ScheduleFormat
from app.problems import responses
from app.questions import ExportQuestion, SimulationQuestion
from app.representing import created_summary, representation
from app.routes.export_options import OptionsDep
from app.routes.managing import manage_routes
from app.routing import WorkRoute, create_route, list_route
from app.schedule_requests import SimulationRequest
from app.services import schedules
from app.services.exports import require_available
from app.turns import document, presented
from app.work.operations import SCHEDULE, SIMULATED

__all__ = ["router"]

router = strict_router("/v1/schedules", tags=["schedules"], route_class=WorkRoute)

MEDIA_TYPES = {name: form.media_type for name, form in schedules.FORMATS.items()}

FormatDep = Annotated[
    ScheduleFormat | None,
    Query(alias="format", description="representation; goes before the Accept header"),
]


create_route(
    router,
    SCHEDULE,
    operation_id="createSchedule",
    summary="Generate and verify a schedule",
    description="Return what the schedule is and costs; `Location` is where it can be read.",
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
            "model": ScheduleDocument,
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
    summary="Simulate a schedule",
    dependencies=[JsonBody, DESIGN],
    response_model=None,
    responses={
        200: {"model": SimulationDocument, "description": "simulation/1"},
        **responses(400, 404, 413, 415, 422, 503),
    },
)
async def simulate_schedule(request: Request, id: IdDep, body: SimulationRequest) -> JSONResponse:
    """Return the time of a stored schedule; nothing is stored."""
    question = SimulationQuestion(id=id, on=body)
    return JSONResponse(dict(await presented(request, SIMULATED, question)))
