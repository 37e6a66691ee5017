"""/v1/iterations: training iterations on the best topology."""

from topoloom.app.api.dependencies import CREATED
from topoloom.app.api.document_routes import (
    TRACES_HERE,
    WorkRoute,
    create_route,
    list_route,
    read_route,
)
from topoloom.app.api.problems import responses
from topoloom.app.api.routes.retention import manage_routes
from topoloom.app.api.strict_http import strict_router
from topoloom.app.documents.iteration import IterationDocument
from topoloom.app.services.operations import ITERATION

router = strict_router("/v1/iterations", tags=["iterations"], route_class=WorkRoute)

_BODY = {"model": IterationDocument}

create_route(
    router,
    ITERATION,
    operation_id="simulateIteration",
    summary="Simulate a training iteration, and find its best topology and placement",
    description="Return the iteration, its phases and what limits it.",
    responses={
        200: CREATED[200] | _BODY,
        201: CREATED[201] | _BODY,
        **responses(400, 413, 415, 422, 503),
    },
    read_here=TRACES_HERE,
)

list_route(router, "iteration", "listIterations", "iterations")
manage_routes(router, "iteration")


read_route(
    router,
    "iteration",
    operation_id="readIteration",
    summary="Read an iteration",
    model=IterationDocument,
    description="iteration/1",
)
