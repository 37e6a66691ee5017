"""/v1/frontiers, costs, optima, verifications, simulations, comparisons: single answers."""

from typing import Any

from fastapi import APIRouter

from topoloom.app.api.dependencies import CREATED
from topoloom.app.api.document_routes import WorkRoute, create_route, list_route, read_route
from topoloom.app.api.problems import responses
from topoloom.app.api.routes.retention import manage_routes
from topoloom.app.api.strict_http import strict_router
from topoloom.app.documents.all_to_all import AllToAllDocument
from topoloom.app.documents.comparison import ComparisonDocument
from topoloom.app.documents.cost import CostDocument
from topoloom.app.documents.frontier import FrontierDocument
from topoloom.app.documents.group_optimum import GroupOptimumDocument
from topoloom.app.documents.optimum import OptimumDocument
from topoloom.app.documents.simulation import SimulationDocument
from topoloom.app.documents.verification import VerificationDocument
from topoloom.app.services.operations import (
    COMPARISON,
    COST,
    FRONTIER,
    OPTIMUM,
    SIMULATION,
    VERIFICATION,
    Operation,
)


def _router(
    path: str, operation: Operation[Any], does: str, model: Any, stored: str = ""
) -> APIRouter:
    """Return the routes of a kind: create, list, read, label, pin, delete.

    ``stored`` tells the id of the read operation from the same id elsewhere.
    """
    plural, kind = path.replace("-", " "), operation.name
    router = strict_router(f"/v1/{path}", tags=[plural], route_class=WorkRoute)
    name = kind.capitalize()
    body_model = {"model": model}
    create_route(
        router,
        operation,
        operation_id=f"create{name}",
        summary=does,
        description="Return the stored answer to an equal request, else compute the answer.",
        responses={
            200: CREATED[200] | body_model,
            201: CREATED[201] | body_model,
            **responses(400, 404, 413, 415, 422, 503),
        },
    )
    list_route(router, kind, f"list{name}s" if name != "Optimum" else "listOptima", plural)

    read_route(
        router,
        kind,
        operation_id=f"read{stored}{name}",
        summary=f"Read a stored {kind}",
        model=model,
        description=f"{kind}/1",
    )
    manage_routes(router, kind)
    return router


routers = (
    _router(
        "frontiers",
        FRONTIER,
        "Find the Pareto frontier of latency and bandwidth",
        FrontierDocument,
    ),
    _router("costs", COST, "Measure any topology", CostDocument, "Stored"),
    _router(
        "optima",
        OPTIMUM,
        "Find the best throughput of any schedule on any topology",
        OptimumDocument | AllToAllDocument | GroupOptimumDocument,
        "Stored",
    ),
    _router(
        "verifications",
        VERIFICATION,
        "Verify a schedule, independently of its algorithm",
        VerificationDocument,
    ),
    _router(
        "simulations",
        SIMULATION,
        "Simulate any schedule message by message",
        SimulationDocument,
    ),
    _router(
        "comparisons",
        COMPARISON,
        "Compare stored designs, stored schedules, or all algorithms on a topology",
        ComparisonDocument,
    ),
)
"""One router for each kind of document that answers a single question."""
