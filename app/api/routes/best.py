"""/v1/best: the best known topology."""

from typing import Annotated, Any

from fastapi import Depends, Request, Response
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from topoloom.app.api.dependencies import ContextDep
from topoloom.app.api.problems import responses
from topoloom.app.api.query_parameters import asked_by_query
from topoloom.app.api.request_dispatcher import stored_or_computed
from topoloom.app.api.strict_http import strict_router
from topoloom.app.auth.scopes import DESIGN as COMPUTE
from topoloom.app.auth.scopes import READ, require
from topoloom.app.documents import best as document
from topoloom.app.documents.best import BestDocument
from topoloom.app.requests.listing import BestRequest
from topoloom.app.requests.options import cluster, listing
from topoloom.app.requests.renamed import note_former
from topoloom.app.services.context import Context
from topoloom.app.services.operations import DESIGN, FRONTIER

router = strict_router("/v1/best", tags=["best"])

_HOSTS = (
    *listing.BEST_NODES,
    cluster.DEGREE,
    cluster.LINKS,
    cluster.MAX_STEPS,
    listing.MAX_BANDWIDTH,
)
_RUN = (cluster.COLLECTIVE, cluster.DESIGN_BYTES, listing.BEST_WORKLOAD, cluster.PRESET)
_SPEED = (cluster.NODE_GBPS, cluster.PORT_GBPS, cluster.ALPHA_US)
QuestionDep = Annotated[
    BestRequest,
    Depends(
        asked_by_query(BestRequest, *_HOSTS, *_RUN, *_SPEED, listing.SEARCH, listing.CANDIDATES)
    ),
]


@router.get(
    "",
    operation_id="findBest",
    summary="Find the best known topologies without a search",
    dependencies=[READ],
    response_model=None,
    responses={
        200: {"model": BestDocument, "description": "best/1, current and not stored"},
        **responses(422, 503),
    },
)
async def find_best(request: Request, question: QuestionDep, context: ContextDep) -> Response:
    """Return topologies of the atlas and of stored answers; `search` is deprecated."""
    if question.search:
        require(request, COMPUTE)
        note_former("search")
    if question.search and question.timed:
        await stored_or_computed(request, DESIGN, question.design())
    elif question.search:
        await stored_or_computed(request, FRONTIER, question.frontier())
    found = await run_in_threadpool(_found, context.looking(), question)
    return JSONResponse(found, headers={"Cache-Control": "no-store"})


def _found(context: Context, question: BestRequest) -> dict[str, Any]:
    # Imported on first use: the module loads the baselines and their compiled code.
    from topoloom.app.services import best

    return document.of(best.find(context, question))
