"""Documents of administrators: API keys and the audit log."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from pydantic import Field

from topoloom.app.auth.api_keys import ApiKey, now
from topoloom.app.auth.scopes import Scope
from topoloom.app.documents.base import Document, omitted
from topoloom.app.store.audit_log import Entry


class ApiKeyDocument(Document):
    """An API key without its secret."""

    id: str = Field(description="id of the key, under /v1/keys", pattern="^[0-9a-f]{8}$")
    name: str = Field(description="purpose of the key")
    owner: str = Field(description="owner of what the key makes: a team, key:ID, or admin")
    scopes: list[Scope] = Field(description="permissions of the key")
    state: str = Field(description="valid, expired or revoked")
    created_at: datetime = Field(description="time of creation, UTC")
    expires_at: datetime | None = Field(description="time of expiry, UTC; null for never")
    used_at: datetime | None = Field(
        description="time of the last use, UTC, to the minute; or null"
    )
    revoked_at: datetime | None = Field(description="time of revocation, UTC; or null")
    key: str = omitted("text of the key; only in the answer that creates the key")


class ApiKeyList(Document):
    """All API keys, newest first."""

    items: list[ApiKeyDocument] = Field(description="the keys, also revoked and expired keys")


class AuditEntry(Document):
    """A changing or refused administrative request, or such a command."""

    id: str = Field(description="id of the entry", pattern="^[0-9a-f]{32}$")
    at: datetime = Field(description="time of the answer, UTC")
    owner: str = Field(description="owner of the caller; command for the command line")
    key: str = Field(description="id of the caller's key; empty without a key")
    action: str = Field(description="operation of the API, or the command")
    target: str = Field(description="path of the request, or arguments of the command")
    request_id: str = Field(description="X-Request-ID of the answer; empty for a command")
    status: int = Field(description="HTTP status of the answer; 0 for a command")


class AuditPage(Document):
    """A page of the audit log, newest first."""

    items: list[AuditEntry] = Field(description="the entries of the page")
    next_cursor: str | None = Field(description="cursor of the next page; null on the last")
    total: int = omitted("number of entries over all pages, with `count=1`", ge=0)


def key_of(key: ApiKey, text: str | None = None) -> dict[str, Any]:
    """Return the document of a key; with its ``text`` for its creation alone."""
    document = ApiKeyDocument(
        id=key.id,
        name=key.name,
        owner=key.owner,
        scopes=list(key.scopes),
        state=key.state(now()),
        created_at=_utc(key.created_at),
        expires_at=key.expires_at and _utc(key.expires_at),
        used_at=key.used_at and _utc(key.used_at),
        revoked_at=key.revoked_at and _utc(key.revoked_at),
        **({} if text is None else {"key": text}),
    )
    return document.given()


def page_of(entries: list[Entry], next_cursor: str | None) -> dict[str, Any]:
    """Return a page of the audit log."""
    items = [AuditEntry.model_validate(asdict(entry) | {"at": _utc(entry.at)}) for entry in entries]
    return AuditPage(items=items, next_cursor=next_cursor).given()


def _utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC)
