"""/v1/jobs: work that takes longer than a client waits."""

import asyncio
import json
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Header, Path, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.concurrency import run_in_threadpool

from topoloom.app.api.dependencies import CursorDep, LimitDep
from topoloom.app.api.pages import CountDep, page_answer
from topoloom.app.api.problems import responses
from topoloom.app.api.strict_http import strict_router
from topoloom.app.auth.scopes import DESIGN, READ
from topoloom.app.jobs import document as document
from topoloom.app.jobs.document import JobDocument, JobIdentity, JobPage
from topoloom.app.jobs.facade import Jobs
from topoloom.app.jobs.model import Job, State
from topoloom.app.jobs.watcher import Watcher
from topoloom.app.requests.options import sweeps_and_jobs

router = strict_router("/v1/jobs", tags=["jobs"])


def _jobs(request: Request) -> Jobs:
    return request.app.state.host.jobs.on_behalf_of(request.state.access.owner)


JobsDep = Annotated[Jobs, Depends(_jobs)]
JobIdDep = Annotated[JobIdentity, Path(description="id of the job, from the `Location` of a 202")]
StateDep = Annotated[sweeps_and_jobs.JobStateName | None, sweeps_and_jobs.JOB_STATE.query()]
OperationDep = Annotated[
    sweeps_and_jobs.JobOperationName | None, sweeps_and_jobs.JOB_OPERATION.query()
]
ParentDep = Annotated[JobIdentity | None, Query(description="list the parts of this job")]
LastEventDep = Annotated[
    str | None,
    Header(description="`id` of the last received event; the stream continues after that event"),
]

_EVENT = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "pattern": "^[0-9]+$"},
        "event": {"enum": [state.value for state in State]},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
    "required": ["id", "event", "data"],
}

_FOUND: dict[int | str, dict[str, Any]] = {
    200: {"model": JobDocument, "description": "job/1, the present state"}
}


@router.get(
    "",
    operation_id="listJobs",
    dependencies=[READ],
    summary="List jobs, newest first",
    response_model=None,
    responses={200: {"model": JobPage, "description": "a page"}, **responses(422, 503)},
)
def list_jobs(
    request: Request,
    jobs: JobsDep,
    limit: LimitDep = sweeps_and_jobs.LIMIT.default,
    cursor: CursorDep = None,
    state: StateDep = None,
    operation: OperationDep = None,
    parent: ParentDep = None,
    count: CountDep = False,
) -> JSONResponse:
    """Return one page of jobs; the parts of sweeps are listed by their parent only."""
    wanted = {
        "state": None if state is None else State(state),
        "operation": operation,
        "parent": parent,
    }
    page = document.page(*jobs.list(limit, cursor, **wanted))
    return page_answer(request, page, count, partial(jobs.total, **wanted))


@router.get(
    "/{id}",
    operation_id="readJob",
    dependencies=[READ],
    summary="Read a job",
    response_model=None,
    responses={**_FOUND, **responses(404, 422, 503)},
)
def read_job(id: JobIdDep, jobs: JobsDep) -> JSONResponse:
    """Return the state and the progress of a job, and the path of its answer."""
    return _answer(jobs.state(id))


@router.post(
    "/{id}/cancel",
    operation_id="cancelJob",
    dependencies=[DESIGN],
    summary="Cancel a job",
    response_model=None,
    responses={
        200: {"model": JobDocument, "description": "the job is cancelled"},
        202: {"model": JobDocument, "description": "the worker of the job ends it within seconds"},
        **responses(404, 409, 422, 503),
    },
)
def cancel_job(id: JobIdDep, jobs: JobsDep) -> JSONResponse:
    """Cancel a job with its parts; work under way ends within two seconds."""
    job = jobs.cancel(id)
    return _answer(job, 200 if job.state.ended else 202)


@router.delete(
    "/{id}",
    operation_id="deleteJob",
    dependencies=[DESIGN],
    summary="Delete a job that has ended",
    status_code=204,
    response_class=Response,
    responses={
        204: {"description": "the job is deleted; its answer stays"},
        **responses(404, 409, 422, 503),
    },
)
def delete_job(id: JobIdDep, jobs: JobsDep) -> Response:
    """Delete a job; its answer stays stored."""
    jobs.forget(id)
    return Response(status_code=204)


@router.get(
    "/{id}/events",
    operation_id="readJobEvents",
    dependencies=[READ],
    summary="Stream the changes of a job",
    response_model=None,
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "server-sent events until the job has ended: each is named for the "
            "state, has the revision as id and the job/1 document as data",
            "content": {"text/event-stream": {"schema": _EVENT}},
        },
        **responses(404, 422, 503),
    },
)
async def read_events(
    request: Request, id: JobIdDep, jobs: JobsDep, last_event_id: LastEventDep = None
) -> Response:
    """Stream the job at every change; a client that reconnects gets the changes it missed."""
    watcher: Watcher = request.app.state.watcher
    text = last_event_id or ""
    seen = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    await run_in_threadpool(jobs.state, id)
    events = watcher.stream(id, seen)
    # Before the first byte is sent: an unknown job gets a problem, not a stream.
    first = await anext(events)
    return StreamingResponse(
        _sent(first, events),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _sent(first: Job | None, events: AsyncIterator[Job | None]) -> AsyncIterator[str]:
    try:
        yield "retry: 2000\n\n"
        yield _event(first)
        async for job in events:
            yield _event(job)
    except asyncio.CancelledError:
        # The client has disconnected.
        raise
    finally:
        await events.aclose()  # pyright: ignore[reportAttributeAccessIssue]


def _event(job: Job | None) -> str:
    """Return one event; without changes a comment, so that proxies keep the connection."""
    if job is None:
        return ": nothing new\n\n"
    data = json.dumps(document.of(job), separators=(",", ":"))
    return f"id: {job.revision}\nevent: {job.state.value}\ndata: {data}\n\n"


def _answer(job: Job, status: int = 200) -> JSONResponse:
    return JSONResponse(document.of(job), status_code=status, headers={"Cache-Control": "no-store"})
