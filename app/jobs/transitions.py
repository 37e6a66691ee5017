"""Changes of a job's state; each is one guarded update, so that a job ends exactly once.

A worker names its turn in every update.  Requeueing a job ends the turn: every update that names
an old turn is refused.  Locks are taken on the part first, then on the jobs that wait for the
part, in the order of ids.  No function takes locks in another order.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, delete, func, select, update

from topoloom.app.jobs import queries
from topoloom.app.jobs.model import JobId, State, Task
from topoloom.app.store.tables import MAX_PHASE, JobRow, PartRow, WebhookRow

MAX_TURNS = 25
"""A job whose workers die so often is not tried again."""


class Due(NamedTuple):
    """A job that the queue must hold, for this turn."""

    id: JobId
    turn: int
    owner: str
    priority: int


class Held(NamedTuple):
    """A job that a worker has in hand."""

    id: JobId
    turn: int
    cancel_asked: bool
    priority: int
    owner: str


@dataclass(slots=True)
class Ending:
    """Effects of the end of a job: jobs that may begin, jobs that lost a part.

    ``out`` is the turn to remove from the queue.
    """

    won: bool = False
    out: tuple[JobId, int] | None = None
    ready: list[Due] = field(default_factory=list)
    broken: list[JobId] = field(default_factory=list)


def begin(engine: Engine, job: JobId, turn: int, worker: str) -> Task | None:
    """Assign a job to a worker; return its task, or None if this turn must not run."""
    mine = (JobRow.id == job, JobRow.turn == turn, JobRow.worker.is_(None))
    open_ = (JobRow.state.in_(queries.UNFINISHED), JobRow.cancel_asked.is_(False))
    whole = JobRow.parts_ended >= JobRow.parts
    with engine.begin() as connection:
        taken = connection.execute(
            update(JobRow).where(*mine, *open_, whole).values(worker=worker, **_running())
        )
        if not taken.rowcount:
            return None
        for parent in _parents(connection, job):
            connection.execute(
                update(JobRow)
                .where(JobRow.id == parent, JobRow.state == State.QUEUED.value)
                .values(**_running())
            )
        row = connection.execute(
            select(JobRow.operation, JobRow.body, JobRow.identity).where(JobRow.id == job)
        ).one()
    return Task(*row)


def _running() -> dict[str, Any]:
    return {
        "state": State.RUNNING.value,
        "started_at": func.coalesce(JobRow.started_at, queries.now()),
        "revision": JobRow.revision + 1,
    }


def report(engine: Engine, worker: str, said: Iterable[tuple[JobId, int, float, str]]) -> None:
    """Write down how far jobs are: ``(job, turn, progress, phase)``."""
    with engine.begin() as connection:
        for job, turn, progress, phase in sorted(said):
            connection.execute(
                update(JobRow)
                .where(JobRow.id == job, JobRow.turn == turn, JobRow.worker == worker)
                .values(progress=progress, phase=phase[:MAX_PHASE], revision=JobRow.revision + 1)
            )


def held(engine: Engine, worker: str) -> list[Held]:
    """Return the jobs that the tables assign to a worker."""
    query = select(
        JobRow.id, JobRow.turn, JobRow.cancel_asked, JobRow.priority, JobRow.owner
    ).where(JobRow.worker == worker)
    with engine.connect() as connection:
        return [Held(*row) for row in connection.execute(query)]


def finish(
    engine: Engine,
    job: JobId,
    turn: int,
    worker: str,
    state: State,
    *,
    made: str | None = None,
    problem: Mapping[str, Any] | None = None,
    answered: bool = True,
) -> Ending:
    """End a job in this turn, once.

    ``answered`` means that the end, even a problem, answers the request.  Otherwise every job
    that waits for this part fails.
    """
    with engine.begin() as connection:
        return _end(
            connection,
            job,
            state,
            (JobRow.turn == turn, JobRow.worker == worker),
            made=made,
            problem=problem,
            answered=answered,
        )


def ask_to_cancel(engine: Engine, job: JobId) -> Ending | None:
    """Cancel a job at once if no worker holds it, or flag it; None if the job has ended."""
    with engine.begin() as connection:
        asked = connection.execute(
            update(JobRow)
            .where(JobRow.id == job, JobRow.state.in_(queries.UNFINISHED))
            .values(cancel_asked=True)
        )
        if not asked.rowcount:
            return None
        turn = connection.execute(select(JobRow.turn).where(JobRow.id == job)).scalar_one()
        free = (JobRow.worker.is_(None), JobRow.turn == turn)
        ending = _end(connection, job, State.CANCELLED, free, answered=False)
    ending.out = (job, turn) if ending.won else None
    return ending


def cancel_parts(engine: Engine, job: JobId) -> list[Ending]:
    """Cancel the unfinished parts of a job that nothing else wants."""
    query = select(JobRow.id).where(JobRow.parent == job, JobRow.state.in_(queries.UNFINISHED))
    with engine.connect() as connection:
        parts = connection.execute(query.order_by(JobRow.id)).scalars().all()
    endings = (ask_to_cancel(engine, part) for part in parts)
    return [ending for ending in endings if ending is not None]


def hand_back(engine: Engine, lost: Held, worker: str, problem: Mapping[str, Any]) -> Due | Ending:
    """Requeue a job whose worker stops or is dead, or end a job that must not run again.

    A job flagged for cancellation is cancelled; a job after `MAX_TURNS` turns fails with
    ``problem``.  A caller that loses a race gets an `Ending` that was not won.
    """
    mine = (JobRow.turn == lost.turn, JobRow.worker == worker)
    with engine.begin() as connection:
        if lost.cancel_asked:
            return _end(connection, lost.id, State.CANCELLED, mine, answered=False)
        if lost.turn + 1 >= MAX_TURNS:
            return _end(connection, lost.id, State.FAILED, mine, problem=problem, answered=False)
        given = connection.execute(
            update(JobRow)
            .where(JobRow.id == lost.id, *mine, JobRow.cancel_asked.is_(False))
            .values(
                turn=JobRow.turn + 1,
                worker=None,
                state=State.QUEUED.value,
                revision=JobRow.revision + 1,
            )
        )
    if not given.rowcount:
        return Ending()
    return Due(lost.id, lost.turn + 1, lost.owner, lost.priority)


def waiting(engine: Engine) -> list[Due]:
    """Return every job that the queue should hold: unfinished, parts ended, without worker."""
    query = _due().where(JobRow.state.in_(queries.UNFINISHED), JobRow.worker.is_(None))
    with engine.connect() as connection:
        return [Due(*row) for row in connection.execute(query.order_by(JobRow.created_at))]


def forget(engine: Engine, jobs: Sequence[JobId]) -> int:
    """Delete jobs that have ended, with all that hangs on them; return how many."""
    with engine.begin() as connection:
        ended = (
            connection.execute(
                select(JobRow.id).where(
                    JobRow.id.in_(jobs), JobRow.state.not_in(queries.UNFINISHED)
                )
            )
            .scalars()
            .all()
        )
        for query in (
            delete(PartRow).where(PartRow.job_id.in_(ended)),
            delete(PartRow).where(PartRow.part_id.in_(ended)),
            delete(WebhookRow).where(WebhookRow.job_id.in_(ended)),
        ):
            connection.execute(query)
        connection.execute(update(JobRow).where(JobRow.parent.in_(ended)).values(parent=None))
        connection.execute(delete(JobRow).where(JobRow.id.in_(ended)))
    return len(ended)


def _end(
    connection: Connection,
    job: JobId,
    state: State,
    guard: Sequence[ColumnElement[bool]],
    *,
    made: str | None = None,
    problem: Mapping[str, Any] | None = None,
    answered: bool,
) -> Ending:
    values = {
        "state": state.value,
        "flight": None,
        "worker": None,
        "phase": "",
        "made": made,
        "problem": None if problem is None else json.dumps(problem),
        "ended_at": queries.now(),
        "revision": JobRow.revision + 1,
    }
    if state is State.DONE:
        values["progress"] = 1.0
    open_ = (JobRow.id == job, JobRow.state.in_(queries.UNFINISHED))
    if not connection.execute(update(JobRow).where(*open_, *guard).values(**values)).rowcount:
        return Ending()
    connection.execute(
        update(WebhookRow).where(WebhookRow.job_id == job).values(state="waiting", due=0.0)
    )
    ending = Ending(won=True)
    for parent in _parents(connection, job):
        _count(connection, parent, ending, None if answered else _because(job, state, problem))
    return ending


def _count(
    connection: Connection, parent: JobId, ending: Ending, broken: Mapping[str, Any] | None
) -> None:
    """Count one more ended part of a job; the job fails if the part has no answer."""
    connection.execute(
        update(JobRow)
        .where(JobRow.id == parent, JobRow.state.in_(queries.UNFINISHED))
        .values(parts_ended=JobRow.parts_ended + 1, revision=JobRow.revision + 1)
    )
    if broken is not None:
        failed = _end(connection, parent, State.FAILED, (), problem=broken, answered=False)
        if failed.won:
            ending.broken.append(parent)
        return
    query = _due().where(JobRow.id == parent, JobRow.state.in_(queries.UNFINISHED))
    ending.ready.extend(Due(*row) for row in connection.execute(query))


def _because(job: JobId, state: State, problem: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the problem of a job whose part has no answer: that of the part."""
    if problem is not None:
        return {**problem, "detail": f"its part {job} failed: {problem['detail']}"}
    return {
        "type": "/problems/work-failed",
        "title": "The work came to no end",
        "status": 500,
        "detail": f"its part {job} was {state.value}",
        "instance": f"/v1/jobs/{job}",
        "errors": [],
    }


def _parents(connection: Connection, job: JobId) -> Sequence[JobId]:
    query = select(PartRow.job_id).where(PartRow.part_id == job).order_by(PartRow.job_id)
    return connection.execute(query).scalars().all()


def _due() -> Any:
    return select(JobRow.id, JobRow.turn, JobRow.owner, JobRow.priority).where(
        JobRow.parts_ended >= JobRow.parts, JobRow.cancel_asked.is_(False)
    )
