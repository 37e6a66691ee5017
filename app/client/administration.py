"""Operations of administrators: API keys and the audit log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from topoloom.app.client.openapi_operations import operation, part
from topoloom.app.client.transport import Transport

if TYPE_CHECKING:
    from topoloom.app.client import types


class Administration(Transport):
    """Operations of administrators; they need a key with the scope admin."""

    @operation("createKey")
    def create_key(self, **question: Unpack[types.ApiKeyRequest]) -> types.ApiKeyDocument:
        """Create an API key; its text is in ``key``, and is not shown again."""
        return self._post("/v1/keys", question)

    @operation("listKeys")
    def keys(self) -> types.ApiKeyList:
        """Return all API keys, newest first, as ``items``."""
        return self._get_json("/v1/keys")

    @operation("readKey")
    def key(self, key_id: str) -> types.ApiKeyDocument:
        """Return an API key without its secret."""
        return self._get_json(f"/v1/keys/{part(key_id)}")

    @operation("revokeKey")
    def revoke_key(self, key_id: str) -> types.ApiKeyDocument:
        """Revoke an API key; every process refuses the key within five seconds."""
        return self._send("DELETE", f"/v1/keys/{part(key_id)}")

    @operation("readAuditLog")
    def audit_log(self, **query: Any) -> types.AuditPage:
        """Return one page of the audit log: GET /v1/audit-log."""
        return self._get_json("/v1/audit-log", query)
