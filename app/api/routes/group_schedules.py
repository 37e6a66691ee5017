"""/v1/group-schedules: schedules of process groups that run at once."""

from fastapi import Request
from fastapi.responses import JSONResponse

from topoloom.app.api.dependencies import JsonBody
from topoloom.app.api.problems import responses
from topoloom.app.api.request_dispatcher import unstored_answer
from topoloom.app.api.strict_http import strict_router
from topoloom.app.auth.scopes import DESIGN
from topoloom.app.documents.group_schedule import GroupScheduleDocument
from topoloom.app.requests.group_schedules import GroupScheduleRequest
from topoloom.app.services.operations import GROUP_SCHEDULE

router = strict_router("/v1/group-schedules", tags=["schedules"])


@router.post(
    "",
    operation_id="scheduleGroups",
    summary="Generate and verify the schedules of process groups that run at once",
    dependencies=[JsonBody, DESIGN],
    response_model=None,
    responses={
        200: {"model": GroupScheduleDocument, "description": "group-schedule/1"},
        **responses(400, 404, 413, 415, 422, 503),
    },
)
async def schedule_groups(request: Request, body: GroupScheduleRequest) -> JSONResponse:
    """Return the joint rates and the id of the schedule of every group; schedules are stored."""
    return JSONResponse(dict(await unstored_answer(request, GROUP_SCHEDULE, body)))
