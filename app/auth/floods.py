"""Cheap refusals for clients that send far more requests than their rate.

A refusal by `topoloom.app.auth.middleware.Gate` also costs the middleware of logs and headers.  So
`RefuseFloods` runs before that middleware.  In the `SECONDS` after such a refusal, it refuses
further requests of the client itself, and counts them without a log line.  The log has a line a
second of each client that exceeds its rate.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache

from fastapi.responses import JSONResponse
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from topoloom.app.auth.buckets import Buckets, Taken
from topoloom.app.auth.errors import TooManyRequests
from topoloom.app.auth.middleware import OVER_RATE, address_of
from topoloom.app.auth.scopes import is_open

SECONDS = 1.0
"""Seconds after a refusal of the gate in which further refusals are cheap."""

MOST = 1024
"""Most senders in memory that the gate has refused; an earlier one gets costly refusals again."""

ANSWERS = 64
"""Refusals, by path and bucket, that are kept."""


class RefuseFloods:
    """ASGI middleware that answers 429 to a sender whose bucket is empty.

    A sender is an address and an Authorization header.  A browser gets the answers of the gate,
    which tell a page of another origin that it may read them.

    Args:
        app: Holds the gate.
        buckets: Buckets of the gate, by key or address.
        refusal: Returns the answer to a refused request, from its path and the error.
        counted: Counts a refusal by the last part of the type of its problem.
        clock: Returns seconds.
    """

    def __init__(
        self,
        app: ASGIApp,
        buckets: Buckets,
        refusal: Callable[[str, Exception], JSONResponse],
        counted: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.app, self.buckets, self.counted = app, buckets, counted
        self._clock = clock
        self._over: OrderedDict[tuple[str, str], tuple[str, float]] = OrderedDict()

        @lru_cache(ANSWERS)
        def answer(path: str, taken: Taken) -> JSONResponse:
            return refusal(path, TooManyRequests(taken.wait, buckets.headers(taken)))

        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        taken = self._empty(scope) if self._over and scope["type"] == "http" else None
        if taken is not None:
            self.counted("too-many-requests")
            await self._answer(scope["path"], taken)(scope, receive, send)
            return
        await self.app(scope, receive, send)
        caller = scope.get("state", {}).get(OVER_RATE)
        # On an open path, the bucket is that of the address, also for a request with a key.
        if caller and not is_open(scope["path"]):
            self._over[_sender(scope)] = caller, self._clock() + SECONDS
            if len(self._over) > MOST:
                self._over.popitem(last=False)

    def _empty(self, scope: Scope) -> Taken | None:
        """Return the bucket of a sender that the gate has refused just now, if still empty."""
        sender = _sender(scope)
        caller, until = self._over.get(sender, ("", 0.0))
        if not caller or is_open(scope["path"]) or "origin" in Headers(scope=scope):
            return None
        if self._clock() >= until:
            del self._over[sender]
            return None
        taken = self.buckets.look(caller)
        return taken if taken.wait else None


def _sender(scope: Scope) -> tuple[str, str]:
    return address_of(scope), Headers(scope=scope).get("authorization", "")
