"""Reading jobs: one, a page of them, how many wait."""

import json
import statistics
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Row, func, or_, select, tuple_

from topoloom.app.jobs.model import Job, JobId, State, Task
from topoloom.app.store.errors import NotStored
from topoloom.app.store.listing import InvalidCursor
from topoloom.app.store.owners import ADDRESS, EVERYONE
from topoloom.app.store.tables import JobRow

UNFINISHED = (State.QUEUED.value, State.RUNNING.value)

PAST_RUNS = 20
"""So many runs of an operation say how long the next will take."""

_COLUMNS = tuple(JobRow.__table__.columns)


def now() -> datetime:
    """Return the time in UTC, as tables hold it."""
    return datetime.now(UTC).replace(tzinfo=None)


def read(engine: Engine, job: JobId) -> Job:
    """Return a job as it stands, or raise `NotStored`."""
    found = jobs_of(engine, [job])
    if not found:
        raise NotStored("job", job)
    return found[0]


def jobs_of(engine: Engine, ids: Iterable[JobId]) -> list[Job]:
    """Return the jobs of these ids; unknown ids are skipped."""
    with engine.connect() as connection:
        rows = connection.execute(select(*_COLUMNS).where(JobRow.id.in_(list(ids)))).all()
    return [job_of(row) for row in rows]


def revisions(engine: Engine, ids: Iterable[JobId]) -> Mapping[JobId, int]:
    """Return the number of changes of each job; deleted jobs are skipped."""
    query = select(JobRow.id, JobRow.revision).where(JobRow.id.in_(list(ids)))
    with engine.connect() as connection:
        return {row.id: row.revision for row in connection.execute(query)}


def page(
    engine: Engine,
    limit: int,
    after: JobId | None = None,
    *,
    state: State | None = None,
    operation: str | None = None,
    parent: JobId | None = None,
    seen_by: str | None = None,
) -> tuple[list[Job], JobId | None]:
    """Return up to ``limit`` jobs, newest first, and the id after which the next page begins.

    Parts of other jobs are listed only when ``parent`` names their job.  ``seen_by`` is an owner
    who sees own and shared jobs; None sees all.

    Raises:
        InvalidCursor: There is no job ``after``.
    """
    query = select(*_COLUMNS).where(*_conditions(state, operation, parent, seen_by))
    order = (JobRow.created_at.desc(), JobRow.id.desc())
    with engine.connect() as connection:
        if after is not None:
            query = query.where(tuple_(JobRow.created_at, JobRow.id) < _place(connection, after))
        rows = connection.execute(query.order_by(*order).limit(limit + 1)).all()
    jobs = [job_of(row) for row in rows]
    return jobs[:limit], jobs[limit - 1].id if len(jobs) > limit else None


def total(
    engine: Engine,
    *,
    state: State | None = None,
    operation: str | None = None,
    parent: JobId | None = None,
    seen_by: str | None = None,
) -> int:
    """Return the number of jobs over all pages."""
    query = select(func.count()).select_from(JobRow)
    query = query.where(*_conditions(state, operation, parent, seen_by))
    with engine.connect() as connection:
        return connection.execute(query).scalar_one()


def _conditions(
    state: State | None, operation: str | None, parent: JobId | None, seen_by: str | None
) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions of a list of jobs."""
    yield JobRow.parent.is_(None) if parent is None else JobRow.parent == parent
    if state is not None:
        yield JobRow.state == state.value
    if operation is not None:
        yield JobRow.operation == operation
    if seen_by is not None:
        shared = or_(JobRow.owner == EVERYONE, JobRow.owner.startswith(ADDRESS))
        yield or_(JobRow.owner == seen_by, shared)


def _place(connection: Connection, job: JobId) -> Any:
    query = select(JobRow.created_at, JobRow.id).where(JobRow.id == job)
    found = connection.execute(query).one_or_none()
    if found is None:
        raise InvalidCursor("cursor: must be one that an earlier answer gave")
    return tuple_(*found)


def estimate(connection: Connection, operation: str) -> float | None:
    """Return the median seconds of the last runs of an operation; None before the first."""
    query = (
        select(JobRow.started_at, JobRow.ended_at)
        .where(JobRow.operation == operation, JobRow.state == State.DONE.value)
        .where(JobRow.started_at.is_not(None))
        .order_by(JobRow.ended_at.desc())
        .limit(PAST_RUNS)
    )
    spans = [row.ended_at - row.started_at for row in connection.execute(query)]
    if not spans:
        return None
    return round(statistics.median(span.total_seconds() for span in spans), 3)


def queued_count(connection: Connection, owner: str | None = None) -> int:
    """Return how many jobs wait, of one owner or in all."""
    query = select(func.count()).where(JobRow.state == State.QUEUED.value)
    if owner is not None:
        query = query.where(JobRow.owner == owner)
    return connection.execute(query).scalar_one()


def job_of(row: Row[Any]) -> Job:
    """Return the job of a whole row."""
    return Job(
        id=row.id,
        task=Task(row.operation, row.body, row.identity, row.owner),
        state=State(row.state),
        owner=row.owner,
        priority=row.priority,
        revision=row.revision,
        progress=_progress(row),
        phase=row.phase,
        created_at=row.created_at,
        started_at=row.started_at,
        ended_at=row.ended_at,
        estimate_seconds=row.estimate_seconds,
        made=row.made,
        problem=None if row.problem is None else json.loads(row.problem),
        parent=row.parent,
        parts=row.parts,
        parts_ended=row.parts_ended,
        history=row.history,
    )


def _progress(row: Row[Any]) -> float | None:
    """Return how much is done; of a job with parts, the share of them that has ended."""
    if row.state == State.DONE.value or not row.parts:
        return row.progress
    return row.parts_ended / row.parts
