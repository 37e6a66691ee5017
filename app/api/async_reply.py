"""Asynchronous replies (202): the ``Prefer`` header, and the URL of a job (RFC 7240)."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Header, Request, Response
from fastapi.responses import JSONResponse

from topoloom.app.api.problems import MEDIA_TYPE, responses
from topoloom.app.config import DEFAULT_WAIT_SECONDS, MAX_WAIT_SECONDS
from topoloom.app.jobs import document as document
from topoloom.app.jobs.facade import Jobs
from topoloom.app.jobs.model import Job, State
from topoloom.app.jobs.model import Task as JobTask
from topoloom.app.jobs.watcher import Watcher
from topoloom.app.requests.options import sweeps_and_jobs

WEBHOOK = "topoloom-webhook"

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PREFERENCE = re.compile(
    rf'\s*({_TOKEN})\s*(?:=\s*({_TOKEN}|"(?:[^"\\]|\\.)*"))?\s*((?:;[^,]*)?)\s*(?:,|$)', re.ASCII
)

ACCEPTED: dict[int | str, dict[str, Any]] = {
    202: {
        "model": document.JobDocument,
        "description": "the computation takes longer than the client waits; the body is the job, "
        "and `Location` its path",
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
    """Declare the headers for OpenAPI; `answered_or_accepted` reads them from the request."""


Waits = Depends(_headers)
"""Dependency of a route that may answer 202: documents the headers of such a route."""


async def enqueue_job(request: Request, task: JobTask, parts: Sequence[JobTask] = ()) -> Job:
    """Return the queued job of a task for the owner and the webhook of a request.

    Raises:
        QueueFull, TooManyJobs, WebhookRefused, DatabaseNotReady: As `Jobs.enqueue` does.
    """
    jobs: Jobs = request.app.state.host.jobs
    webhook, owner = request.headers.get(WEBHOOK), request.state.owner

    def enqueue() -> Job:
        return jobs.state(jobs.enqueue(task, webhook=webhook, owner=owner, parts=parts))

    job: Job = await request.app.state.job_threads.run(owner, enqueue)
    return job


async def answer_or_accept(
    request: Request,
    task: JobTask,
    look_up: Callable[[], Awaitable[Response]],
    parts: Sequence[JobTask] = (),
) -> Response:
    """Return the answer of a job with many parts, or 202 and the job.

    ``look_up`` builds the response once the answer is stored.  The client waits up to the seconds
    in its ``Prefer: wait`` header.  A failed job answers with its problem.

    Raises:
        QueueFull, TooManyJobs, WebhookRefused, DatabaseNotReady: As `enqueue_job` does.
    """
    job = await enqueue_job(request, task, parts)
    watcher: Watcher = request.app.state.watcher
    found = await watcher.ended(job.id, requested_wait(request).wait_seconds)
    if found.state is State.DONE:
        return with_preference(request, await look_up())
    if found.state is State.FAILED and found.problem is not None:
        return with_preference(request, _failed(found))
    return with_preference(request, accepted_response(found))


def _failed(job: Job) -> JSONResponse:
    problem = dict(job.problem or {})
    return JSONResponse(problem, status_code=problem["status"], media_type=MEDIA_TYPE)


def accepted_response(job: Job) -> Response:
    """Return 202 with a job and its URL."""
    place = {"Location": f"/v1/jobs/{job.id}", "Vary": "Prefer"}
    return JSONResponse(document.of(job), status_code=202, headers=place)


def with_preference(request: Request, answer: Response) -> Response:
    """Return an answer that names the applied preference, if the client sent one (RFC 7240)."""
    if applied := requested_wait(request).applied:
        answer.headers["Preference-Applied"] = applied
    return answer


def requested_wait(request: Request) -> Preference:
    """Return the wait that a request asks for, or the default of the settings."""
    usual = request.app.state.context.settings.wait_seconds
    return preference(request.headers.get("prefer"), usual)
