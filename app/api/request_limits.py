"""ASGI middleware that refuses large and encoded bodies, and unknown hosts."""

from collections import Counter
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
"""Largest body of a request without a topology, a plant or a trace, in bytes."""


BATCH = {"/v1/designs/batch": 4 * SMALL_BODY}
"""Path -> largest body, in bytes: a hundred designs, as large as four long workloads.

The event loop parses a batch; workers parse the large bodies of all other paths.
"""

_TAKE_FILES = tuple(
    f"/v1/{kind}"
    for kind in (
        *("designs", "topologies", "schedules", "patch-plans", "costs", "optima", "verifications"),
        *("simulations", "comparisons", "group-schedules", "sweeps", "box-designs", "iterations"),
        "network-curves",
    )
)


def body_limit(path: str, most: int) -> int:
    """Return the largest body of a path, in bytes: ``most`` for topologies, plants and traces.

    >>> [body_limit(f"/v1/{path}", 2**25) for path in ("frontiers", "designs/batch", "designs")]
    [262144, 1048576, 33554432]
    """
    if path.startswith(_TAKE_FILES) and path not in BATCH:
        return most
    return min(most, BATCH.get(path, SMALL_BODY))


BODIES_OF_OWNER = 4
"""Largest bodies that the service holds of one owner at a time."""


class RefuseLargeBodies:
    """ASGI middleware that answers 413 to a body over the limit, and 415 to an encoded body.

    A declared length is checked before the body is read; a body without a declared length is
    counted while it arrives.  The bodies of an owner that are in memory are limited, too: a further
    body gets 429.

    Args:
        most: Returns the limit of a path, in bytes.
        most_of_owner: Most bytes of all requests of an owner that are not answered yet.
    """

    def __init__(self, app: ASGIApp, most: Callable[[str], int], most_of_owner: int) -> None:
        self.app, self.most, self.most_of_owner = app, most, most_of_owner
        self._held: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers, most = Headers(scope=scope), self.most(scope["path"])
        coding = headers.get("content-encoding", "identity")
        declared = headers.get("content-length", "")
        # A length of 19 digits exceeds every limit.
        length = int(declared[:19]) if declared.isdigit() else 0
        if coding.strip().lower() != "identity":
            await body_encoded(scope["path"], coding)(scope, receive, send)
        elif length > most:
            await body_too_large(scope["path"], most)(scope, receive, send)
        else:
            owner = scope.get("state", {}).get("owner", "")
            await self._pass_on(scope, receive, send, most, owner)

    async def _pass_on(
        self, scope: Scope, receive: Receive, send: Send, most: int, owner: str
    ) -> None:
        """Pass a request on, and count the bytes of its body until its answer is complete."""
        total = 0

        async def counted() -> Message:
            nonlocal total
            message = await receive()
            size = len(message.get("body", b""))
            total += size
            if size:
                self._held[owner] += size
            if total > most:
                raise HTTPException(413, f"body: must have at most {most} bytes")
            if self._held[owner] > self.most_of_owner:
                detail = (
                    f"body: the bodies of a client must have at most {self.most_of_owner} bytes"
                )
                raise HTTPException(429, f"{detail} at a time", {"Retry-After": "1"})
            return message

        try:
            await self.app(scope, counted, send)
        finally:
            if total:
                self._held[owner] -= total
                if not self._held[owner]:
                    del self._held[owner]


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
