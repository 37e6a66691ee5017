"""/v1/topologies: graphs, their costs and the optima of schedules on them."""

from typing import Annotated, Any

from fastapi import Depends, Request, Response

from topoloom.app.api.dependencies import IdDep, IfNoneMatchDep
from topoloom.app.api.document_routes import WorkRoute, create_route, list_route, read_route
from topoloom.app.api.problems import responses
from topoloom.app.api.query_parameters import asked_by_query
from topoloom.app.api.request_dispatcher import stored_or_computed
from topoloom.app.api.responses import representation
from topoloom.app.api.routes.export_parameters import LinkModelDep
from topoloom.app.api.routes.retention import manage_routes
from topoloom.app.api.strict_http import strict_router
from topoloom.app.auth.scopes import DESIGN
from topoloom.app.documents.all_to_all import AllToAllDocument
from topoloom.app.documents.cost import CostDocument
from topoloom.app.documents.optimum import OptimumDocument
from topoloom.app.documents.topology import FORMATS, TopologyDocument
from topoloom.app.requests.evaluations import CostRequest, TopologyOptimumRequest
from topoloom.app.requests.options import collectives
from topoloom.app.requests.options.patch_plans import TopologyFormat
from topoloom.app.requests.schedules import OptimumRequest
from topoloom.app.requests.topology_source import TopologySource
from topoloom.app.services.operations import COST, OPTIMUM, TOPOLOGY

router = strict_router("/v1/topologies", tags=["topologies"], route_class=WorkRoute)

QuestionDep = Annotated[
    OptimumRequest,
    Depends(
        asked_by_query(
            OptimumRequest,
            collectives.OPTIMUM_COLLECTIVE,
            collectives.TREES_PER_ROOT,
            collectives.MAX_GAP,
            collectives.ROOT,
            collectives.SHARDS,
            collectives.PARTICIPANTS,
            collectives.VALUES,
        )
    ),
]


def _document(model: Any, description: str) -> dict[str, Any]:
    return {"model": model, "description": description}


create_route(
    router,
    TOPOLOGY,
    operation_id="createTopology",
    summary="Build or register a topology",
    description="Build a recipe or a named fabric, or register a topology/1 document.",
    scope=DESIGN,
    responses={
        200: _document(TopologyDocument, "topology/1, stored before"),
        201: _document(TopologyDocument, "topology/1; `Location` is its path"),
        **responses(400, 404, 413, 415, 422, 503),
    },
)

list_route(router, "topology", "listTopologies", "topologies")
manage_routes(router, "topology")


read_route(
    router,
    "topology",
    operation_id="readTopology",
    summary="Read a topology",
    model=TopologyDocument,
    description="the topology",
    formats=FORMATS,
    names=TopologyFormat,
    options=LinkModelDep,
)


@router.get(
    "/{id}/cost",
    operation_id="readCost",
    summary="Use POST /v1/costs",
    deprecated=True,
    dependencies=[DESIGN],
    response_model=None,
    responses={200: _document(CostDocument, "cost/1"), **responses(404, 422, 503)},
)
async def read_cost(request: Request, id: IdDep, if_none_match: IfNoneMatchDep = None) -> Response:
    """Return the exact cost of an allgather on the topology and on its transpose."""
    artefact = await stored_or_computed(request, COST, CostRequest(topology=TopologySource(id=id)))
    return await representation(request, artefact, "json", "application/json", if_none_match)


@router.get(
    "/{id}/optimum",
    operation_id="readOptimum",
    summary="Use POST /v1/optima",
    deprecated=True,
    dependencies=[DESIGN],
    response_model=None,
    responses={
        200: _document(OptimumDocument | AllToAllDocument, "optimum/1, or all-to-all/1"),
        **responses(404, 422, 503),
    },
)
async def read_optimum(
    request: Request,
    id: IdDep,
    question: QuestionDep,
    if_none_match: IfNoneMatchDep = None,
) -> Response:
    """Return ForestColl's optimum with the cut that proves it, or that of all-to-all."""
    asked = TopologyOptimumRequest.model_validate(
        {**question.model_dump(exclude_unset=True), "topology": {"id": id}}
    )
    artefact = await stored_or_computed(request, OPTIMUM, asked)
    return await representation(request, artefact, "json", "application/json", if_none_match)
