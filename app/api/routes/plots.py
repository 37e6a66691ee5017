"""/v1/plots: the drawings of `topoloom plot`, as SVG.

A POST draws.  A GET with a query draws, too, for one more release.
"""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Depends, Request, Response

from topoloom.app.api.dependencies import CREATED, IdDep, IfNoneMatchDep
from topoloom.app.api.document_routes import WorkRoute, create_route, list_route
from topoloom.app.api.problems import responses
from topoloom.app.api.query_parameters import asked_by_query
from topoloom.app.api.request_dispatcher import document, stored_or_computed
from topoloom.app.api.responses import created_response, representation
from topoloom.app.api.routes.retention import manage_routes
from topoloom.app.api.strict_http import strict_router
from topoloom.app.auth.scopes import DESIGN, READ
from topoloom.app.documents.plot import SVG
from topoloom.app.requests.designs import FrontierRequest
from topoloom.app.requests.document_ids import IdPrefix
from topoloom.app.requests.evaluations import FaultPlotRequest, LoadPlotRequest, TreePlotRequest
from topoloom.app.requests.message_sizes import SizesRequest
from topoloom.app.requests.options import cluster, sweeps_and_jobs
from topoloom.app.requests.options.option import REQUIRED, Option
from topoloom.app.services.operations import (
    FAULT_PLOT,
    FRONTIER_PLOT,
    ITERATION_PLOT,
    LOAD_PLOT,
    SIZES_PLOT,
    TREE_PLOT,
    Operation,
)
from topoloom.app.store.artifacts import Artefact

router = strict_router("/v1/plots", tags=["plots"], route_class=WorkRoute)

_HOSTS = (cluster.NODES, cluster.DEGREE, cluster.LINKS)
_SCHEDULE = Option(
    name="schedule_id",
    type=IdPrefix,
    default=REQUIRED,
    help="id of a stored schedule, or its first 6 or more characters",
)
_SWEEP = Option(
    name="sweep_id",
    type=IdPrefix,
    default=REQUIRED,
    help="id of a stored fault analysis, or its first 6 or more characters",
)
_TREE = (
    Option(name="root", type=str, default=REQUIRED, help="id of the rank whose shard is drawn"),
    Option(
        name="tree",
        type=int,
        default=1,
        help="number of the tree of the root, heaviest first",
    ),
    Option(name="part", type=int, help="number of the part of an allreduce; default: the last"),
)
_SVG: dict[str, Any] = {"content": {SVG: {"schema": {"type": "string"}}}}
_READ: dict[int | str, dict[str, Any]] = {
    200: {"description": "the drawing", **_SVG},
    **responses(404, 422, 501, 503),
}


async def _created(request: Request, artefact: Artefact) -> Response:
    return await created_response(request, artefact, media_type=SVG, collection=router.prefix)


def _plot(
    name: str, does: str, operation: Operation[Any], asked: Callable[..., Any] | None = None
) -> None:
    """Add the route of a plot; with ``asked``, also the former route with a query."""
    title = name.title().replace("-", "")
    create_route(
        router,
        operation,
        path=f"/{name}",
        operation_id=f"draw{title}",
        summary=does,
        description="Draw and store a plot; `Location` is the path of the drawing.",
        responses={
            200: CREATED[200] | _SVG,
            201: CREATED[201] | _SVG,
            **responses(400, 404, 413, 415, 422, 501, 503),
        },
        shown=_created,
        response_class=Response,
    )
    if asked is None:
        return

    @router.get(
        f"/{name}",
        operation_id=f"get{title}Plot",
        summary=f"Use POST /v1/plots/{name}",
        deprecated=True,
        dependencies=[DESIGN],
        response_model=None,
        response_class=Response,
        responses=_READ,
    )
    async def draw_plot(
        request: Request,
        question: Annotated[Any, Depends(asked)],
        if_none_match: IfNoneMatchDep = None,
    ) -> Response:
        """Return a drawing; the service stores the drawing."""
        artefact = await stored_or_computed(request, operation, question)
        answer = await representation(request, artefact, "svg", SVG, if_none_match)
        answer.headers["Content-Location"] = f"/v1/plots/{artefact.id}"
        return answer


_plot(
    "frontier",
    "Draw the Pareto frontier of latency and bandwidth",
    FRONTIER_PLOT,
    asked_by_query(FrontierRequest, *_HOSTS),
)
_plot(
    "sizes",
    "Draw times over the size of the data",
    SIZES_PLOT,
    asked_by_query(
        SizesRequest,
        *_HOSTS,
        *(cluster.COLLECTIVE, cluster.WORKLOAD, cluster.PRESET),
        *(sweeps_and_jobs.LEAST_BYTES, sweeps_and_jobs.MOST_BYTES),
        *(cluster.NODE_GBPS, cluster.PORT_GBPS, cluster.ALPHA_US),
    ),
)
_plot(
    "load",
    "Draw the load of each link by a stored schedule",
    LOAD_PLOT,
    asked_by_query(LoadPlotRequest, _SCHEDULE),
)
_plot(
    "fault-analysis",
    "Draw the effect of every single fault",
    FAULT_PLOT,
    asked_by_query(FaultPlotRequest, _SWEEP),
)
_plot("iterations", "Draw the times of a stored sweep of iterations", ITERATION_PLOT)
_plot(
    "tree",
    "Draw a tree of a stored schedule",
    TREE_PLOT,
    asked_by_query(TreePlotRequest, _SCHEDULE, *_TREE),
)

list_route(router, "plot", "listPlots", "drawings")


@router.get(
    "/{id}",
    operation_id="readPlot",
    summary="Read a stored drawing",
    dependencies=[READ],
    response_model=None,
    response_class=Response,
    responses=_READ,
)
async def read_plot(request: Request, id: IdDep, if_none_match: IfNoneMatchDep = None) -> Response:
    """Return a drawing by its id."""
    return await representation(
        request, await document(request, "plot", id), "svg", SVG, if_none_match
    )


manage_routes(router, "plot")
