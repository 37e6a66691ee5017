"""Request log: id, log line and metrics of every request."""

import logging
import time
from collections.abc import Callable

from fastapi.responses import JSONResponse
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from topoloom.app.observability.logs import begin, well_formed
from topoloom.app.observability.metrics import Metrics

log = logging.getLogger(__name__)

GONE = 499
"""Status of a request whose client disconnected before the answer, as in nginx."""

_QUIET = ("/healthz", "/readyz", "/metrics")
"""Frequent probes, logged at debug level."""


class Observe:
    """ASGI middleware that gives every response an id, and logs and counts the request.

    ``refusal`` returns the response to an unexpected error.
    """

    def __init__(
        self,
        app: ASGIApp,
        metrics: Metrics,
        refusal: Callable[[str, Exception], JSONResponse],
    ) -> None:
        self.app, self.metrics, self.refusal = app, metrics, refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the application; log and count the request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        identity = well_formed(Headers(scope=scope).get("x-request-id", ""))
        facts = begin(request_id=identity)
        # Inner layers answer HEAD as GET.
        method, start, status = scope["method"], time.perf_counter(), GONE

        async def observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-ID"] = identity
            await send(message)

        try:
            await self.app(scope, receive, observed)
        except Exception as error:
            if status == GONE:
                await self.refusal(scope["path"], error)(scope, receive, observed)
            # The server logs the error with traceback and facts.
            raise
        finally:
            facts["owner"] = scope.get("state", {}).get("owner", "")
            self._note(scope, method, status, time.perf_counter() - start)

    def _note(self, scope: Scope, method: str, status: int, seconds: float) -> None:
        # Use the template of the route, not the path, to bound the label values.
        route = getattr(scope.get("route"), "path", "other")
        shown = method if route != "other" else "other"
        self.metrics.requested(shown, route, status, seconds)
        level = logging.DEBUG if route in _QUIET and status < 400 else logging.INFO
        if log.isEnabledFor(level):
            facts = {"route": route, "status": status, "ms": round(seconds * 1000, 3)}
            log.log(level, "%s %s %s", shown, route, status, extra={"facts": facts})
