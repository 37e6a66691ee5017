"""/v1/patch-plans: which port to plug where."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.deps import (
    CREATED,
    AcceptDep,
    ContextDep,
    IdDep,
    IfNoneMatchDep,
    JsonBody,
    created,
    list_route,
    representation,
)
from app.documents.patch_plan import PatchPlanDocument
from app.negotiation import negotiate
from app.options.table import PlanFormat
from app.problems import responses
from app.schemas import PatchPlanRequest
from app.services import patch_plans
from app.turns import looked_up_first

__all__ = ["router"]

router = APIRouter(prefix="/v1/patch-plans", tags=["patch plans"])

FormatDep = Annotated[
    PlanFormat | None,
    Query(alias="format", description="representation; goes before the Accept header"),
]
_BODY = {"model": PatchPlanDocument}


@router.post(
    "",
    operation_id="createPatchPlan",
    summary="Plan the wiring of a topology",
    dependencies=[JsonBody],
    responses={
        200: CREATED[200] | _BODY,
        201: CREATED[201] | _BODY,
        **responses(400, 404, 413, 415, 422, 503),
    },
)
@looked_up_first
def create_patch_plan(request: Request, body: PatchPlanRequest, context: ContextDep) -> Response:
    """Return the plan of few moves from today's wiring to the topology."""
    artefact = patch_plans.create(context, body)
    return created(request, artefact, patch_plans.export(artefact, "json"))


list_route(router, "patch-plan", "listPatchPlans", "patch plans")


@router.get(
    "/{id}",
    operation_id="readPatchPlan",
    summary="Read a patch plan",
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
@looked_up_first
def read_patch_plan(
    request: Request,
    id: IdDep,
    context: ContextDep,
    form: FormatDep = None,
    accept: AcceptDep = None,
    if_none_match: IfNoneMatchDep = None,
) -> Response:
    """Return the plan in the format asked for; patch-plan/1 by default."""
    artefact = context.read("patch-plan", id)
    form_ = negotiate(form, accept, patch_plans.FORMATS)
    return representation(
        request,
        artefact,
        form_,
        patch_plans.FORMATS[form_],
        if_none_match,
        lambda: patch_plans.export(artefact, form_),
    )
