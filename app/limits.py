"""Refusing a body that is too large before anything reads or parses it."""

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.problems import body_too_large

__all__ = ["RefuseLargeBodies"]

DRAINED = 8
"""A refused body is still received, unread, up to so many times the limit: a client
that writes before it reads would otherwise see a broken connection, not the answer."""


class RefuseLargeBodies:
    """ASGI middleware: a body over the limit is answered with 413.

    A declared length is judged before anything is read; a body without one is counted
    while it arrives.
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
        declared = headers.get("content-length", "")
        # More than 18 digits are too many whatever they are.
        length = int(declared[:19]) if declared.isdigit() else 0
        if length <= self.most:
            await self.app(scope, self._counted(receive), send)
            return
        if "expect" not in headers and length <= DRAINED * self.most:
            await _drain(receive)
        await body_too_large(scope["path"], self.most)(scope, receive, send)

    def _counted(self, receive: Receive) -> Receive:
        total = 0

        async def counted() -> Message:
            nonlocal total
            message = await receive()
            total += len(message.get("body", b""))
            if total > self.most:
                raise HTTPException(413, f"body: must have at most {self.most} bytes")
            return message

        return counted


async def _drain(receive: Receive) -> None:
    while (await receive()).get("more_body", False):
        pass
