"""Requests of administrators: API keys and the audit log."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field, StrictInt

from topoloom.app.auth.api_keys import MAX_NAME
from topoloom.app.auth.scopes import Scope
from topoloom.app.requests.base import Request, optional
from topoloom.app.requests.options import administration, sweeps_and_jobs
from topoloom.app.requests.options.listing import Moment
from topoloom.app.requests.printable import printable
from topoloom.app.store.audit_log import AuditFilter


class ApiKeyRequest(Request):
    """Name, scopes, owner and lifetime of a new API key."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={"examples": [{"name": "nightly sweeps", "scopes": ["design"]}]},
    )

    name: Annotated[str, AfterValidator(printable)] = Field(
        description="purpose of the key, printable", min_length=1, max_length=MAX_NAME
    )
    scopes: list[Scope] = Field(description="permissions of the key", min_length=1, max_length=4)
    owner: str = optional(
        "team that shares what the key makes; default: the key alone; not for the scope admin",
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
    )
    days: StrictInt = optional("days until the key expires; default: never", ge=1, le=3650)


class AuditLogRequest(Request):
    """Page and filters of the audit log."""

    limit: StrictInt = sweeps_and_jobs.LIMIT.field()
    cursor: str = sweeps_and_jobs.CURSOR.field(max_length=200)
    owner: str = administration.OWNER.field(max_length=128)
    key: str = administration.KEY.field(max_length=8)
    action: str = administration.ACTION.field(max_length=80)
    since: Moment = administration.SINCE.field()
    until: Moment = administration.UNTIL.field()

    @property
    def wanted(self) -> AuditFilter:
        """The filters of the request."""
        return AuditFilter(self.owner, self.key, self.action, self.since, self.until)
