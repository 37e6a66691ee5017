"""/v1/plots: the drawings of `topoloom plot`, as SVG."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Depends, Request, Response

from topoloom.app.api.dependencies import IdDep, IfNoneMatchDep
from topoloom.app.api.document_routes import list_route
from topoloom.app.api.problems import responses
from topoloom.app.api.query_parameters import asked_by_query
from topoloom.app.api.request_dispatcher import answered, document
from topoloom.app.api.responses import representation
from topoloom.app.api.routes.retention import manage_routes
from topoloom.app.api.strict_http import strict_router
from topoloom.app.auth.scopes import DESIGN, READ
from topoloom.app.documents.plot import SVG
from topoloom.app.jobs.worker_pool.operations import (
    FRONTIER_PLOT,
    LOAD_PLOT,
    SIZES_PLOT,
    SURVEY_PLOT,
    TREE_PLOT,
)
from topoloom.app.jobs.worker_pool.task import Operation
from topoloom.app.requests.designs import FrontierRequest
from topoloom.app.requests.document_ids import IdPrefix
from topoloom.app.requests.evaluations import LoadPlotRequest, SurveyPlotRequest, TreePlotRequest
from topoloom.app.requests.message_sizes import SizesRequest
from topoloom.app.requests.options import cluster, sweeps_and_jobs
from topoloom.app.requests.options.option import REQUIRED, Option

router = strict_router("/v1/plots", tags=["plots"])

_HOSTS = (cluster.NODES, cluster.DEGREE, cluster.LINKS)
_SCHEDULE = Option(
    name="schedule_id",
    type=IdPrefix,
    default=REQUIRED,
    help="id of a stored schedule, or the first 6 or more of it",
)
_SWEEP = Option(
    name="sweep_id",
    type=IdPrefix,
    default=REQUIRED,
    help="id of a stored sweep over faults, or the first 6 or more of it",
)
_TREE = (
    Option(name="root", type=str, default=REQUIRED, help="id of the rank whose shard is followed"),
    Option(
        name="tree",
        type=int,
        default=1,
        help="which tree of the root, heaviest first",
    ),
    Option(name="part", type=int, help="which part of an allreduce; default: the last"),
)
_DRAWN: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "the drawing; `Content-Location` is where it is stored",
        "content": {SVG: {"schema": {"type": "string"}}},
    },
    **responses(404, 422, 501, 503),
}


def _plot(name: str, does: str, operation: Operation[Any], asked: Callable[..., Any]) -> None:
    """Add the route of a plot."""

    @router.get(
        f"/{name}",
        operation_id=f"draw{name.capitalize()}",
        summary=does,
        dependencies=[DESIGN],
        response_model=None,
        response_class=Response,
        responses=_DRAWN,
    )
    async def draw_plot(
        request: Request,
        question: Annotated[Any, Depends(asked)],
        if_none_match: IfNoneMatchDep = None,
    ) -> Response:
        """Return a drawing, which is kept like every other answer."""
        artefact = await answered(request, operation, question)
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
    "Draw how busy a stored schedule keeps each link",
    LOAD_PLOT,
    asked_by_query(LoadPlotRequest, _SCHEDULE),
)
_plot(
    "survey",
    "Draw what every single fault leaves",
    SURVEY_PLOT,
    asked_by_query(SurveyPlotRequest, _SWEEP),
)
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
    responses=_DRAWN,
)
async def read_plot(request: Request, id: IdDep, if_none_match: IfNoneMatchDep = None) -> Response:
    """Return a drawing by its id."""
    return await representation(
        request, await document(request, "plot", id), "svg", SVG, if_none_match
    )


manage_routes(router, "plot")
