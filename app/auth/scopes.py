"""Scopes of API keys: four scopes; every route states one."""

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias, cast

from fastapi import Request, Security, params
from fastapi.security import SecurityScopes
from starlette.routing import BaseRoute

from topoloom.app.auth.errors import Forbidden

Scope: TypeAlias = Literal["read", "design", "plan", "admin"]

MEANINGS: dict[Scope, str] = {
    "read": "read what is stored and known, and the metrics",
    "design": "have designs, topologies, costs, optima, schedules and simulations computed, "
    "and what read may",
    "plan": "have patch plans computed, and what read may",
    "admin": "manage keys, read, change and delete what every owner stored, and all that the "
    "others may",
}
"""Scope -> meaning, in the order of the documentation."""

_REACH: dict[Scope, frozenset[Scope]] = {
    "read": frozenset({"read"}),
    "design": frozenset({"read", "design"}),
    "plan": frozenset({"read", "plan"}),
    "admin": frozenset(MEANINGS),
}

OPEN_PATHS = frozenset(
    {"/healthz", "/readyz", "/version", "/openapi.json", "/docs", "/docs/oauth2-redirect", "/redoc"}
    | {"/deprecations", "/"}
)
"""Paths that need no key: probes, the version, the documentation, and the page."""

_OPEN_FOLDERS = ("/static-offline-docs/", "/problems/", "/page/", "/documentation/")


def is_open(path: str) -> bool:
    """Return whether a path needs no key.

    >>> is_open("/healthz"), is_open("/healthz/"), is_open("/v1/designs")
    (True, False, False)
    """
    return path in OPEN_PATHS or path.startswith(_OPEN_FOLDERS)


def reach(scopes: frozenset[Scope]) -> frozenset[Scope]:
    """Return these scopes and the scopes that they include.

    >>> sorted(reach(frozenset({"plan", "design"})))
    ['design', 'plan', 'read']
    """
    return frozenset().union(*(_REACH[scope] for scope in scopes))


def everything() -> frozenset[Scope]:
    """Return every scope: the scopes of a caller of an open service."""
    return _REACH["admin"]


async def _permitted(request: Request, required: SecurityScopes) -> None:
    _require(request, required.scopes)


def require(request: Request, stated: params.Security) -> None:
    """Raise `Forbidden` unless the caller has the scope that a dependency of `needs` states.

    For work of a route beyond its own scope, or outside of FastAPI's dependencies.
    """
    _require(request, stated.scopes or ())


def _require(request: Request, scopes: Iterable[str]) -> None:
    allowed = request.state.access.scopes
    for scope in scopes:
        if scope not in allowed:
            raise Forbidden(cast("Scope", scope))


def needs(scope: Scope) -> Any:
    """Return the dependency that states the scope of a route, for the decorator of the route.

    Asynchronous, so that the check takes no thread.  `app.auth.middleware` identifies the caller
    before the body is read.
    """
    return Security(_permitted, scopes=[scope])


READ, DESIGN, PLAN, ADMIN = needs("read"), needs("design"), needs("plan"), needs("admin")


def scope_of(route: BaseRoute) -> Scope | None:
    """Return the scope that a route states; None for no scope, or several."""
    stated = [
        scope
        for dependency in getattr(route, "dependencies", ())
        if isinstance(dependency, params.Security) and dependency.dependency is _permitted
        for scope in dependency.scopes or ()
    ]
    return cast("Scope", stated[0]) if len(stated) == 1 else None
