"""Refusing a body that is too large before anything reads or parses it."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from app.problems import body_too_large

__all__ = ["RefuseLargeBodies"]

DRAINED = 8
"""A refused body is still received, unread, up to so many times the limit: a client
that writes before it reads would otherwise see a broken connection, not the answer."""


class RefuseLargeBodies:
    """ASGI middleware: a declared length over the limit is answered with 413.

    Bodies without a declared length are counted by FastAPI while they arrive.
    """

    def __init__(self, app: ASGIApp, most: int) -> None:
        self.app = app
        self.most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        length = headers.get("content-length", "")
        if not length.isdigit() or int(length[:19]) <= self.most:
            await self.app(scope, receive, send)
            return
        if "expect" not in headers and int(length[:19]) <= DRAINED * self.most:
            await _drain(receive)
        await body_too_large(scope["path"], self.most)(scope, receive, send)


async def _drain(receive: Receive) -> None:
    while (await receive()).get("more_body", False):
        pass
