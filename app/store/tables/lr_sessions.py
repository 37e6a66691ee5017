"""Learning-rate sessions and the logs of their observations."""

from datetime import datetime

from sqlalchemy import BigInteger, DateTime, ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from topoloom.app.store.tables.base import Base


class LrSessionRow(Base):
    """A training job with a tuned learning rate, and a snapshot of its state machine.

    ``sequence`` is the number of the last valid observation, ``entries`` the number of log
    entries, and ``version`` grows with every change.  ``lease`` and ``lease_before`` are SHA-256
    digests of leases, or empty; ``seen_at`` is the time of the last use of a lease.  ``owner`` is
    as in `app.store.owners`, ``size`` the bytes of the losses in the log.
    """

    __tablename__ = "lr_sessions"
    __table_args__ = (Index(None, "created_at", "id"), Index(None, "owner", "size"))

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    name: Mapped[str] = mapped_column(String(80))
    status: Mapped[str] = mapped_column(String(16))
    state: Mapped[str] = mapped_column(Text)
    sequence: Mapped[int]
    entries: Mapped[int]
    version: Mapped[int]
    lease: Mapped[str] = mapped_column(String(64))
    lease_before: Mapped[str] = mapped_column(String(64))
    seen_at: Mapped[datetime] = mapped_column(DateTime)
    created_at: Mapped[datetime] = mapped_column(DateTime)
    owner: Mapped[str] = mapped_column(String(128), server_default="")
    size: Mapped[int] = mapped_column(BigInteger, server_default="0")


class LrObservationRow(Base):
    """One immutable entry of the log of a session: an observation and its answer.

    An entry of a ``sequence`` replaces all earlier entries from that number on.  ``start`` is
    the step of the trainer before it; ``status``, ``step`` and ``spent`` are the values after
    it, as is ``state``, which is stored at the start of a stage.
    """

    __tablename__ = "lr_observations"
    __table_args__ = (Index(None, "session_id", "sequence", "entry"),)

    session_id: Mapped[str] = mapped_column(
        String(64), ForeignKey("lr_sessions.id", ondelete="CASCADE"), primary_key=True
    )
    entry: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    sequence: Mapped[int]
    unasked: Mapped[bool]
    losses: Mapped[str] = mapped_column(Text)
    action: Mapped[str] = mapped_column(Text)
    stage: Mapped[int]
    trial: Mapped[int | None]
    start: Mapped[int]
    answer: Mapped[str] = mapped_column(Text)
    status: Mapped[str] = mapped_column(String(16))
    step: Mapped[int]
    spent: Mapped[int]
    state: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(DateTime)
