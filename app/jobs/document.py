"""job/1: where a job stands, and its list."""

import json
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from topoloom.app.documents.base import Document, Identity, omitted, renamed_to
from topoloom.app.documents.problem import ProblemDocument
from topoloom.app.jobs import history
from topoloom.app.jobs.model import Job
from topoloom.app.store.artifacts import KINDS

JobIdentity = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
"""The id of a job; it says nothing of the job."""

SHOWN_REQUEST = 16 * 2**10
"""Longest request, in characters, that a job/1 document shows."""

StateName = Literal["queued", "running", "done", "failed", "cancelled"]


class JobParts(Document):
    """The parts of a sweep's job."""

    total: int = Field(description="how many jobs it waits for", ge=0)
    ended: int = Field(description="how many of them have ended", ge=0)


class JobAttempt(Document):
    """A run of a job by a worker."""

    worker: str = Field(description="id of the worker")
    started_at: datetime = Field(description="start, UTC")
    ended_at: datetime | None = Field(description="end, UTC; null while the worker runs the job")
    outcome: Literal["done", "failed", "cancelled", "lost", "handed-back"] | None = Field(
        description="lost: the worker died; handed-back: the worker stopped in order; after both "
        "the job returns to the queue; null while the worker runs the job"
    )


class JobChange(Document):
    """A change of the state of a job."""

    state: StateName = Field(description="state since then")
    at: datetime = Field(description="time of the change, UTC")


class JobDocument(Document):
    """job/1: a job as it stands."""

    schema_: Literal["job/1"] = Field(alias="schema", description="job/1")
    id: JobIdentity = Field(description="the job, under /v1/jobs")
    operation: str = Field(description="what is done")
    request: Annotated[dict[str, Any], Field(title="Question")] | None = Field(
        description="request of the operation; null if longer than 16 KiB"
    )
    owner: str = Field(description="owner: the id of a key, or the address of the client")
    state: StateName = Field(description="only queued and running can still change")
    revision: int = Field(description="grows with every change", ge=1)
    progress: float | None = Field(
        description="share of the present phase that is done, of a sweep that of its parts; "
        "null where it is not known",
        ge=0,
        le=1,
    )
    phase: str = Field(description="what is being done; empty where that is not known")
    message: str = renamed_to("phase")
    parts: JobParts | None = Field(description="of a sweep; null of any other")
    parent: JobIdentity | None = Field(description="the sweep that it is a part of; null for none")
    created_at: datetime = Field(description="when it was asked for, UTC")
    started_at: datetime | None = Field(description="when it was begun; null before")
    ended_at: datetime | None = Field(description="when it ended; null before")
    estimate_seconds: float | None = Field(
        description="median time of the last runs of the operation; null before the first", ge=0
    )
    result_url: str | None = Field(description="path of the answer of a job that is done, or null")
    result: str | None = renamed_to("result_url")
    result_id: Identity | None = Field(description="what the answer is stored under, or null")
    problem: ProblemDocument | None = Field(
        description="problem+json document of a job that failed, or null"
    )
    attempts: list[JobAttempt] = Field(description="runs by workers, oldest first")
    history: list[JobChange] = Field(description="changes of the state, oldest first")


class JobPage(Document):
    """A page of the list of jobs, newest first."""

    items: list[JobDocument] = Field(description="the jobs of the page")
    next_cursor: str | None = Field(description="cursor of the next page; null on the last")
    total: int = omitted("number of entries over all pages, with `count=1`", ge=0)


def place(operation: str, made: str) -> str:
    """Return the path of the document that an operation made.

    >>> place("patch-plan", "3f2a91"), place("plot-tree", "3f2a91")
    ('/v1/patch-plans/3f2a91', '/v1/plots/3f2a91')
    """
    kind = "plot" if operation.startswith("plot-") else operation
    # As the `Location` of POST /v1/schedules: schedules may be large.
    query = "?format=summary" if kind == "schedule" else ""
    return f"/v1/{KINDS.get(kind, kind).replace('_', '-')}/{made}{query}"


def of(job: Job) -> dict[str, Any]:
    """Return the job/1 document."""
    changes = history.read(job.history)
    result_url = None if job.made is None else place(job.task.operation, job.made)
    return {
        "schema": "job/1",
        "id": job.id,
        "operation": job.task.operation,
        "request": json.loads(job.task.body) if len(job.task.body) <= SHOWN_REQUEST else None,
        "owner": job.owner,
        "state": job.state.value,
        "revision": job.revision,
        "progress": None if job.progress is None else round(job.progress, 4),
        "phase": job.phase,
        "message": job.phase,
        "parts": {"total": job.parts, "ended": job.parts_ended} if job.parts else None,
        "parent": job.parent,
        "created_at": _moment(job.created_at),
        "started_at": _moment(job.started_at),
        "ended_at": _moment(job.ended_at),
        "estimate_seconds": job.estimate_seconds,
        "result_url": result_url,
        "result": result_url,
        "result_id": job.made,
        "problem": None if job.problem is None else dict(job.problem),
        "attempts": [
            attempt | {name: _moment(attempt[name]) for name in ("started_at", "ended_at")}
            for attempt in history.attempts(changes)
        ],
        "history": [{"state": one["state"], "at": _moment(one["at"])} for one in changes],
    }


def page(jobs: list[Job], next_cursor: str | None) -> dict[str, Any]:
    """Return a page of the list."""
    return {"items": [of(job) for job in jobs], "next_cursor": next_cursor}


def body(job: Job) -> bytes:
    """Return the document as it is sent to a webhook."""
    return json.dumps(of(job)).encode()


def _moment(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    return moment.replace(tzinfo=UTC).isoformat().replace("+00:00", "Z")
