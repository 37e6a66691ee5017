"""/v1/iterations: training iterations on the best topology."""

from fastapi import Request
from fastapi.responses import JSONResponse

from topoloom.app.api.dependencies import JsonBody
from topoloom.app.api.problems import responses
from topoloom.app.api.request_dispatcher import presented
from topoloom.app.api.strict_http import strict_router
from topoloom.app.auth.scopes import DESIGN
from topoloom.app.documents.iteration import IterationDocument
from topoloom.app.jobs.worker_pool.operations import ITERATION
from topoloom.app.requests.iterations import IterationRequest

router = strict_router("/v1/iterations", tags=["iterations"])


@router.post(
    "",
    operation_id="simulateIteration",
    summary="Simulate a training iteration, and find its best topology and placement",
    dependencies=[JsonBody, DESIGN],
    response_model=None,
    responses={
        200: {"model": IterationDocument, "description": "iteration/1"},
        **responses(400, 413, 415, 422, 503),
    },
)
async def simulate_iteration(request: Request, body: IterationRequest) -> JSONResponse:
    """Return the iteration, its phases and what limits it; nothing is stored."""
    return JSONResponse(dict(await presented(request, ITERATION, body)))
