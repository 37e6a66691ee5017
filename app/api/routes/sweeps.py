"""/v1/sweeps: one question about many inputs, as one job with many parts."""

from dataclasses import replace
from functools import partial

from fastapi import Request, Response
from starlette.concurrency import run_in_threadpool

from topoloom.app.api.async_reply import ACCEPTED, Waits, answer_or_accept
from topoloom.app.api.dependencies import CREATED, ContextDep, JsonBody, require_json
from topoloom.app.api.document_routes import (
    TRACES_HERE,
    WorkRoute,
    list_route,
    read_route,
    reads_here,
)
from topoloom.app.api.problems import responses
from topoloom.app.api.request_dispatcher import context_of
from topoloom.app.api.responses import created_response
from topoloom.app.api.routes.retention import manage_routes
from topoloom.app.api.strict_http import refuse_unknown_query, strict_router
from topoloom.app.auth.scopes import DESIGN, require
from topoloom.app.documents.sweep import SweepDocument
from topoloom.app.jobs.sweep_jobs import task_and_parts
from topoloom.app.jobs.worker_pool.task import parse_request
from topoloom.app.requests.sweeps import SweepRequest
from topoloom.app.services import sweeps
from topoloom.app.services.context import CacheMiss

router = strict_router("/v1/sweeps", tags=["sweeps"], route_class=WorkRoute)

_BODY = {"model": SweepDocument}


async def _unread(request: Request) -> Response:
    """Create a sweep from a body that takes too long to parse on the event loop."""
    require(request, DESIGN)
    require_json(request)
    await refuse_unknown_query(request)
    text, parsing = await request.body(), request.app.state.parsing
    body = await parsing.run(request.state.owner, partial(parse_request, SweepRequest, text))
    return await create_sweep(request, body, context_of(request))


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
@reads_here(TRACES_HERE, _unread)
async def create_sweep(request: Request, body: SweepRequest, context: ContextDep) -> Response:
    """Run every request as a job of its own, and collect the answers."""

    async def look_up(*, fresh: bool = True) -> Response:
        artefact = await run_in_threadpool(sweeps.create, context.looking(), body)
        return await created_response(request, replace(artefact, fresh=fresh))

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
