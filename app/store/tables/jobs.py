"""The tables of jobs: what is true of each, its parts, who carries them out, whom to tell."""

from datetime import datetime

from sqlalchemy import Boolean, DateTime, Float, ForeignKey, Index, Integer, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from topoloom.app.store.tables.base import Base

MAX_OWNER = 128
MAX_PHASE = 200
MAX_URL = 2_000


class JobRow(Base):
    """One job.

    ``flight`` is its identity while it is unfinished, and then null: a second unfinished job
    of one identity breaks a constraint.  ``turn`` counts how often it was given to the queue;
    whoever carries it out must name the turn to change anything, so that a worker that was
    given up for dead changes nothing any more.  ``worker`` has it in hand.
    """

    __tablename__ = "jobs"
    __table_args__ = (
        Index(None, "created_at", "id"),
        Index(None, "state", "owner"),
        Index(None, "operation", "ended_at"),
    )

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    operation: Mapped[str] = mapped_column(String(40))
    body: Mapped[str] = mapped_column(Text)
    identity: Mapped[str] = mapped_column(String(64))
    flight: Mapped[str | None] = mapped_column(String(64), unique=True)
    state: Mapped[str] = mapped_column(String(10))
    turn: Mapped[int] = mapped_column(Integer)
    worker: Mapped[str | None] = mapped_column(String(64), index=True)
    revision: Mapped[int] = mapped_column(Integer)
    progress: Mapped[float | None] = mapped_column(Float)
    phase: Mapped[str] = mapped_column(String(MAX_PHASE))
    cancel_asked: Mapped[bool] = mapped_column(Boolean)
    owner: Mapped[str] = mapped_column(String(MAX_OWNER))
    priority: Mapped[int] = mapped_column(Integer)
    parent: Mapped[str | None] = mapped_column(String(32), index=True)
    parts: Mapped[int] = mapped_column(Integer)
    parts_ended: Mapped[int] = mapped_column(Integer)
    estimate_seconds: Mapped[float | None] = mapped_column(Float)
    made: Mapped[str | None] = mapped_column(String(64))
    problem: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(DateTime)
    started_at: Mapped[datetime | None] = mapped_column(DateTime)
    ended_at: Mapped[datetime | None] = mapped_column(DateTime)


class PartRow(Base):
    """A job that waits for another one; a part may be part of several."""

    __tablename__ = "job_parts"

    job_id: Mapped[str] = mapped_column(ForeignKey("jobs.id"), primary_key=True)
    part_id: Mapped[str] = mapped_column(ForeignKey("jobs.id"), primary_key=True, index=True)


class WorkerRow(Base):
    """A process that carries out jobs.

    It is alive while ``beats`` grows: no clock of one machine is compared with another's.
    ``place`` and ``process`` tell a neighbour on the same kernel whether it is gone.
    """

    __tablename__ = "workers"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    place: Mapped[str] = mapped_column(String(200))
    process: Mapped[str] = mapped_column(String(64))
    beats: Mapped[int] = mapped_column(Integer)
    started_at: Mapped[datetime] = mapped_column(DateTime)


class WebhookRow(Base):
    """An address that is told when a job has ended; ``due`` is in seconds since 1970."""

    __tablename__ = "job_webhooks"
    __table_args__ = (Index(None, "state", "due"),)

    job_id: Mapped[str] = mapped_column(ForeignKey("jobs.id"), primary_key=True)
    url: Mapped[str] = mapped_column(String(MAX_URL), primary_key=True)
    state: Mapped[str] = mapped_column(String(10))
    attempts: Mapped[int] = mapped_column(Integer)
    due: Mapped[float] = mapped_column(Float)
