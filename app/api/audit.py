"""Audit of requests: entries of the audit log for changing or refused administrative requests."""

import logging
from functools import partial

from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from topoloom.app.auth.key_cache import Access
from topoloom.app.auth.scopes import scope_of
from topoloom.app.observability.logs import request_id
from topoloom.app.store.audit_log import record

log = logging.getLogger(__name__)

_CHANGING = frozenset({"PUT", "PATCH", "DELETE"})


def is_audited(route: BaseRoute, method: str) -> bool:
    """Return whether a request is administrative and changes something, or would.

    These are the changes of stored documents, jobs, sessions, progress and keys.  Requests that
    compute are not.
    """
    if method == "POST":
        path: str = getattr(route, "path", "")
        return scope_of(route) == "admin" or path.endswith("/cancel")
    return method in _CHANGING


class Audit:
    """ASGI middleware that writes the entry of a request before its answer begins."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; record an audited request with the status of its answer."""
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self.app(scope, receive, send)
            return

        async def recorded(message: Message) -> None:
            if message["type"] == "http.response.start":
                route = scope.get("route")
                if route is not None and is_audited(route, scope["method"]):
                    await _record(scope, route, message)
            await send(message)

        await self.app(scope, receive, recorded)


async def _record(scope: Scope, route: BaseRoute, start: Message) -> None:
    access: Access = scope["state"]["access"]
    made = Headers(raw=start["headers"]).get("location")
    write = partial(
        record,
        scope["app"].state.engine,
        getattr(route, "operation_id", ""),
        made or scope["path"],
        owner=access.limited,
        key=access.caller.removeprefix("key:") if access.owner else "",
        request_id=request_id(),
        status=start["status"],
    )
    try:
        await run_in_threadpool(write)
    except SQLAlchemyError as error:
        # The change is made: the answer tells the client so.
        log.error("the audit log lacks %s %s: %s", scope["method"], scope["path"], error)
