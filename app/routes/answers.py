"""/v1/frontiers, costs, optima, verify, simulations, comparisons: a question, and its document."""

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from app import schemas
from app.checking_requests import (
    ComparisonRequest,
    CostRequest,
    TimedScheduleRequest,
    TopologyOptimumRequest,
    VerifyRequest,
)
from app.deps import (
    CREATED,
    ContextDep,
    FieldsDep,
    IdDep,
    IfNoneMatchDep,
    JsonBody,
    created,
    list_route,
    representation,
)
from app.documents.all_to_all import AllToAllDocument
from app.documents.comparison import ComparisonDocument
from app.documents.cost import CostDocument
from app.documents.frontier import FrontierDocument
from app.documents.optimum import OptimumDocument
from app.documents.simulation import SimulationDocument
from app.documents.verification import VerificationDocument
from app.problems import responses
from app.routes.managing import manage_routes
from app.services import comparisons, costs, frontiers, simulations, verifications
from app.services.context import Context
from app.store import Artefact
from app.turns import looked_up_first

__all__ = ["routers"]


def _measure(context: Context, body: CostRequest) -> Artefact:
    return costs.measure(context, body.topology, field="/topology")


def _optimum(context: Context, body: TopologyOptimumRequest) -> Artefact:
    return costs.optimum(context, body.topology, body.question(), field="/topology")


def _router(
    path: str,
    kind: str,
    does: str,
    asked: type[BaseModel],
    create: Callable[[Context, Any], Artefact],
    model: Any,
    stored: str = "",
) -> APIRouter:
    """Return the routes of a kind: create, list, read, label, pin, delete.

    ``stored`` tells the reading of one apart from a route of the same name elsewhere.
    """
    plural = path.replace("-", " ")
    router = APIRouter(prefix=f"/v1/{path}", tags=[plural])
    name = kind.capitalize()
    body_model = {"model": model}

    @router.post(
        "",
        operation_id=f"create{name}",
        summary=does,
        dependencies=[JsonBody],
        response_model=None,
        responses={
            200: CREATED[200] | body_model,
            201: CREATED[201] | body_model,
            **responses(400, 404, 413, 415, 422, 503),
        },
    )
    @looked_up_first
    def create_document(request: Request, body: asked, context: ContextDep) -> Response:  # pyright: ignore[reportInvalidTypeForm]
        """Answer a question; the same one is answered once."""
        artefact = create(context, body)
        return created(request, artefact, artefact.text())

    list_route(router, kind, f"list{name}s" if name != "Optimum" else "listOptima", plural)

    @router.get(
        "/{id}",
        operation_id=f"read{stored}{name}",
        summary=f"Read a stored {kind}",
        response_model=None,
        responses={200: body_model | {"description": f"{kind}/1"}, **responses(404, 422, 503)},
    )
    @looked_up_first
    def read_document(
        request: Request,
        id: IdDep,
        context: ContextDep,
        fields: FieldsDep = None,
        if_none_match: IfNoneMatchDep = None,
    ) -> Response:
        """Return a stored document."""
        artefact = context.read(kind, id)
        return representation(
            request,
            artefact,
            "json",
            "application/json",
            if_none_match,
            fields=fields,
            model=model,
        )

    manage_routes(router, kind)
    return router


routers = (
    _router(
        "frontiers",
        "frontier",
        "Find the Pareto frontier of latency and bandwidth",
        schemas.FrontierRequest,
        frontiers.frontier,
        FrontierDocument,
    ),
    _router("costs", "cost", "Measure any topology", CostRequest, _measure, CostDocument, "Stored"),
    _router(
        "optima",
        "optimum",
        "Find the best any collective could do on any topology",
        TopologyOptimumRequest,
        _optimum,
        OptimumDocument | AllToAllDocument,
        "Stored",
    ),
    _router(
        "verify",
        "verification",
        "Check a schedule, independently of how it was made",
        VerifyRequest,
        verifications.create,
        VerificationDocument,
    ),
    _router(
        "simulations",
        "simulation",
        "Simulate any schedule message by message",
        TimedScheduleRequest,
        simulations.create,
        SimulationDocument,
    ),
    _router(
        "comparisons",
        "comparison",
        "Put stored designs, or schedules, side by side",
        ComparisonRequest,
        comparisons.create,
        ComparisonDocument,
    ),
)
"""One of each kind of document that a single question answers."""
