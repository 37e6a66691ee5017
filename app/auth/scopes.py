"""What a key may do: four scopes, of which every route states one."""

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
    "admin": "change and delete what is stored, and all that the others may",
}
"""Scope -> what it is for; the order is that of documentation."""

_REACH: dict[Scope, frozenset[Scope]] = {
    "read": frozenset({"read"}),
    "design": frozenset({"read", "design"}),
    "plan": frozenset({"read", "plan"}),
    "admin": frozenset(MEANINGS),
}

OPEN_PATHS = frozenset(
    {"/healthz", "/readyz", "/version", "/openapi.json", "/docs", "/docs/oauth2-redirect", "/redoc"}
)
"""What anybody may ask: probes, the version, and the documentation."""

_OPEN_FOLDER = "/static-offline-docs/"


def is_open(path: str) -> bool:
    """Tell whether a path is answered without a key.

    >>> is_open("/healthz"), is_open("/healthz/"), is_open("/v1/designs")
    (True, False, False)
    """
    return path in OPEN_PATHS or path.startswith(_OPEN_FOLDER)


def reach(scopes: frozenset[Scope]) -> frozenset[Scope]:
    """Return all that these scopes allow.

    >>> sorted(reach(frozenset({"plan", "design"})))
    ['design', 'plan', 'read']
    """
    return frozenset().union(*(_REACH[scope] for scope in scopes))


def everything() -> frozenset[Scope]:
    """Return every scope: what whoever may ask an open service has."""
    return _REACH["admin"]


async def _permitted(request: Request, required: SecurityScopes) -> None:
    _require(request, required.scopes)


def require(request: Request, stated: params.Security) -> None:
    """Raise `Forbidden` unless whoever asks may do what a dependency of `needs` states.

    For what a route does beyond its own scope, or beside FastAPI's dependencies.
    """
    _require(request, stated.scopes or ())


def _require(request: Request, scopes: Iterable[str]) -> None:
    allowed = request.state.access.scopes
    for scope in scopes:
        if scope not in allowed:
            raise Forbidden(cast("Scope", scope))


def needs(scope: Scope) -> Any:
    """Return the dependency by which a route states its scope; to be named in its decorator.

    Asynchronous, so that it takes no thread.  Whoever asks was told from strangers before
    the body was read (`app.auth.middleware`).
    """
    return Security(_permitted, scopes=[scope])


READ, DESIGN, PLAN, ADMIN = needs("read"), needs("design"), needs("plan"), needs("admin")


def scope_of(route: BaseRoute) -> Scope | None:
    """Return the scope that a route states; None if it states none, or several."""
    stated = [
        scope
        for dependency in getattr(route, "dependencies", ())
        if isinstance(dependency, params.Security) and dependency.dependency is _permitted
        for scope in dependency.scopes or ()
    ]
    return cast("Scope", stated[0]) if len(stated) == 1 else None
