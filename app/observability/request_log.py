"""Request log: id, log line and metrics of every request."""

import logging
import time
from asyncio import CancelledError
from collections.abc import Callable

from fastapi.responses import JSONResponse
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from topoloom.app.auth.errors import ShuttingDown
from topoloom.app.observability.logs import Fact, begin, well_formed
from topoloom.app.observability.metrics import Metrics
from topoloom.app.observability.telemetry import annotate

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
        method, start, status, gone = scope["method"], time.perf_counter(), GONE, False

        async def received() -> Message:
            nonlocal gone
            message = await receive()
            if message["type"] == "http.disconnect":
                gone = True
            return message

        async def observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                # Nobody receives an answer that begins after the client has left.
                status = GONE if gone else message["status"]
                MutableHeaders(scope=message)["X-Request-ID"] = identity
                facts["owner"] = _owner(scope)
                annotate(facts)
            await send(message)

        try:
            await self.app(scope, received, observed)
        except ClientDisconnect:
            pass
        except CancelledError:
            # The server cancels requests that outlast the shutdown.
            if status != GONE:
                raise
            await self.refusal(scope["path"], ShuttingDown())(scope, receive, observed)
        except Exception as error:
            if status == GONE:
                await self.refusal(scope["path"], error)(scope, receive, observed)
            # The server logs the error with traceback and facts.
            raise
        finally:
            facts["owner"] = _owner(scope)
            self._note(scope, method, status, time.perf_counter() - start, facts)

    def _note(
        self, scope: Scope, method: str, status: int, seconds: float, facts: dict[str, Fact]
    ) -> None:
        # Use the template of the route, not the path, to bound the label values.
        route = _template(scope)
        self.metrics.requested(method, route, status, seconds)
        if status != GONE and "problem" in facts:
            self.metrics.refused(str(facts["problem"]))
        level = _level(route, status)
        if log.isEnabledFor(level):
            line = {"method": method, "route": route, "status": status}
            line["ms"] = round(seconds * 1000, 3)
            log.log(level, "%s %s %s", method, route, status, extra={"facts": line})


def _level(route: str, status: int) -> int:
    """Return the level of a line; a client that disconnects is no error."""
    if status >= 500:
        return logging.WARNING
    return logging.DEBUG if route in _QUIET and status < 400 else logging.INFO


def _owner(scope: Scope) -> str:
    """Return the owner of a request; its address if the request was refused before the keys."""
    owner = scope.get("state", {}).get("owner")
    client = scope.get("client")
    return owner or (f"address:{client[0]}" if client else "")


def _template(scope: Scope) -> str:
    """Return the path template of a request, also of a request refused before its route."""
    route = scope.get("route")
    if route is None:
        routes = scope["app"].router.routes
        matching = (one for one in routes if one.matches(scope)[0] is not Match.NONE)
        route = next(matching, None)
    return getattr(route, "path", "other")
