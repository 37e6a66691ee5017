"""/v1/network-curves: the time of a traced program over latency and bandwidth."""

from fastapi import Request
from fastapi.responses import JSONResponse

from topoloom.app.api.dependencies import JsonBody
from topoloom.app.api.problems import responses
from topoloom.app.api.request_dispatcher import unstored_answer
from topoloom.app.api.strict_http import strict_router
from topoloom.app.auth.scopes import DESIGN
from topoloom.app.documents.network_curves import NetworkCurvesDocument
from topoloom.app.requests.network_curves import NetworkCurvesRequest
from topoloom.app.services.operations import NETWORK_CURVES

router = strict_router("/v1/network-curves", tags=["iterations"])


@router.post(
    "",
    operation_id="findNetworkCurves",
    summary="Find the time of a traced program over latency and bandwidth",
    dependencies=[JsonBody, DESIGN],
    response_model=None,
    responses={
        200: {"model": NetworkCurvesDocument, "description": "network-curves/1, not stored"},
        **responses(400, 413, 415, 422, 503),
    },
)
async def find_network_curves(request: Request, body: NetworkCurvesRequest) -> JSONResponse:
    """Return the curves of a trace's collectives and gaps; nothing is stored."""
    return JSONResponse(await unstored_answer(request, NETWORK_CURVES, body))
