"""Service state beside documents: claims, API keys, the audit log, progress of patch plans."""

from datetime import datetime

from sqlalchemy import DateTime, Float, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from topoloom.app.store.tables.base import Base


class ClaimRow(Base):
    """A claim on a document that is being computed: its owner and its expiry.

    ``until`` is in seconds since 1970, by the clock of the owner.
    """

    __tablename__ = "claims"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    owner: Mapped[str] = mapped_column(String(32), index=True)
    until: Mapped[float] = mapped_column(Float)


class ApiKeyRow(Base):
    """An API key; moments are in UTC.

    ``id`` is the part of the key that is no secret, ``secret_hash`` the SHA-256, in
    hexadecimal, of the part that is.  ``scopes`` are joined by blanks.  ``owner`` is the owner of
    what the key makes; see `app.store.owners`.
    """

    __tablename__ = "api_keys"

    id: Mapped[str] = mapped_column(String(8), primary_key=True)
    name: Mapped[str] = mapped_column(String(80))
    secret_hash: Mapped[str] = mapped_column(String(64))
    scopes: Mapped[str] = mapped_column(String(80))
    created_at: Mapped[datetime] = mapped_column(DateTime)
    expires_at: Mapped[datetime | None] = mapped_column(DateTime)
    revoked_at: Mapped[datetime | None] = mapped_column(DateTime)
    used_at: Mapped[datetime | None] = mapped_column(DateTime)
    owner: Mapped[str] = mapped_column(String(128))


class AuditRow(Base):
    """A changing or refused administrative request; ``at`` is in UTC.

    ``owner`` and ``key`` name the caller, ``action`` the operation, ``target`` its path.
    ``status`` is the HTTP status of the answer; 0 for a command.
    """

    __tablename__ = "audit_log"
    __table_args__ = (Index(None, "at", "id"),)

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    at: Mapped[datetime] = mapped_column(DateTime)
    owner: Mapped[str] = mapped_column(String(128))
    key: Mapped[str] = mapped_column(String(8))
    action: Mapped[str] = mapped_column(String(80))
    target: Mapped[str] = mapped_column(String(500))
    request_id: Mapped[str] = mapped_column(String(128))
    status: Mapped[int]


class PatchProgressRow(Base):
    """The progress that an owner observed of a patch plan: each panel, as JSON.

    ``site`` is the digest of the plant that the plan holds exclusively; null after the plan is
    done or given up.  ``version`` grows with every change.
    """

    __tablename__ = "patch_progress"
    __table_args__ = (UniqueConstraint("site"),)

    plan_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    owner: Mapped[str] = mapped_column(String(128), primary_key=True)
    site: Mapped[str | None] = mapped_column(String(64))
    version: Mapped[int]
    seen: Mapped[str] = mapped_column(Text)
    changed_at: Mapped[datetime] = mapped_column(DateTime)
