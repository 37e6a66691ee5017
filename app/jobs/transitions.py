"""Changes of a job's state; each is one guarded update, so that a job ends exactly once.

The job tables are the queue.  A worker takes a job, and names the job's turn in every later
update.  Handing a job back ends the turn: every update that names an old turn is refused.  Locks
are taken on the part first, then on the jobs that wait for the part, in the order of ids.  No
function takes locks in another order.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, Select, delete, func, select, text, update
from sqlalchemy.orm import aliased

from topoloom.app.jobs import history, queries
from topoloom.app.jobs.model import JobId, State, Task
from topoloom.app.store.database import is_embedded
from topoloom.app.store.tables import MAX_PHASE, JobRow, PartRow, WebhookRow
from topoloom.app.store.tables.jobs import DUE

MAX_LOSSES = 25
"""A job that lost so many workers is not tried again."""

FORGET_AT_ONCE = 500

LOST = {
    "type": "/problems/work-failed",
    "title": "The job failed",
    "status": 500,
    "detail": f"{MAX_LOSSES} workers that had it in hand ended before it did",
    "instance": "/v1/jobs",
    "errors": [],
}

_TAKE_LOCK = 7_063_412
_TASK = (JobRow.operation, JobRow.body, JobRow.identity, JobRow.owner)


class Held(NamedTuple):
    """A job that a worker has in hand, for this turn."""

    id: JobId
    turn: int
    worker: str


def take(engine: Engine, worker: str, running_of_owner: int) -> tuple[Held, Task] | None:
    """Assign the next job to a worker; None if no job may begin.

    A job may begin when all its parts have ended.  Owners take turns: the next job is of the
    owner with the fewest running jobs, and among these of the owner whose last job began first.
    An owner with ``running_of_owner`` running jobs is skipped.  Among the jobs of one owner, the
    most urgent and then the oldest goes first.
    """
    following = _following(running_of_owner)
    with engine.connect() as connection:
        # An idle worker only reads: a write would lock an embedded database.
        if connection.execute(following).first() is None:
            return None
    with engine.begin() as connection:
        if not is_embedded(engine.url):
            # One take at a time, as on SQLite: otherwise two could pass the limit of an owner.
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _TAKE_LOCK})
        row = connection.execute(
            update(JobRow)
            .where(JobRow.id == following.correlate(None).scalar_subquery(), DUE)
            .values(worker=worker, **_running(worker))
            .returning(JobRow.id, JobRow.turn, *_TASK)
        ).one_or_none()
        if row is None:
            return None
        for parent in _parents(connection, row.id):
            connection.execute(
                update(JobRow)
                .where(JobRow.id == parent, JobRow.state == State.QUEUED.value)
                .values(**_running())
            )
    task = Task(row.operation, row.body, row.identity, row.owner)
    return Held(row.id, row.turn, worker), task


def _following(running_of_owner: int) -> Select[JobId]:
    """Return the query of the id of the job that is taken next."""
    waiting = select(JobRow.owner).where(DUE).distinct().subquery()
    mine = aliased(JobRow)
    of_owner = mine.owner == waiting.c.owner
    running = (
        select(func.count())
        .where(of_owner, mine.state == State.RUNNING.value, mine.worker.is_not(None))
        .scalar_subquery()
    )
    last = select(func.max(mine.started_at)).where(of_owner).scalar_subquery()
    owner = (
        select(waiting.c.owner)
        .where(running < running_of_owner)
        .order_by(running, last.nulls_first(), waiting.c.owner)
        .limit(1)
    )
    return (
        select(JobRow.id)
        .where(JobRow.owner == owner.scalar_subquery(), DUE)
        .order_by(JobRow.priority, JobRow.created_at, JobRow.id)
        .limit(1)
    )


def _running(worker: str | None = None) -> dict[str, Any]:
    return {
        "state": State.RUNNING.value,
        "history": JobRow.history + history.change(State.RUNNING, worker=worker),
        "started_at": func.coalesce(JobRow.started_at, queries.now()),
        "revision": JobRow.revision + 1,
    }


def report(engine: Engine, said: Iterable[tuple[Held, float, str]]) -> None:
    """Write down how far jobs are: progress, from 0 to 1, and phase."""
    with engine.begin() as connection:
        for held, progress, phase in sorted(said):
            connection.execute(
                update(JobRow)
                .where(*_guard(held))
                .values(progress=progress, phase=phase[:MAX_PHASE], revision=JobRow.revision + 1)
            )


def held_by(engine: Engine, worker: str) -> Mapping[Held, bool]:
    """Return the jobs that the tables assign to a worker, and whether each is to be cancelled."""
    query = select(JobRow.id, JobRow.turn, JobRow.worker, JobRow.cancel_asked)
    with engine.connect() as connection:
        rows = connection.execute(query.where(JobRow.worker == worker)).all()
    return {Held(row.id, row.turn, worker): row.cancel_asked for row in rows}


def finish(
    engine: Engine,
    held: Held,
    state: State,
    *,
    made: str | None = None,
    problem: Mapping[str, Any] | None = None,
    answered: bool = True,
) -> bool:
    """End a job in this turn, once; return False if the turn is over.

    ``answered`` means that the end, even a problem, answers the request.  Otherwise every job
    that waits for this part fails.
    """
    with engine.begin() as connection:
        values = {"made": made, "problem": problem, "answered": answered}
        failed = _end(connection, held.id, state, _guard(held), **values)
    return _ended(engine, failed)


def complete(engine: Engine, job: JobId, made: str) -> bool:
    """End a job that no worker has in hand, as its answer is stored; return whether it ended."""
    free = [JobRow.worker.is_(None)]
    with engine.begin() as connection:
        return _end(connection, job, State.DONE, free, made=made, answered=True) is not None


def cancel(engine: Engine, job: JobId) -> bool:
    """Cancel a job and its parts: at once, or by a flag if a worker holds the job.

    Return False if the job has ended.
    """
    with engine.begin() as connection:
        open_ = (JobRow.id == job, JobRow.state.in_(queries.UNFINISHED))
        asked = connection.execute(update(JobRow).where(*open_).values(cancel_asked=True))
        if not asked.rowcount:
            return False
        free = [JobRow.id == job, JobRow.worker.is_(None)]
        failed = _end(connection, job, State.CANCELLED, free, answered=False)
    _ended(engine, failed)
    return True


def hand_back(engine: Engine, held: Held, *, lost: bool = False) -> bool:
    """Return a job to the queue, or cancel a job that is flagged; False if the turn is over.

    ``lost`` counts a worker that did not stop in order: after `MAX_LOSSES` of them the job fails.
    """
    losses = JobRow.losses + int(lost)
    outcome = history.LOST if lost else history.HANDED_BACK
    again = {"turn": JobRow.turn + 1, "worker": None, "losses": losses,
             "state": State.QUEUED.value, "revision": JobRow.revision + 1,
             "history": JobRow.history + history.change(State.QUEUED, outcome=outcome)}  # fmt: skip
    may = (JobRow.cancel_asked.is_(False), losses < MAX_LOSSES)
    with engine.begin() as connection:
        if connection.execute(update(JobRow).where(*_guard(held), *may).values(**again)).rowcount:
            return True
        flagged = select(JobRow.cancel_asked).where(*_guard(held))
        cancelled = connection.execute(flagged).scalar_one_or_none()
        state, problem = (State.CANCELLED, None) if cancelled else (State.FAILED, LOST)
        failed = _end(connection, held.id, state, _guard(held), problem=problem, answered=False)
    return _ended(engine, failed)


def forget(engine: Engine, jobs: Sequence[JobId]) -> int:
    """Delete jobs that have ended, with all that hangs on them; return how many."""
    with engine.begin() as connection:
        gone = JobRow.id.in_(jobs) & JobRow.state.not_in(queries.UNFINISHED)
        ended = connection.execute(select(JobRow.id).where(gone)).scalars().all()
        for query in (
            delete(PartRow).where(PartRow.job_id.in_(ended)),
            delete(PartRow).where(PartRow.part_id.in_(ended)),
            delete(WebhookRow).where(WebhookRow.job_id.in_(ended)),
        ):
            connection.execute(query)
        connection.execute(update(JobRow).where(JobRow.parent.in_(ended)).values(parent=None))
        connection.execute(delete(JobRow).where(JobRow.id.in_(ended)))
    return len(ended)


def forget_old(engine: Engine, days: float) -> None:
    """Delete some of the jobs that ended more than ``days`` days ago."""
    before = queries.now() - timedelta(days=days)
    query = select(JobRow.id).where(JobRow.ended_at < before).limit(FORGET_AT_ONCE)
    with engine.connect() as connection:
        old = connection.execute(query).scalars().all()
    forget(engine, old)


def _guard(held: Held) -> list[ColumnElement[bool]]:
    return [JobRow.id == held.id, JobRow.turn == held.turn, JobRow.worker == held.worker]


def _end(
    connection: Connection,
    job: JobId,
    state: State,
    guard: Sequence[ColumnElement[bool]],
    *,
    made: str | None = None,
    problem: Mapping[str, Any] | None = None,
    answered: bool,
) -> list[JobId] | None:
    """End a job; None if the guard refuses it, else the jobs whose parts nobody wants now."""
    values = {
        "state": state.value,
        "flight": None,
        "worker": None,
        "phase": "",
        "made": made,
        "problem": None if problem is None else json.dumps(problem),
        "history": JobRow.history + history.change(state),
        "ended_at": queries.now(),
        "revision": JobRow.revision + 1,
    }
    if state is State.DONE:
        values["progress"] = 1.0
    open_ = (JobRow.id == job, JobRow.state.in_(queries.UNFINISHED))
    if not connection.execute(update(JobRow).where(*open_, *guard).values(**values)).rowcount:
        return None
    connection.execute(
        update(WebhookRow).where(WebhookRow.job_id == job).values(state="waiting", due=0.0)
    )
    failed = [] if answered else [job]
    for parent in _parents(connection, job):
        # Count first: the update locks the row of the parent.
        connection.execute(
            update(JobRow)
            .where(JobRow.id == parent, JobRow.state.in_(queries.UNFINISHED))
            .values(parts_ended=JobRow.parts_ended + 1, revision=JobRow.revision + 1)
        )
        if not answered:
            because = _because(job, state, problem)
            failed += _end(connection, parent, State.FAILED, (), problem=because,
                           answered=False) or []  # fmt: skip
    return failed


def _ended(engine: Engine, failed: Iterable[JobId] | None) -> bool:
    """Cancel the parts of failed jobs; return whether a job has ended.

    If the process dies midway, the remaining parts are carried out in vain.
    """
    for job in failed or ():
        query = select(JobRow.id).where(JobRow.parent == job, JobRow.state.in_(queries.UNFINISHED))
        with engine.connect() as connection:
            parts = connection.execute(query.order_by(JobRow.id)).scalars().all()
        for part in parts:
            cancel(engine, part)
    return failed is not None


def _because(job: JobId, state: State, problem: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the problem of a job whose part has no answer: that of the part."""
    if problem is not None:
        return {**problem, "detail": f"its part {job} failed: {problem['detail']}"}
    return {
        "type": "/problems/work-failed",
        "title": "The job failed",
        "status": 500,
        "detail": f"its part {job} was {state.value}",
        "instance": f"/v1/jobs/{job}",
        "errors": [],
    }


def _parents(connection: Connection, job: JobId) -> Sequence[JobId]:
    query = select(PartRow.job_id).where(PartRow.part_id == job).order_by(PartRow.job_id)
    return connection.execute(query).scalars().all()
