"""Cheap refusals for addresses that send many requests without a valid key.

A refusal by `topoloom.app.auth.middleware.Gate` also costs the middleware of logs and headers.  A
flood would fill the log and the time of the process.  So `RefuseGuesses` runs before all other
middleware.  While the bucket of an address is not full, `RefuseGuesses` compares the keys of that
address with the ids of all keys, takes the tokens, and counts refusals without a log line.  The
gate alone would take a token after a query, and pass all guesses of the meantime.
"""

from collections.abc import Callable
from functools import lru_cache

from fastapi.responses import JSONResponse
from sqlalchemy.exc import SQLAlchemyError
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from topoloom.app.auth.buckets import Buckets
from topoloom.app.auth.errors import TooManyRequests
from topoloom.app.auth.key_cache import KnownKeys
from topoloom.app.auth.middleware import COUNTED, address_of, bearer
from topoloom.app.auth.scopes import is_open

ANSWERS = 64
"""Refusals, by path and wait, that are kept; to build one takes a sixth of the time of a guess."""


class RefuseGuesses:
    """ASGI middleware that answers 429 to an address without failures left, unless a key is valid.

    Args:
        app: Its ``state.known_keys`` finds keys.
        failures: Buckets by address for requests without a valid key, shared with the gate.
        refusal: Returns the answer to a refused request, from its path and the error.
        counted: Counts a refusal by the last part of the type of its problem.
    """

    def __init__(
        self,
        app: ASGIApp,
        failures: Buckets,
        refusal: Callable[[str, Exception], JSONResponse],
        counted: Callable[[str], None],
    ) -> None:
        self.app, self.failures = app, failures
        self.counted = counted

        @lru_cache(ANSWERS)
        def answer(path: str, wait: int) -> JSONResponse:
            return refusal(path, TooManyRequests(wait, {}))

        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] == "http":
            address = f"address:{address_of(scope)}"
            if not self.failures.is_full(address) and await _is_guess(scope):
                if wait := self.failures.take(address).wait:
                    self.counted("too-many-requests")
                    await self._answer(scope["path"], wait)(scope, receive, send)
                    return
                scope.setdefault("state", {})[COUNTED] = True
        await self.app(scope, receive, send)


async def _is_guess(scope: Scope) -> bool:
    """Return whether a request needs a key and has no valid key."""
    # A preflight request (CORS) has no key.
    if is_open(scope["path"]) or scope["method"] == "OPTIONS":
        return False
    key = bearer(Headers(scope=scope).get("authorization", ""))
    known: KnownKeys = scope["app"].state.known_keys
    try:
        return not await known.is_listed(key) or await known.access(key) is None
    except SQLAlchemyError:
        return False
