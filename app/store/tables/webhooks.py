"""The table of webhooks: deliveries, with their attempts."""

import secrets
from typing import Any

from sqlalchemy import JSON, Float, ForeignKey, Integer, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from topoloom.app.store.tables.base import Base

MAX_URL = 2_000


class WebhookRow(Base):
    """The delivery of the end of a job to a URL.

    ``host`` is the host of the URL with its port: one host must not delay the others.  ``turn``
    grows with every change: a claim names the turn that the claimant saw.  ``attempts`` counts
    since the job ended, or since the last request to resend; ``log`` lists all of them.  ``due``
    is the planned time of the next attempt, in seconds since 1970.
    """

    __tablename__ = "job_webhooks"
    __table_args__ = (UniqueConstraint("job_id", "url"),)

    id: Mapped[str] = mapped_column(
        String(32), primary_key=True, default=lambda: secrets.token_hex(16)
    )
    job_id: Mapped[str] = mapped_column(ForeignKey("jobs.id"))
    url: Mapped[str] = mapped_column(String(MAX_URL))
    host: Mapped[str] = mapped_column(String(300))
    state: Mapped[str] = mapped_column(String(10), index=True)
    turn: Mapped[int] = mapped_column(Integer, default=0)
    attempts: Mapped[int] = mapped_column(Integer)
    due: Mapped[float] = mapped_column(Float)
    log: Mapped[list[dict[str, Any]]] = mapped_column(JSON, default=list)
