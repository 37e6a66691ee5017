"""An answer that is not at hand: waited for as a job, or promised with 202.

What a route needs is one call, with the route's own way of looking the answer up.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from fastapi import Depends, Header, Request, Response
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from app.documents import job as document
from app.jobs.hosting import Host
from app.jobs.model import Job, State, Task
from app.jobs.watching import Watcher
from app.options import table
from app.prefer import preference
from app.problems import MEDIA_TYPE, responses

__all__ = ["ACCEPTED", "Waits", "answer_or_accept", "owner_of"]

WEBHOOK = "topoloom-webhook"

ACCEPTED: dict[int | str, dict[str, Any]] = {
    202: {
        "model": document.JobDocument,
        "description": "it takes longer than the client waits: `Location` is the job, which is "
        "in the body as it stands",
    },
    **responses(422, 429, 503),
}
"""The OpenAPI entries of a route that may promise its answer."""


def _headers(
    prefer: Annotated[str | None, Header(description=table.PREFER.text)] = None,
    topoloom_webhook: Annotated[str | None, Header(description=table.WEBHOOK.text)] = None,
) -> None:
    """Read nothing: the headers are read where an answer is not at hand."""


Waits = Depends(_headers)
"""Dependency of a route that may promise its answer: documents the headers it hears."""


def owner_of(request: Request) -> str:
    """Return whom the limits count a request for: who was recognised, else its address."""
    known = getattr(request.state, "owner", None)
    return known or (request.client.host if request.client else "")


async def answer_or_accept(
    request: Request, task: Task, look_up: Callable[[], Response], parts: Sequence[Task] = ()
) -> Response:
    """Return the answer to a request as soon as a job has made it, or 202 and the job.

    ``look_up`` makes the response once the answer is stored.  A client says in ``Prefer`` how
    long it waits; the problem of a job that failed is the answer, too.

    Raises
    ------
    QueueFull, TooManyJobs, WebhookRefused, DatabaseNotReady
        As `Jobs.enqueue` does.
    """
    host: Host = request.app.state.host
    watcher: Watcher = request.app.state.watcher
    usual = request.app.state.context.settings.wait_seconds
    wanted = preference(request.headers.get("prefer"), usual)
    job = await run_in_threadpool(
        host.jobs.enqueue,
        task,
        webhook=request.headers.get(WEBHOOK),
        owner=owner_of(request),
        parts=parts,
    )
    found = await watcher.ended(job, wanted.wait_seconds)
    answer = await _answer(found, look_up)
    if wanted.applied:
        answer.headers["Preference-Applied"] = wanted.applied
    return answer


async def _answer(job: Job, look_up: Callable[[], Response]) -> Response:
    if job.state is State.DONE:
        return await run_in_threadpool(look_up)
    if job.state is State.FAILED and job.problem is not None:
        problem = dict(job.problem)
        return JSONResponse(problem, status_code=problem["status"], media_type=MEDIA_TYPE)
    place = {"Location": f"/v1/jobs/{job.id}", "Vary": "Prefer"}
    return JSONResponse(document.of(job), status_code=202, headers=place)
