"""/api/oxc/allreduce: the schedules that SimAI-OXC asks its scheduling service for."""

from fastapi import Request
from fastapi.responses import JSONResponse

from topoloom.app.api.dependencies import JsonBody
from topoloom.app.api.problems import responses
from topoloom.app.api.request_dispatcher import unstored_answer
from topoloom.app.api.strict_http import strict_router
from topoloom.app.auth.scopes import DESIGN
from topoloom.app.documents.oxc import OxcFlows
from topoloom.app.requests.oxc import OxcRequest
from topoloom.app.services.operations import OXC_ALLREDUCE

router = strict_router("/api/oxc", tags=["schedules"])


@router.post(
    "/allreduce",
    operation_id="scheduleOxcAllreduce",
    summary="Schedule an allreduce for SimAI-OXC",
    dependencies=[JsonBody, DESIGN],
    response_model=None,
    responses={
        200: {"model": OxcFlows, "description": "flows: source rank, target rank, step, bytes"},
        **responses(400, 413, 415, 422, 503),
    },
)
async def schedule_allreduce(request: Request, body: OxcRequest) -> JSONResponse:
    """Return the flows of the allreduce of every communication domain; nothing is stored."""
    return JSONResponse((await unstored_answer(request, OXC_ALLREDUCE, body))["flows"])
