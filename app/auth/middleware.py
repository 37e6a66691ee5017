"""Authentication and rate limits, from the head of a request alone.

The rate of a valid key counts in the bucket of the key, whatever others do at the same address.
Requests without a valid key count as failures in a bucket of the address.

The middleware begins the bound of a request on its waits for locks, and sets
``request.state.access`` and ``request.state.owner``: the owner of the key, or
``address:IP`` where no key is required.  Limits on work count by owner, rates by key.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network

from fastapi.responses import JSONResponse
from sqlalchemy.exc import SQLAlchemyError
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from topoloom.app.auth.buckets import Buckets
from topoloom.app.auth.errors import AccessError, TooManyRequests, Unauthorized
from topoloom.app.auth.key_cache import Access, KnownKeys
from topoloom.app.auth.scopes import everything, is_open
from topoloom.app.store.lock_waits import share_one_bound

_MAX_KEY = 200
"""Longest Authorization header, in characters, that can hold a key."""

REFUSED = "refused"
"""Name in ``scope["state"]`` of the error with which the connection refuses the request."""

COUNTED = "counted"
"""Name in ``scope["state"]`` that is true where the token of a failure was taken before."""

OVER_RATE = "over_rate"
"""Name in ``scope["state"]`` of the caller whose bucket is empty."""

_PROBE = "/healthz"
"""Path without a rate limit: a liveness probe must never get 429."""


class Gate:
    """ASGI middleware that checks keys and rates.

    Args:
        app: Its ``state.known_keys`` finds keys.
        refusal: Returns the answer to a refused request, from its path and the error.
        buckets: Buckets by owner; None without rate limits.
        failures: Buckets by address for requests without a valid key; None if no request needs a
            key.
    """

    def __init__(
        self,
        app: ASGIApp,
        refusal: Callable[[str, Exception], JSONResponse],
        buckets: Buckets | None,
        failures: Buckets | None,
    ) -> None:
        self.app, self.refusal = app, refusal
        self.buckets, self.failures = buckets, failures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        share_one_bound()
        state = scope.setdefault("state", {})
        stranger = Access(f"address:{address_of(scope)}", everything())
        state["owner"] = stranger.limited
        try:
            if REFUSED in state:
                raise state[REFUSED]
            state["access"] = access = await self._admitted(scope, stranger)
            state["owner"] = access.limited
            told = {} if scope["path"] == _PROBE else self._counted(access.caller, state)
        except (AccessError, SQLAlchemyError) as error:
            await self.refusal(scope["path"], error)(scope, receive, send)
            return
        await self.app(scope, receive, _telling(send, told) if told else send)

    async def _admitted(self, scope: Scope, stranger: Access) -> Access:
        if self.failures is None or is_open(scope["path"]):
            return stranger
        keys: KnownKeys = scope["app"].state.known_keys
        text = bearer(Headers(scope=scope).get("authorization", ""))
        access = await keys.access(text)
        if access is None:
            counted = COUNTED in scope["state"]
            if not counted and (wait := self.failures.take(stranger.caller).wait):
                raise TooManyRequests(wait, {})
            raise Unauthorized(given=bool(text))
        return access

    def _counted(self, owner: str, state: dict[str, object]) -> Mapping[str, str]:
        """Take a token; return the headers of the rate limit."""
        if self.buckets is None:
            return {}
        taken = self.buckets.take(owner)
        headers = self.buckets.headers(taken)
        if taken.wait:
            state[OVER_RATE] = owner
            raise TooManyRequests(taken.wait, headers)
        return headers


def address_of(scope: Scope) -> str:
    """Return the address of the client; for IPv6 its /64 network, which one client owns.

    >>> address_of({"client": ("2001:db8::1:2:3:4", 5)}), address_of({"client": None})
    ('2001:db8::/64', 'unknown')
    """
    client = scope.get("client")
    return _named(str(client[0])) if client else "unknown"


@lru_cache(maxsize=1024)
def _named(text: str) -> str:
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return text[:64]
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ip_network((address, 64), strict=False))
    return str(address)


def bearer(header: str) -> str:
    """Return the key of an Authorization header; empty without a key.

    >>> bearer("bearer  tl_1_2"), bearer("Basic eDp5")
    ('tl_1_2', '')
    """
    scheme, _, text = header.partition(" ")
    return text.strip() if scheme.lower() == "bearer" and len(header) <= _MAX_KEY else ""


def _telling(send: Send, told: Mapping[str, str]) -> Send:
    async def telling(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(told)
        await send(message)

    return telling
