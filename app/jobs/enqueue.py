"""Adding jobs: one row each, within the limits; an unfinished job of the same task is reused."""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, insert, select, update
from sqlalchemy.exc import IntegrityError

from topoloom.app.jobs import queries
from topoloom.app.jobs.errors import QueueFull, TooManyJobs
from topoloom.app.jobs.model import DEFAULT_PRIORITY, MAX_PRIORITY, JobId, State, Task
from topoloom.app.store.tables import MAX_OWNER, JobRow, PartRow, WebhookRow

ATTEMPTS = 10
"""So often somebody else may begin one of the jobs just before us."""

IN_ONE_QUERY = 500


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


@dataclass(frozen=True, slots=True)
class Added:
    """The job of a wish, whether it is new, and which new jobs can begin at once."""

    job: JobId
    fresh: bool
    ready: tuple[JobId, ...] = ()


def add(engine: Engine, wish: Wish, limits: QueueLimits) -> Added:
    """Return the job that carries out a task: the unfinished one of its identity, or a new one.

    Raises
    ------
    QueueFull, TooManyJobs
        A limit on how many wait is passed; nothing was added.
    """
    for _ in range(ATTEMPTS):
        try:
            with engine.begin() as connection:
                return _join(connection, wish) or _add(connection, wish, limits)
        except IntegrityError:
            # Another process added one of these jobs since the look-up: look again.
            continue
    raise QueueFull(limits.queued)


def _join(connection: Connection, wish: Wish) -> Added | None:
    found = _flights(connection, [wish.task.identity])
    if not found:
        return None
    job = found[wish.task.identity]
    # Wanted for its own sake now: it outlives the sweep that it is a part of.
    connection.execute(
        update(JobRow)
        .where(JobRow.id == job, JobRow.parent.is_not(None))
        .values(parent=None, priority=wish.priority)
    )
    _tell(connection, job, wish.webhook)
    return Added(job, fresh=False)


def _add(connection: Connection, wish: Wish, limits: QueueLimits) -> Added:
    parts = {task.identity: task for task in wish.parts}
    known = _flights(connection, parts)
    new = [task for identity, task in parts.items() if identity not in known]
    _require_room(connection, wish.owner, 1 + len(new), limits)
    job, estimates = secrets.token_hex(16), {}
    values = []
    for task in (wish.task, *new):
        if task.operation not in estimates:
            estimates[task.operation] = queries.estimate(connection, task.operation)
        values.append(_values(task, wish, estimates[task.operation]))
    values[0] |= {"id": job, "parts": len(parts), "priority": wish.priority}
    for value in values[1:]:
        value |= {"parent": job, "priority": min(wish.priority + 100, MAX_PRIORITY)}
    connection.execute(insert(JobRow), values)
    made = [value["id"] for value in values[1:]]
    links = [{"job_id": job, "part_id": part} for part in (*known.values(), *made)]
    if links:
        connection.execute(insert(PartRow), links)
    _release(connection, known.values())
    _tell(connection, job, wish.webhook)
    return Added(job, fresh=True, ready=tuple(made) if parts else (job,))


def _release(connection: Connection, jobs: Iterable[JobId]) -> None:
    """Detach jobs that two sweeps share, so that cancelling one sweep does not end them."""
    for some in _chunks(jobs):
        query = update(JobRow).where(JobRow.id.in_(some), JobRow.parent.is_not(None))
        connection.execute(query.values(parent=None))


def _flights(connection: Connection, identities: Iterable[str]) -> dict[str, JobId]:
    """Return the unfinished jobs of some identities."""
    found = {}
    for some in _chunks(identities):
        query = select(JobRow.flight, JobRow.id).where(JobRow.flight.in_(some))
        found |= {row.flight: row.id for row in connection.execute(query)}
    return found


def _chunks(values: Iterable[str]) -> Iterable[list[str]]:
    listed = list(values)
    return (listed[at : at + IN_ONE_QUERY] for at in range(0, len(listed), IN_ONE_QUERY))


def _require_room(connection: Connection, owner: str, more: int, limits: QueueLimits) -> None:
    if queries.queued(connection, owner) + more > limits.queued_of_owner:
        raise TooManyJobs(limits.queued_of_owner)
    if queries.queued(connection) + more > limits.queued:
        raise QueueFull(limits.queued)


def _values(task: Task, wish: Wish, estimate: float | None) -> dict[str, Any]:
    return {
        "id": secrets.token_hex(16),
        "operation": task.operation,
        "body": task.body,
        "identity": task.identity,
        "flight": task.identity,
        "state": State.QUEUED.value,
        "turn": 0,
        "revision": 1,
        "phase": "",
        "cancel_asked": False,
        "owner": wish.owner,
        "parent": None,
        "parts": 0,
        "parts_ended": 0,
        "estimate_seconds": estimate,
        "created_at": queries.now(),
    }


def _tell(connection: Connection, job: JobId, url: str | None) -> None:
    if url is None:
        return
    known = select(WebhookRow.url).where(WebhookRow.job_id == job, WebhookRow.url == url)
    if connection.execute(known).first() is None:
        connection.execute(
            insert(WebhookRow).values(job_id=job, url=url, state="held", attempts=0, due=0.0)
        )
