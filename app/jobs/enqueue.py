"""Adding jobs: one row each, within the limits; an unfinished job of the same task is reused."""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, case, insert, select, update
from sqlalchemy.exc import IntegrityError

from topoloom.app.jobs import history, queries
from topoloom.app.jobs.errors import QueueFull, TooManyJobs, WebhookRefused
from topoloom.app.jobs.model import DEFAULT_PRIORITY, MAX_PRIORITY, JobId, State, Task
from topoloom.app.jobs.webhooks.targets import host_and_port
from topoloom.app.store.tables import MAX_OWNER, JobRow, PartRow, WebhookRow

ATTEMPTS = 10
"""So often somebody else may begin one of the jobs just before us."""

IN_ONE_QUERY = 500

MAX_WEBHOOKS = 100
"""Most webhooks of a job: a client may join a job with any number of URLs."""


@dataclass(frozen=True, slots=True)
class QueueLimits:
    """How many jobs may wait: in all, and of one owner."""

    queued: int
    queued_of_owner: int


@dataclass(frozen=True, slots=True)
class Wish:
    """A request for a job: task, owner, priority, webhook and parts.

    The task begins when all of its ``parts`` have ended.
    """

    task: Task
    owner: str = ""
    priority: int = DEFAULT_PRIORITY
    webhook: str | None = None
    parts: Sequence[Task] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.priority <= MAX_PRIORITY:
            raise ValueError(f"priority: must be from 1 to {MAX_PRIORITY}")
        if len(self.owner) > MAX_OWNER:
            raise ValueError(f"owner: must have at most {MAX_OWNER} characters")


def add(engine: Engine, wish: Wish, limits: QueueLimits) -> JobId:
    """Return the job that carries out a task: the unfinished one of its identity, or a new one.

    Raises:
        QueueFull, TooManyJobs: A limit on how many wait is passed; nothing was added.
    """
    for _ in range(ATTEMPTS):
        try:
            with engine.begin() as connection:
                return _join(connection, wish) or _add(connection, wish, limits)
        except IntegrityError:
            # Another process added one of these jobs since the look-up: look again.
            continue
    raise QueueFull(limits.queued)


def _join(connection: Connection, wish: Wish) -> JobId | None:
    # Wanted for its own sake now: the job outlives the sweep that it is a part of.  The update
    # locks the row: a job that ends meanwhile would not send the webhook.
    priority = case((JobRow.parent.is_(None), JobRow.priority), else_=wish.priority)
    job = connection.execute(
        update(JobRow)
        .where(JobRow.flight == wish.task.identity)
        .values(parent=None, priority=priority)
        .returning(JobRow.id)
    ).scalar_one_or_none()
    if job is not None:
        _tell(connection, job, wish.webhook)
    return job


def _add(connection: Connection, wish: Wish, limits: QueueLimits) -> JobId:
    parts = {task.identity: task for task in wish.parts}
    estimates: dict[str, float | None] = {}

    def row(task: Task, priority: int, **more: Any) -> dict[str, Any]:
        if task.operation not in estimates:
            estimates[task.operation] = queries.estimate(connection, task.operation)
        estimate = estimates[task.operation]
        return (
            _values(task, wish.owner) | {"priority": priority, "estimate_seconds": estimate} | more
        )

    whole = row(wish.task, wish.priority, parts=len(parts))
    # Insert before the look-up of parts: an embedded database then takes no other end of a job.
    connection.execute(insert(JobRow).values(whole))
    known = _unfinished(connection, parts)
    behind = min(wish.priority + 100, MAX_PRIORITY)
    new = [
        row(task, behind, parent=whole["id"])
        for identity, task in sorted(parts.items())
        if identity not in known
    ]
    _require_room(connection, wish.owner, len(new), limits)
    if new:
        connection.execute(insert(JobRow), new)
    links = [{"job_id": whole["id"], "part_id": part}
             for part in (*known.values(), *(value["id"] for value in new))]  # fmt: skip
    if links:
        connection.execute(insert(PartRow), links)
    _release(connection, known.values())
    _tell(connection, whole["id"], wish.webhook)
    return whole["id"]


def _release(connection: Connection, jobs: Iterable[JobId]) -> None:
    """Detach jobs that two sweeps share, so that cancelling one sweep does not end them."""
    for some in _chunks(jobs):
        query = update(JobRow).where(JobRow.id.in_(some), JobRow.parent.is_not(None))
        connection.execute(query.values(parent=None))


def _unfinished(connection: Connection, identities: Iterable[str]) -> dict[str, JobId]:
    """Return the unfinished jobs of some identities, locked in the order of ids."""
    found = {}
    for some in _chunks(sorted(identities)):
        query = select(JobRow.flight, JobRow.id).where(JobRow.flight.in_(some))
        rows = connection.execute(query.order_by(JobRow.id).with_for_update())
        found |= {row.flight: row.id for row in rows}
    return found


def _chunks(values: Iterable[str]) -> Iterable[list[str]]:
    listed = list(values)
    return (listed[at : at + IN_ONE_QUERY] for at in range(0, len(listed), IN_ONE_QUERY))


def _require_room(connection: Connection, owner: str, more: int, limits: QueueLimits) -> None:
    """Raise if the queued jobs and ``more`` jobs exceed a limit."""
    if queries.queued_count(connection, owner) + more > limits.queued_of_owner:
        raise TooManyJobs(limits.queued_of_owner)
    if queries.queued_count(connection) + more > limits.queued:
        raise QueueFull(limits.queued)


def _values(task: Task, owner: str) -> dict[str, Any]:
    return {
        "id": secrets.token_hex(16),
        "operation": task.operation,
        "body": task.body,
        "identity": task.identity,
        "flight": task.identity,
        "state": State.QUEUED.value,
        "turn": 0,
        "revision": 1,
        "history": history.change(State.QUEUED),
        "phase": "",
        "cancel_asked": False,
        "owner": owner,
        "size": len(task.body),
        "parent": None,
        "parts": 0,
        "parts_ended": 0,
        "created_at": queries.now(),
    }


def _tell(connection: Connection, job: JobId, url: str | None) -> None:
    if url is None:
        return
    query = select(WebhookRow.url).where(WebhookRow.job_id == job)
    known = connection.execute(query).scalars().all()
    if url in known:
        return
    if len(known) >= MAX_WEBHOOKS:
        raise WebhookRefused(f"must be one of at most {MAX_WEBHOOKS} URLs of a job")
    connection.execute(
        insert(WebhookRow).values(
            job_id=job, url=url, host=host_and_port(url), state="held", attempts=0, due=0.0
        )
    )
