"""The tables of jobs, their parts and workers."""

from datetime import datetime

from sqlalchemy import (
    BigInteger,
    Boolean,
    DateTime,
    Float,
    ForeignKey,
    Index,
    Integer,
    String,
    Text,
    and_,
)
from sqlalchemy.orm import Mapped, mapped_column

from topoloom.app.store.tables.base import Base

MAX_OWNER = 128
MAX_PHASE = 200


class JobRow(Base):
    """One job.

    ``flight`` is its identity while it is unfinished, and then null: a unique constraint prevents
    a second unfinished job of one identity.  ``turn`` counts how often the job entered the queue.
    A worker must name the turn to change the job, so that a worker presumed dead changes nothing.
    ``worker`` is the worker that runs the job, ``losses`` the number of its workers that died.
    ``history`` holds the changes of the state, in the form of `app.jobs.history`.
    """

    __tablename__ = "jobs"
    __table_args__ = (
        Index(None, "created_at", "id"),
        Index(None, "state", "owner"),
        Index(None, "operation", "ended_at"),
        Index(None, "owner", "started_at"),
        Index(None, "owner", "size"),
    )

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    operation: Mapped[str] = mapped_column(String(40))
    body: Mapped[str] = mapped_column(Text)
    identity: Mapped[str] = mapped_column(String(64))
    flight: Mapped[str | None] = mapped_column(String(64), unique=True)
    state: Mapped[str] = mapped_column(String(10))
    turn: Mapped[int] = mapped_column(Integer)
    worker: Mapped[str | None] = mapped_column(String(64))
    revision: Mapped[int] = mapped_column(Integer)
    progress: Mapped[float | None] = mapped_column(Float)
    phase: Mapped[str] = mapped_column(String(MAX_PHASE))
    cancel_asked: Mapped[bool] = mapped_column(Boolean)
    losses: Mapped[int] = mapped_column(Integer, server_default="0")
    owner: Mapped[str] = mapped_column(String(MAX_OWNER))
    size: Mapped[int] = mapped_column(BigInteger, server_default="0")
    priority: Mapped[int] = mapped_column(Integer)
    parent: Mapped[str | None] = mapped_column(String(32), index=True)
    parts: Mapped[int] = mapped_column(Integer)
    parts_ended: Mapped[int] = mapped_column(Integer)
    estimate_seconds: Mapped[float | None] = mapped_column(Float)
    made: Mapped[str | None] = mapped_column(String(64))
    problem: Mapped[str | None] = mapped_column(Text)
    history: Mapped[str] = mapped_column(Text, server_default="")
    created_at: Mapped[datetime] = mapped_column(DateTime)
    started_at: Mapped[datetime | None] = mapped_column(DateTime)
    ended_at: Mapped[datetime | None] = mapped_column(DateTime)


DUE = and_(JobRow.flight.is_not(None), JobRow.worker.is_(None), JobRow.parts_ended >= JobRow.parts)
"""Condition of a job that may begin: unfinished, without a worker, all parts ended."""

_NEXT = (JobRow.owner, JobRow.priority, JobRow.created_at, JobRow.id)
_HELD = JobRow.worker.is_not(None)
Index("ix_jobs_due", *_NEXT, sqlite_where=DUE, postgresql_where=DUE)
# Without the rows of no worker: SQLite would read these rows to find the jobs that may begin.
Index("ix_jobs_worker", JobRow.worker, sqlite_where=_HELD, postgresql_where=_HELD)


class PartRow(Base):
    """A job that waits for another job, its part; a part may belong to several jobs."""

    __tablename__ = "job_parts"

    job_id: Mapped[str] = mapped_column(ForeignKey("jobs.id"), primary_key=True)
    part_id: Mapped[str] = mapped_column(ForeignKey("jobs.id"), primary_key=True, index=True)


class WorkerRow(Base):
    """A process that runs jobs.

    It is alive while ``beats`` grows: clocks of different machines are never compared.
    ``place`` and ``process`` let a worker on the same kernel detect that it has ended.
    """

    __tablename__ = "workers"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    place: Mapped[str] = mapped_column(String(200))
    process: Mapped[str] = mapped_column(String(64))
    beats: Mapped[int] = mapped_column(Integer)
    started_at: Mapped[datetime] = mapped_column(DateTime)
