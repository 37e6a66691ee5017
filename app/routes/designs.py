"""/v1/designs: the best topology for a workload."""

from fastapi import APIRouter, Request, Response

from app.access.scopes import DESIGN, READ
from app.deps import (
    CREATED,
    ContextDep,
    IdDep,
    IfNoneMatchDep,
    JsonBody,
    created,
    list_route,
    representation,
)
from app.documents.design import DesignDocument
from app.problems import responses
from app.schemas import DesignRequest
from app.services import designs
from app.turns import looked_up_first

__all__ = ["router"]

router = APIRouter(prefix="/v1/designs", tags=["designs"])


_BODY = {"model": DesignDocument}


@router.post(
    "",
    operation_id="createDesign",
    summary="Find the best topology for a workload",
    dependencies=[JsonBody, DESIGN],
    responses={
        200: CREATED[200] | _BODY,
        201: CREATED[201] | _BODY,
        **responses(400, 413, 415, 422, 503),
    },
)
@looked_up_first
def create_design(request: Request, body: DesignRequest, context: ContextDep) -> Response:
    """Search, measure, schedule and verify; the same question is answered once."""
    artefact = designs.create(context, body)
    return created(request, artefact, artefact.text())


list_route(router, "design", "listDesigns", "designs")


@router.get(
    "/{id}",
    operation_id="readDesign",
    summary="Read a design",
    dependencies=[READ],
    response_model=None,
    responses={200: _BODY | {"description": "design/1"}, **responses(404, 422, 503)},
)
@looked_up_first
def read_design(
    request: Request, id: IdDep, context: ContextDep, if_none_match: IfNoneMatchDep = None
) -> Response:
    """Return a design/1 document."""
    artefact = context.read("design", id)
    return representation(request, artefact, "json", "application/json", if_none_match)
