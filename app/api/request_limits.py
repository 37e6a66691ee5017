"""ASGI middleware that refuses large and encoded bodies, and unknown hosts."""

from collections.abc import Callable, Sequence

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from topoloom.app.api.problems import (
    body_encoded,
    body_too_large,
    several_hosts,
    unknown_host,
)

SMALL_BODY = 256 * 2**10
"""Largest body of a request without a topology, in bytes."""


BATCH = {"/v1/designs/batch": 4 * SMALL_BODY}
"""Path -> largest body, in bytes: a hundred designs, as large as four long workloads."""

_TAKE_TOPOLOGIES = tuple(
    f"/v1/{kind}"
    for kind in (
        *("topologies", "schedules", "patch-plans", "costs", "optima", "verify", "simulations"),
    )
)


def body_limit(path: str, most: int) -> int:
    """Return the largest body of a path, in bytes: ``most`` only for topologies.

    >>> body_limit("/v1/designs", 2**25), body_limit("/v1/topologies", 2**25)
    (262144, 33554432)
    """
    return most if path.startswith(_TAKE_TOPOLOGIES) else min(most, BATCH.get(path, SMALL_BODY))


class RefuseLargeBodies:
    """ASGI middleware that answers 413 to a body over the limit, and 415 to an encoded body.

    A declared length is checked before the body is read; a body without a declared length is
    counted while it arrives.  ``most`` returns the limit of a path, in bytes.
    """

    def __init__(self, app: ASGIApp, most: Callable[[str], int]) -> None:
        self.app = app
        self.most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers, most = Headers(scope=scope), self.most(scope["path"])
        coding = headers.get("content-encoding", "identity")
        if coding.strip().lower() != "identity":
            await body_encoded(scope["path"], coding)(scope, receive, send)
            return
        declared = headers.get("content-length", "")
        # A length of 19 digits exceeds every limit.
        length = int(declared[:19]) if declared.isdigit() else 0
        if length <= most:
            await self.app(scope, _counted(receive, most), send)
            return
        await body_too_large(scope["path"], most)(scope, receive, send)


def _counted(receive: Receive, most: int) -> Receive:
    total = 0

    async def counted() -> Message:
        nonlocal total
        message = await receive()
        total += len(message.get("body", b""))
        if total > most:
            raise HTTPException(413, f"body: must have at most {most} bytes")
        return message

    return counted


class RefuseUnknownHosts:
    """ASGI middleware that answers 400 to a Host header that is not a name of the service.

    This prevents DNS rebinding: another site points its own name at this machine, and its page
    reads the answers of the service.  ``*`` stands for every name.  Of two Host headers a proxy
    may check the first and this service the second, so both are refused (RFC 9112, section 3.2).
    """

    def __init__(self, app: ASGIApp, known: Sequence[str]) -> None:
        self.app = app
        self.known = frozenset(name.lower() for name in known)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] == "http":
            hosts = Headers(scope=scope).getlist("host")
            if len(hosts) > 1:
                await several_hosts(scope["path"])(scope, receive, send)
                return
            host = "".join(hosts).lower()
            if "*" not in self.known and _without_port(host) not in self.known:
                await unknown_host(scope["path"], host)(scope, receive, send)
                return
        await self.app(scope, receive, send)


def _without_port(host: str) -> str:
    """Return a host without its port; an IPv6 address keeps its brackets.

    >>> _without_port("[::1]:8765"), _without_port("localhost:80"), _without_port("a")
    ('[::1]', 'localhost', 'a')
    """
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host
