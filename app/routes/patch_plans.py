"""/v1/patch-plans: which port to plug where."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from app.access.scopes import PLAN, READ
from app.deps import (
    CREATED,
    AcceptDep,
    FieldsDep,
    IdDep,
    IfNoneMatchDep,
    JsonBody,
    WorkRoute,
    create_route,
    created,
    list_route,
    representation,
)
from app.documents.patch_plan import PatchPlanDocument
from app.documents.repairs import RepairsDocument
from app.negotiation import negotiate
from app.options.table import PlanFormat
from app.problems import responses
from app.questions import ExportQuestion, RepairsQuestion
from app.routes.managing import manage_routes
from app.schemas import RepairsRequest
from app.services import patch_plans
from app.store import Artefact
from app.turns import document, presented
from app.work.operations import PATCH_PLAN, REPAIRS

__all__ = ["router"]

router = APIRouter(prefix="/v1/patch-plans", tags=["patch plans"], route_class=WorkRoute)

FormatDep = Annotated[
    PlanFormat | None,
    Query(alias="format", description="representation; goes before the Accept header"),
]
_BODY = {"model": PatchPlanDocument}


def _as(artefact: Artefact, form: str) -> ExportQuestion:
    return ExportQuestion(kind="patch-plan", id=artefact.id, format=form)


async def _created(request: Request, artefact: Artefact) -> Response:
    return await created(request, artefact, _as(artefact, "json"))


create_route(
    router,
    PATCH_PLAN,
    operation_id="createPatchPlan",
    summary="Plan the wiring of a topology",
    description="Return the plan of few moves from today's wiring to the topology.",
    scope=PLAN,
    responses={
        200: CREATED[200] | _BODY,
        201: CREATED[201] | _BODY,
        **responses(400, 404, 413, 415, 422, 503),
    },
    shown=_created,
)
list_route(router, "patch-plan", "listPatchPlans", "patch plans")
manage_routes(router, "patch-plan")


@router.get(
    "/{id}",
    operation_id="readPatchPlan",
    summary="Read a patch plan",
    dependencies=[READ],
    response_model=None,
    responses={
        200: _BODY
        | {
            "description": "the patch plan",
            "content": {
                kind: {"schema": {"type": "string"}}
                for kind in patch_plans.FORMATS.values()
                if kind != "application/json"
            },
        },
        **responses(404, 406, 422, 503),
    },
)
async def read_patch_plan(
    request: Request,
    id: IdDep,
    form: FormatDep = None,
    fields: FieldsDep = None,
    accept: AcceptDep = None,
    if_none_match: IfNoneMatchDep = None,
) -> Response:
    """Return the plan in the format asked for; patch-plan/1 by default."""
    artefact = await document(request, "patch-plan", id)
    form_ = negotiate(form, accept, patch_plans.FORMATS)
    media, exported = patch_plans.FORMATS[form_], _as(artefact, form_)
    return await representation(
        request,
        artefact,
        form_,
        media,
        if_none_match,
        exported,
        fields=fields,
        model=PatchPlanDocument,
    )


@router.post(
    "/{id}/repairs",
    operation_id="repairPatchPlan",
    summary="Weigh the ways to live with what is dead",
    dependencies=[JsonBody, PLAN],
    response_model=None,
    responses={
        200: {"model": RepairsDocument, "description": "repairs/1"},
        **responses(400, 404, 413, 415, 422, 503),
    },
)
async def repair_patch_plan(request: Request, id: IdDep, body: RepairsRequest) -> JSONResponse:
    """Return what can be done about dead parts of a carried-out plan; nothing is stored."""
    question = RepairsQuestion(id=id, on=body)
    return JSONResponse(dict(await presented(request, REPAIRS, question)))
