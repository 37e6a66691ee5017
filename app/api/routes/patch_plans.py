"""/v1/patch-plans: which port to plug where."""

import re
from typing import Annotated, Any

from fastapi import Depends, Header, Request, Response
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from topoloom.app.api.dependencies import (
    CREATED,
    IdDep,
    JsonBody,
)
from topoloom.app.api.document_routes import WorkRoute, create_route, list_route, read_route
from topoloom.app.api.problems import responses
from topoloom.app.api.request_dispatcher import document, unstored_answer
from topoloom.app.api.responses import created_response
from topoloom.app.api.routes.retention import manage_routes
from topoloom.app.api.strict_http import strict_router
from topoloom.app.auth.scopes import PLAN, READ
from topoloom.app.documents.base import Document, Presented
from topoloom.app.documents.cross_wiring import CrossWiringDocument
from topoloom.app.documents.patch_plan import PatchPlanDocument
from topoloom.app.documents.patch_progress import PatchProgress
from topoloom.app.documents.repairs import RepairsDocument
from topoloom.app.documents.survey import SurveyDocument
from topoloom.app.requests.base import Request as Body
from topoloom.app.requests.options.patch_plans import PlanFormat
from topoloom.app.requests.patch_plans import (
    CrossWiringRequest,
    FaultAnalysisRequest,
    ObservationRequest,
    RepairsRequest,
)
from topoloom.app.requests.stored_documents import ExportQuestion
from topoloom.app.services import patch_plans, patch_progress
from topoloom.app.services.operations import (
    CROSS_WIRING,
    FAULT_ANALYSIS,
    PATCH_PLAN,
    REPAIRS,
    Operation,
)
from topoloom.app.store.artifacts import Artefact
from topoloom.app.store.errors import ChangedMeanwhile, NoVersion
from topoloom.app.store.patch_progress import PatchStore

router = strict_router("/v1/patch-plans", tags=["patch plans"], route_class=WorkRoute)

IfMatchDep = Annotated[
    str | None,
    Header(description="ETag of the progress that the observer has read; required"),
]
_BODY = {"model": PatchPlanDocument}
_PROGRESS = {"model": PatchProgress, "description": "patch-progress/1"}


async def _patches(request: Request) -> PatchStore:
    return request.app.state.patches.on_behalf_of(request.state.access.owner)


PatchesDep = Annotated[PatchStore, Depends(_patches)]


async def _created(request: Request, artefact: Artefact) -> Response:
    plan = ExportQuestion(kind="patch-plan", id=artefact.id, format="json")
    return await created_response(request, artefact, plan)


create_route(
    router,
    PATCH_PLAN,
    operation_id="createPatchPlan",
    summary="Plan the wiring of a topology",
    description="Return the plan from the current wiring to the topology, with few moves.",
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


read_route(
    router,
    "patch-plan",
    operation_id="readPatchPlan",
    summary="Read a patch plan",
    model=PatchPlanDocument,
    description="the patch plan",
    formats=patch_plans.FORMATS,
    names=PlanFormat,
    is_exported=True,
)


def _asked_of_plan(
    path: str,
    operation: Operation[Any],
    body: type[Body],
    answer: type[Document],
    *,
    operation_id: str,
    summary: str,
    description: str,
) -> None:
    """Add the route of a question about an executed plan; the answer is not stored."""

    async def ask(request: Request, id: IdDep, body: Any) -> JSONResponse:
        artefact = await document(request, "patch-plan", id)
        question = operation.body(id=artefact.id, on=body)
        return JSONResponse(dict(await unstored_answer(request, operation, question)))

    ask.__annotations__["body"] = body
    router.add_api_route(
        f"/{{id}}/{path}",
        ask,
        methods=["POST"],
        operation_id=operation_id,
        summary=summary,
        description=description,
        dependencies=[JsonBody, PLAN],
        response_model=None,
        responses={
            200: {"model": answer, "description": (answer.__doc__ or "").rstrip(".")},
            **responses(400, 404, 413, 415, 422, 503),
        },
    )


_asked_of_plan(
    "repairs",
    REPAIRS,
    RepairsRequest,
    RepairsDocument,
    operation_id="repairPatchPlan",
    summary="List the repairs for dead parts of a plan",
    description="Return the possible repairs of an executed plan with dead parts; nothing is "
    "stored.",
)
_asked_of_plan(
    "fault-analysis",
    FAULT_ANALYSIS,
    FaultAnalysisRequest,
    SurveyDocument,
    operation_id="analyzePatchPlanFaults",
    summary="Analyze the faults of a plan",
    description="Return the worst failures of an executed plan, with their effects; nothing is "
    "stored.",
)


@router.post(
    "/cross-wiring",
    operation_id="crossWirePlant",
    summary="Find the fibers of a plant to exchange once",
    dependencies=[JsonBody, PLAN],
    response_model=None,
    responses={
        200: {"model": CrossWiringDocument, "description": "cross-wiring/1"},
        **responses(400, 413, 415, 422, 503),
    },
)
async def cross_wire_plant(request: Request, body: CrossWiringRequest) -> JSONResponse:
    """Return the exchanges after which every two-way topology fits; nothing is stored."""
    return JSONResponse(dict(await unstored_answer(request, CROSS_WIRING, body)))


@router.get(
    "/{id}/progress",
    operation_id="readPatchProgress",
    summary="Read the progress of a plan",
    dependencies=[READ],
    response_model=None,
    responses={200: _PROGRESS, **responses(404, 422, 503)},
)
async def read_progress(request: Request, id: IdDep, patches: PatchesDep) -> JSONResponse:
    """Return the progress of the plan, by the observations of its panels."""
    artefact = await document(request, "patch-plan", id)
    return _versioned(*await run_in_threadpool(patch_progress.progress, patches, artefact))


@router.post(
    "/{id}/observations",
    operation_id="observePatchPlan",
    summary="Report an observation of the panels of a plan",
    dependencies=[JsonBody, PLAN],
    response_model=None,
    responses={200: _PROGRESS, **responses(400, 404, 409, 412, 413, 415, 422, 428, 503)},
)
async def observe_patch_plan(
    request: Request,
    id: IdDep,
    body: ObservationRequest,
    patches: PatchesDep,
    if_match: IfMatchDep = None,
) -> JSONResponse:
    """Store an observation; the plan then locks its plant until its end."""
    artefact = await document(request, "patch-plan", id)
    version = _version(if_match)
    return _versioned(
        *await run_in_threadpool(patch_progress.observe, patches, artefact, version, body)
    )


@router.delete(
    "/{id}/progress",
    operation_id="giveUpPatchPlan",
    summary="Delete the progress of a plan",
    status_code=204,
    dependencies=[PLAN],
    response_class=Response,
    responses={204: {"description": "the observations are deleted"}, **responses(404, 422, 503)},
)
async def give_up(request: Request, id: IdDep, patches: PatchesDep) -> Response:
    """Delete the observations of a plan, and release its plant."""
    artefact = await document(request, "patch-plan", id)
    await run_in_threadpool(patch_progress.give_up, patches, artefact)
    return Response(status_code=204)


def _versioned(told: Presented, version: int) -> JSONResponse:
    headers = {"ETag": f'"{version}"', "Cache-Control": "no-store"}
    return JSONResponse(dict(told), headers=headers)


def _version(if_match: str | None) -> int:
    """Return the version in an If-Match header."""
    if if_match is None:
        raise NoVersion
    match = re.fullmatch('(?:W/)?"([0-9]{1,9})"', if_match.strip(), re.ASCII)
    if match is None:
        raise ChangedMeanwhile("must be the ETag of the plan's progress")
    return int(match[1])
