"""/v1/topologies: graphs, their costs and the optima of schedules on them."""

from typing import Annotated, Any

from fastapi import Depends, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from topoloom.app.api.dependencies import AcceptDep, FieldsDep, IdDep, IfNoneMatchDep
from topoloom.app.api.document_routes import WorkRoute, create_route, list_route, plainly
from topoloom.app.api.negotiation import files_described, negotiate
from topoloom.app.api.problems import responses
from topoloom.app.api.request_dispatcher import answered, document
from topoloom.app.api.responses import representation
from topoloom.app.api.routes.retention import manage_routes
from topoloom.app.api.strict_http import strict_router
from topoloom.app.auth.scopes import DESIGN, READ
from topoloom.app.documents.all_to_all import AllToAllDocument
from topoloom.app.documents.cost import CostDocument
from topoloom.app.documents.optimum import OptimumDocument
from topoloom.app.documents.topology import FORMATS, TopologyDocument
from topoloom.app.jobs.worker_pool.operations import COST, OPTIMUM, TOPOLOGY
from topoloom.app.requests.base import Gap
from topoloom.app.requests.evaluations import CostRequest, TopologyOptimumRequest
from topoloom.app.requests.options import collectives
from topoloom.app.requests.options.collectives import AnyCollectiveName
from topoloom.app.requests.options.patch_plans import TopologyFormat
from topoloom.app.requests.schedules import OptimumRequest
from topoloom.app.requests.stored_documents import ExportQuestion
from topoloom.app.requests.topology_source import TopologySource

router = strict_router("/v1/topologies", tags=["topologies"], route_class=WorkRoute)

FormatDep = Annotated[
    TopologyFormat | None,
    Query(alias="format", description="representation; goes before the Accept header"),
]

CollectiveDep = Annotated[AnyCollectiveName, collectives.OPTIMUM_COLLECTIVE.query()]
TreesDep = Annotated[int | None, collectives.TREES_PER_ROOT.query()]
GapDep = Annotated[Gap | None, collectives.MAX_GAP.query()]
RootDep = Annotated[str | None, collectives.ROOT.query(max_length=1000)]
ShardsDep = Annotated[list[str] | None, collectives.SHARDS.query()]
ValuesDep = Annotated[bool | None, collectives.VALUES.query()]
ParticipantsDep = Annotated[list[str] | None, collectives.PARTICIPANTS.query()]


async def _question(
    collective: CollectiveDep = collectives.OPTIMUM_COLLECTIVE.default,
    trees_per_root: TreesDep = None,
    max_gap: GapDep = None,
    root: RootDep = None,
    shards: ShardsDep = None,
    participants: ParticipantsDep = None,
    values: ValuesDep = None,
) -> OptimumRequest:
    """Return the query as a request; errors name the query parameters."""
    given = {
        "trees_per_root": trees_per_root,
        "max_gap": max_gap,
        "root": root,
        "shards": shards,
        "participants": participants,
        "values": values,
    }
    asked = {name: value for name, value in given.items() if value is not None}
    try:
        return OptimumRequest.model_validate({"collective": collective} | asked)
    except ValidationError as error:
        entries = [entry | {"loc": ("query", *entry["loc"])} for entry in error.errors()]
        raise RequestValidationError(entries) from None


QuestionDep = Annotated[OptimumRequest, Depends(_question)]


def _document(model: Any, description: str) -> dict[str, Any]:
    return {"model": model, "description": description}


create_route(
    router,
    TOPOLOGY,
    operation_id="createTopology",
    summary="Build or register a topology",
    description="Build a recipe or a known fabric, or take a topology/1 document as it is.",
    scope=DESIGN,
    responses={
        200: _document(TopologyDocument, "topology/1; it was stored already"),
        201: _document(TopologyDocument, "topology/1; `Location` is where it can be read"),
        **responses(400, 404, 413, 415, 422, 503),
    },
)

list_route(router, "topology", "listTopologies", "topologies")
manage_routes(router, "topology")


@router.get(
    "/{id}",
    operation_id="readTopology",
    summary="Read a topology",
    dependencies=[READ],
    response_model=None,
    responses={
        200: {
            "model": TopologyDocument,
            "description": "the topology",
            "content": files_described(FORMATS.values()),
        },
        **responses(404, 406, 422, 503),
    },
)
@plainly("topology")
async def read_topology(
    request: Request,
    id: IdDep,
    form: FormatDep = None,
    fields: FieldsDep = None,
    accept: AcceptDep = None,
    if_none_match: IfNoneMatchDep = None,
) -> Response:
    """Return the topology in the format asked for; topology/1 by default."""
    artefact = await document(request, "topology", id)
    form_ = negotiate(form, accept, FORMATS)
    exported = None
    if form_ != "json":
        exported = ExportQuestion(kind="topology", id=artefact.id, format=form_)
    media = FORMATS[form_]
    return await representation(
        request,
        artefact,
        form_,
        media,
        if_none_match,
        exported,
        fields=fields,
        model=TopologyDocument,
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
    artefact = await answered(request, COST, CostRequest(topology=TopologySource(id=id)))
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
    artefact = await answered(request, OPTIMUM, asked)
    return await representation(request, artefact, "json", "application/json", if_none_match)
