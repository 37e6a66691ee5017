"""/v1/designs: the best topology for a workload."""

from fastapi import Request, Response

from app.access.scopes import READ
from app.deps import (
    CREATED,
    FieldsDep,
    IdDep,
    IfNoneMatchDep,
    WorkRoute,
    create_route,
    list_route,
    representation,
)
from app.documents.design import DesignDocument
from app.manners import strict_router
from app.problems import responses
from app.routes.managing import manage_routes
from app.turns import document
from app.work.operations import DESIGN

__all__ = ["router"]

router = strict_router("/v1/designs", tags=["designs"], route_class=WorkRoute)


_BODY = {"model": DesignDocument}

create_route(
    router,
    DESIGN,
    operation_id="createDesign",
    summary="Find the best topology for a workload",
    description="Search, measure, schedule and verify; the same question is answered once.",
    responses={
        200: CREATED[200] | _BODY,
        201: CREATED[201] | _BODY,
        **responses(400, 413, 415, 422, 503),
    },
)

list_route(router, "design", "listDesigns", "designs")
manage_routes(router, "design")


@router.get(
    "/{id}",
    operation_id="readDesign",
    summary="Read a design",
    dependencies=[READ],
    response_model=None,
    responses={200: _BODY | {"description": "design/1"}, **responses(404, 422, 503)},
)
async def read_design(
    request: Request, id: IdDep, fields: FieldsDep = None, if_none_match: IfNoneMatchDep = None
) -> Response:
    """Return a design/1 document."""
    artefact = await document(request, "design", id)
    return await representation(
        request,
        artefact,
        "json",
        "application/json",
        if_none_match,
        fields=fields,
        model=DesignDocument,
    )
