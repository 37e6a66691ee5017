"""/v1/schedules: verified collective schedules."""

from typing import Any, Literal

from fastapi import Request, Response

from topoloom.app.api.dependencies import (
    CREATED,
    IdDep,
    JsonBody,
)
from topoloom.app.api.document_routes import WorkRoute, create_route, list_route, read_route
from topoloom.app.api.problems import responses
from topoloom.app.api.request_dispatcher import stored_or_computed
from topoloom.app.api.responses import created_summary, representation
from topoloom.app.api.routes.export_parameters import OptionsDep
from topoloom.app.api.routes.retention import manage_routes
from topoloom.app.api.strict_http import strict_router
from topoloom.app.auth.scopes import DESIGN
from topoloom.app.documents.schedule import ScheduleSummary
from topoloom.app.documents.schedule_file import ScheduleDocument
from topoloom.app.documents.simulation import SimulationDocument
from topoloom.app.requests.evaluations import TimedScheduleRequest
from topoloom.app.requests.schedules import SimulationRequest
from topoloom.app.services.operations import SCHEDULE, SIMULATION
from topoloom.schedules.formats import FORMATS, FormatName

router = strict_router("/v1/schedules", tags=["schedules"], route_class=WorkRoute)

MEDIA_TYPES = {name: form.media_type for name, form in FORMATS.items()}

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


read_route(
    router,
    "schedule",
    operation_id="readSchedule",
    summary="Read a schedule",
    model=ScheduleDocument,
    shown=ScheduleDocument | ScheduleSummary,
    description="the schedule; large ones are streamed; with format=summary the answer of POST",
    formats=MEDIA_TYPES,
    names=FormatName | Literal["summary"],
    options=OptionsDep,
    is_exported=True,
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
    artefact = await stored_or_computed(request, SIMULATION, asked)
    return await representation(request, artefact, "json", "application/json", None)
