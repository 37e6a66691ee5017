"""/v1/box-designs: the best topology between boxes of accelerators."""

from fastapi import Request
from fastapi.responses import JSONResponse

from topoloom.app.api.dependencies import JsonBody
from topoloom.app.api.problems import responses
from topoloom.app.api.request_dispatcher import presented
from topoloom.app.api.strict_http import strict_router
from topoloom.app.auth.scopes import DESIGN
from topoloom.app.documents.box_design import BoxDesignDocument
from topoloom.app.jobs.worker_pool.operations import BOX_DESIGN
from topoloom.app.requests.box_designs import BoxDesignRequest

router = strict_router("/v1/box-designs", tags=["designs"])


@router.post(
    "",
    operation_id="designBoxes",
    summary="Find the best topology between boxes of accelerators",
    dependencies=[JsonBody, DESIGN],
    response_model=None,
    responses={
        200: {"model": BoxDesignDocument, "description": "box-design/1"},
        **responses(400, 413, 415, 422, 503),
    },
)
async def design_boxes(request: Request, body: BoxDesignRequest) -> JSONResponse:
    """Return the topologies between boxes, fastest first; only the best topology is stored."""
    return JSONResponse(dict(await presented(request, BOX_DESIGN, body)))
