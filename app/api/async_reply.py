"""Answers that are not at hand: computed at once if that is short, else promised as jobs.

What is missing is begun when it is asked for.  What has not landed after a moment becomes a job,
which outlives this process; who asked waits for either as long as he said, and is then told where
the job is.  While the job waits for a worker the work that was begun goes on: whoever computes a
document holds its claim, and the job's worker takes the answer, or the work over if this process
dies.
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
from topoloom.app.api.request_dispatcher import Turns, looked_up
from topoloom.app.config import DEFAULT_WAIT_SECONDS, MAX_WAIT_SECONDS
from topoloom.app.jobs import document as document
from topoloom.app.jobs.model import Job, JobId, State
from topoloom.app.jobs.model import Task as JobTask
from topoloom.app.jobs.watcher import Watcher
from topoloom.app.jobs.worker_pool.pool import Done
from topoloom.app.jobs.worker_pool.task import B, Operation, Task
from topoloom.app.requests.options import sweeps_and_jobs
from topoloom.app.services.context import Context, MustCompute
from topoloom.app.store.artifacts import Artefact
from topoloom.app.store.database import DatabaseNotReady

log = logging.getLogger(__name__)

WEBHOOK = "topoloom-webhook"

SHORT_SECONDS = 2.0
"""What takes no longer is no job: to queue one takes some milliseconds and a worker's notice."""

MAX_JOB_BODY = 2**20
"""Largest body, in bytes, that a job keeps: what is larger is computed while the client waits."""

FOLLOWED_EVERY = 1.0
"""Seconds between two looks at the job whose work goes on here."""

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
"""The OpenAPI entries of a route that may promise its answer."""


@dataclass(frozen=True, slots=True)
class Preference:
    """How long to wait for an answer before it is promised; ``applied`` is what was heard."""

    wait_seconds: float = DEFAULT_WAIT_SECONDS
    applied: str = ""


def preference(header: str | None, usual: int = DEFAULT_WAIT_SECONDS) -> Preference:
    """Return what a Prefer header says of waiting; without a word ``usual`` seconds are waited.

    ``wait`` is cut to a minute; without it ``respond-async`` means not to wait at all.  What
    is no preference, or another one, is passed over, as the RFC wants it; of one given
    several times the first counts.

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
    """Read nothing: the headers are read where an answer is not at hand."""


Waits = Depends(_headers)
"""Dependency of a route that may promise its answer: documents the headers it hears."""


def owner_of(request: Request) -> str:
    """Return whom the limits count a request for: who was recognised, else its address."""
    known = getattr(request.state, "owner", None)
    return known or (request.client.host if request.client else "")


async def answered_or_promised(
    request: Request, operation: Operation[B], body: B
) -> Artefact | Response:
    """Return the stored answer to a request, computed if that is short; else 202 and a job.

    Raises
    ------
    QueueFull, TooManyJobs, WebhookRefused, DatabaseNotReady
        As `Jobs.enqueue` does.
    Exception
        As `app.api.request_dispatcher.answered` does.
    """
    try:
        return await looked_up(request, operation, body)
    except MustCompute:
        return await _computed(request, Task.of(operation.name, body))


async def unread_or_promised(
    request: Request, operation: Operation[B], body: bytes
) -> Artefact | Response:
    """Return the same for a request that is too large to be read on the event loop."""
    return await _computed(request, Task.of(operation.name, body))


async def _computed(request: Request, task: Task) -> Artefact | Response:
    turns: Turns = request.app.state.turns
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
    # Work that other processes do is theirs from here on.
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
    """Return the job of a piece of work, which waits for a worker."""
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
    """Return the answer that a job of many parts makes, as soon as it is there, or 202 and the job.

    ``look_up`` makes the response once the answer is stored.  A client says in ``Prefer`` how
    long it waits; the problem of a job that failed is the answer, too.

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
    """Return an answer that says what was heard of the client's preference (RFC 7240)."""
    if "prefer" in request.headers and (applied := _preferred(request).applied):
        answer.headers["Preference-Applied"] = applied
    return answer


def _preferred(request: Request) -> Preference:
    usual = request.app.state.context.settings.wait_seconds
    return preference(request.headers.get("prefer"), usual)
