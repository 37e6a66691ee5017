"""/v1/sweeps: one question about many inputs, as one job with many parts."""

from dataclasses import replace

from fastapi import Request, Response
from starlette.concurrency import run_in_threadpool

from topoloom.app.api.async_reply import ACCEPTED, Waits, answer_or_accept
from topoloom.app.api.dependencies import CREATED, ContextDep, JsonBody
from topoloom.app.api.document_routes import WorkRoute, list_route, read_route
from topoloom.app.api.problems import responses
from topoloom.app.api.responses import created
from topoloom.app.api.routes.retention import manage_routes
from topoloom.app.api.strict_http import strict_router
from topoloom.app.auth.scopes import DESIGN
from topoloom.app.documents.sweep import SweepDocument
from topoloom.app.jobs.sweep_jobs import task_and_parts
from topoloom.app.requests.sweeps import SweepRequest
from topoloom.app.services import sweeps
from topoloom.app.services.context import CacheMiss

router = strict_router("/v1/sweeps", tags=["sweeps"], route_class=WorkRoute)

_BODY = {"model": SweepDocument}


@router.post(
    "",
    operation_id="createSweep",
    summary="Repeat a request over many sizes or faults",
    dependencies=[JsonBody, Waits, DESIGN],
    responses={
        200: CREATED[200] | _BODY,
        201: CREATED[201] | _BODY,
        **ACCEPTED,
        **responses(400, 404, 413, 415),
    },
)
async def create_sweep(request: Request, body: SweepRequest, context: ContextDep) -> Response:
    """Run every request as a job of its own, and collect the answers."""

    async def look_up(*, fresh: bool = True) -> Response:
        artefact = await run_in_threadpool(sweeps.create, context.looking(), body)
        return await created(request, replace(artefact, fresh=fresh))

    try:
        return await look_up(fresh=False)
    except CacheMiss:
        task, parts = await run_in_threadpool(task_and_parts, context, body)
    return await answer_or_accept(request, task, look_up, parts)


list_route(router, "sweep", "listSweeps", "sweeps")
manage_routes(router, "sweep")


read_route(
    router,
    "sweep",
    operation_id="readSweep",
    summary="Read a sweep",
    model=SweepDocument,
    description="sweep/1",
)
