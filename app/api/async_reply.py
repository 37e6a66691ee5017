"""Asynchronous replies (202): short computations answer directly, longer ones become jobs.

A request for a missing document starts its computation at once.  After `SHORT_SECONDS` the service
also queues a job, which survives the end of this process.  The client waits up to the seconds in
its ``Prefer: wait`` header, and then gets the URL of the job.  The computation continues under its
claim while the job waits for a worker.  The worker takes the result, or takes over the computation
if this process dies.
"""

import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Header, Request, Response
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DBAPIError
from starlette.concurrency import run_in_threadpool

from topoloom.app.api.job_worker import Host
from topoloom.app.api.problems import MEDIA_TYPE, responses
from topoloom.app.api.request_dispatcher import ComputationQueue, looked_up
from topoloom.app.config import DEFAULT_WAIT_SECONDS, MAX_WAIT_SECONDS
from topoloom.app.jobs import document as document
from topoloom.app.jobs.model import Job, JobId, State
from topoloom.app.jobs.model import Task as JobTask
from topoloom.app.jobs.watcher import Watcher
from topoloom.app.jobs.worker_pool.pool import Done
from topoloom.app.jobs.worker_pool.task import B, Operation, Task
from topoloom.app.requests.options import sweeps_and_jobs
from topoloom.app.services.context import CacheMiss, Context
from topoloom.app.store.artifacts import Artefact
from topoloom.app.store.database import DatabaseNotReady

log = logging.getLogger(__name__)

WEBHOOK = "topoloom-webhook"

SHORT_SECONDS = 2.0
"""Seconds before a job is queued; queueing takes milliseconds, and a worker must notice the job."""

MAX_JOB_BODY = 2**20
"""Largest body, in bytes, of a job; larger bodies are computed while the client waits."""

FOLLOWED_EVERY = 1.0
"""Seconds between two polls of a job whose computation runs in this process."""

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PREFERENCE = re.compile(
    rf'\s*({_TOKEN})\s*(?:=\s*({_TOKEN}|"(?:[^"\\]|\\.)*"))?\s*((?:;[^,]*)?)\s*(?:,|$)', re.ASCII
)

ACCEPTED: dict[int | str, dict[str, Any]] = {
    202: {
        "model": document.JobDocument,
        "description": "it takes longer than the client waits: `Location` is the job, which is "
        "in the body as it stands",
    },
    **responses(422, 429, 503),
}
"""OpenAPI entries of a route that may answer 202."""


@dataclass(frozen=True, slots=True)
class Preference:
    """Seconds to wait before a 202; ``applied`` is the value of ``Preference-Applied``."""

    wait_seconds: float = DEFAULT_WAIT_SECONDS
    applied: str = ""


def preference(header: str | None, usual: int = DEFAULT_WAIT_SECONDS) -> Preference:
    """Return the wait that a Prefer header requests; the default is ``usual`` seconds.

    ``wait`` is capped at `MAX_WAIT_SECONDS`.  ``respond-async`` without ``wait`` means no wait.
    Malformed and other preferences are ignored, as RFC 7240 requires; of a repeated preference
    the first counts.

    >>> preference("respond-async")
    Preference(wait_seconds=0, applied='respond-async')
    >>> preference("respond-async, wait=5, handling=lenient")
    Preference(wait_seconds=5, applied='respond-async, wait=5')
    >>> preference('wait="600"; x=y').applied, preference("wait=soon"), preference(None)
    ('wait=60', Preference(wait_seconds=10, applied=''), Preference(wait_seconds=10, applied=''))
    """
    given: dict[str, str] = {}
    position = 0
    text = header or ""
    while position < len(text) and (found := _PREFERENCE.match(text, position)):
        given.setdefault(found[1].lower(), (found[2] or "").strip('"'))
        position = found.end()
    applied, seconds = [], usual
    if "respond-async" in given:
        applied, seconds = ["respond-async"], 0
    if re.fullmatch("[0-9]{1,9}", given.get("wait", ""), re.ASCII):
        seconds = min(int(given["wait"]), MAX_WAIT_SECONDS)
        applied.append(f"wait={seconds}")
    return Preference(seconds, ", ".join(applied))


async def _headers(
    prefer: Annotated[str | None, Header(description=sweeps_and_jobs.PREFER.text)] = None,
    topoloom_webhook: Annotated[
        str | None, Header(description=sweeps_and_jobs.WEBHOOK.text)
    ] = None,
) -> None:
    """Declare the headers for OpenAPI; `answered_or_promised` reads them from the request."""


Waits = Depends(_headers)
"""Dependency of a route that may answer 202: documents the headers of such a route."""


def owner_of(request: Request) -> str:
    """Return the owner for whom limits count a request: the caller, else the client address."""
    known = getattr(request.state, "owner", None)
    return known or (request.client.host if request.client else "")


async def answered_or_promised(
    request: Request, operation: Operation[B], body: B
) -> Artefact | Response:
    """Return the stored or quickly computed answer to a request; else 202 and a job.

    Raises
    ------
    QueueFull, TooManyJobs, WebhookRefused, DatabaseNotReady
        As `Jobs.enqueue` does.
    Exception
        As `app.api.request_dispatcher.answered` does.
    """
    try:
        return await looked_up(request, operation, body)
    except CacheMiss:
        return await _computed(request, Task.of(operation.name, body))


async def unread_or_promised(
    request: Request, operation: Operation[B], body: bytes
) -> Artefact | Response:
    """Do the same for a body that is too large to parse on the event loop."""
    return await _computed(request, Task.of(operation.name, body))


async def _computed(request: Request, task: Task) -> Artefact | Response:
    turns: ComputationQueue = request.app.state.computations
    host: Host = request.app.state.host
    settings = request.app.state.context.settings
    wait_seconds = _preferred(request).wait_seconds
    large = isinstance(task.request, bytes) and len(task.request) > MAX_JOB_BODY
    if large or not host.takes_jobs:
        return _answer(await turns.compute(task, request))
    if wait_seconds == 0:
        return _promised(await _enqueued(request, task))
    short = min(SHORT_SECONDS, wait_seconds)
    with turns.joined(task) as flight:
        if (done := await flight.landed(request, short)) is not None:
            return _answer(done)
        try:
            job = await _enqueued(request, task)
        except (DatabaseNotReady, DBAPIError) as error:
            log.error("no job can be noted, so this answer is waited for: %s", error)
            done = await flight.landed(request)
            assert done is not None
            return _answer(done)
        if settings.run_worker:
            turns.go_on(task, flight, partial(_is_wanted, host, job.id), FOLLOWED_EVERY)
            if (done := await flight.landed(request, wait_seconds - short)) is not None:
                return _answer(done)
    # Without a worker in this process, wait for the worker of another process.
    rest = 0.0 if settings.run_worker else wait_seconds - short
    job = await _waited(request, job.id, rest)
    if job.state is State.DONE and job.made is not None:
        return await _read(request, task, job.made)
    if job.state is State.FAILED and job.problem is not None:
        return _failed(job)
    return _promised(job)


def _answer(done: Done) -> Artefact:
    assert isinstance(done.answer, Artefact)
    return done.answer


async def _enqueued(request: Request, task: Task) -> Job:
    """Return the queued job of a task."""
    host: Host = request.app.state.host

    def enqueue() -> Job:
        job = host.jobs.enqueue(
            JobTask(task.operation, task.text(), task.identity),
            webhook=request.headers.get(WEBHOOK),
            owner=owner_of(request),
        )
        return host.jobs.state(job)

    return await run_in_threadpool(enqueue)


async def _is_wanted(host: Host, job: JobId) -> bool:
    return not (await run_in_threadpool(host.jobs.state, job)).state.ended


async def _waited(request: Request, job: JobId, seconds: float) -> Job:
    watcher: Watcher = request.app.state.watcher
    return await watcher.ended(job, seconds)


async def _read(request: Request, task: Task, made: str) -> Artefact:
    context: Context = request.app.state.context
    kind = "plot" if task.operation.startswith("plot-") else task.operation
    return await run_in_threadpool(context.looking().read, kind, made)


async def answer_or_accept(
    request: Request,
    task: JobTask,
    look_up: Callable[[], Awaitable[Response]],
    parts: Sequence[JobTask] = (),
) -> Response:
    """Return the answer of a job with many parts, or 202 and the job.

    ``look_up`` builds the response once the answer is stored.  The client waits up to the seconds
    in its ``Prefer: wait`` header.  A failed job answers with its problem.

    Raises
    ------
    QueueFull, TooManyJobs, WebhookRefused, DatabaseNotReady
        As `Jobs.enqueue` does.
    """
    host: Host = request.app.state.host
    job = await run_in_threadpool(
        host.jobs.enqueue,
        task,
        webhook=request.headers.get(WEBHOOK),
        owner=owner_of(request),
        parts=parts,
    )
    found = await _waited(request, job, _preferred(request).wait_seconds)
    if found.state is State.DONE:
        return heard(request, await look_up())
    if found.state is State.FAILED and found.problem is not None:
        return heard(request, _failed(found))
    return heard(request, _promised(found))


def _failed(job: Job) -> JSONResponse:
    problem = dict(job.problem or {})
    return JSONResponse(problem, status_code=problem["status"], media_type=MEDIA_TYPE)


def _promised(job: Job) -> Response:
    place = {"Location": f"/v1/jobs/{job.id}", "Vary": "Prefer"}
    return JSONResponse(document.of(job), status_code=202, headers=place)


def heard(request: Request, answer: Response) -> Response:
    """Return an answer that names the applied preference, if the client sent one (RFC 7240)."""
    if "prefer" in request.headers and (applied := _preferred(request).applied):
        answer.headers["Preference-Applied"] = applied
    return answer


def _preferred(request: Request) -> Preference:
    usual = request.app.state.context.settings.wait_seconds
    return preference(request.headers.get("prefer"), usual)
