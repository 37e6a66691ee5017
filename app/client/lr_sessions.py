"""Operations on learning-rate sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from topoloom.app.client.openapi_operations import operation, place
from topoloom.app.client.transport import Transport

if TYPE_CHECKING:
    from topoloom.app.client import types


class Tuning(Transport):
    """Operations on learning-rate sessions."""

    @operation("listLrSessions")
    def lr_sessions(self, **query: Any) -> types.LrPage:
        """Return one page of sessions: GET /v1/lr-sessions."""
        return self._get_json("/v1/lr-sessions", query)

    @operation("createLrSession")
    def lr_session(self, **question: Unpack[types.LrSessionRequest]) -> types.LrSession:
        """Create a session; return lr-session/1 with the trainer's lease."""
        return self._post("/v1/lr-sessions", question)

    @operation("attachLrSession")
    def lr_attach(
        self, session_id: str, **question: Unpack[types.LrLeaseRequest]
    ) -> types.LrSession:
        """Take over a session as its trainer, optionally from an earlier observation."""
        return self._post(place("lr-sessions", session_id, "lease"), question)

    @operation("observeLrSession")
    def lr_observe(
        self, session_id: str, **observation: Unpack[types.LrObservationRequest]
    ) -> types.LrReply:
        """Report losses; return the reply with the next action."""
        return self._post(place("lr-sessions", session_id, "observations"), observation)

    @operation("extendLrSession")
    def lr_extend(
        self, session_id: str, **question: Unpack[types.LrExtensionRequest]
    ) -> types.LrSession:
        """Give the run of a session another length; without one, the decay begins."""
        return self._post(place("lr-sessions", session_id, "extend"), question)

    @operation("cancelLrSession")
    def lr_cancel(self, session_id: str) -> types.LrSession:
        """End a session before the end of its run."""
        return self._post(place("lr-sessions", session_id, "cancel"), {})

    @operation("readLrHistory")
    def lr_history(self, session_id: str, form: str = "json", after: int = 0) -> bytes:
        """Return the history of a session as ``json``, ``csv`` or ``svg``."""
        return self._get(
            place("lr-sessions", session_id, "history"), {"format": form, "after": after}
        )

    @operation("deleteLrSession")
    def lr_delete(self, session_id: str) -> None:
        """Delete a session and its observations."""
        self._delete(place("lr-sessions", session_id))
