"""HTTP rules of every path: HEAD beside GET, a complete Allow, no unknown query parameters."""

from collections.abc import Iterator, Sequence

from fastapi import APIRouter, Depends, Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class AnswerHead:
    """ASGI middleware that answers HEAD as GET without the body."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; remove the body of the answer to a HEAD."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return

        async def bare(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        # The same scope object: outer middleware reads the route from it.
        scope["method"] = "GET"
        await self.app(scope, receive, bare)


def allowed_methods(request: Request) -> list[str]:
    """Return the methods of all routes on the path of a request, sorted."""
    routes: list[BaseRoute] = request.app.state.routes
    found = {method for route in routes for method in _methods(route, request.scope)}
    return sorted(found | ({"HEAD"} if "GET" in found else set()))


def _methods(route: BaseRoute, scope: Scope) -> Iterator[str]:
    if route.matches(scope)[0] is not Match.NONE:
        yield from getattr(route, "methods", None) or ()


def strict_router(
    prefix: str = "", *, tags: Sequence[str], route_class: type[APIRoute] = APIRoute
) -> APIRouter:
    """Return a router whose routes refuse unknown query parameters.

    The dependency belongs to the router, because the application takes its routes unchanged.
    A dependency of the application would build each route a second time, a fifth of a second for
    all routes.  Every request would then search one router after another.
    """
    refusing = [Depends(refuse_unknown_query)]
    return APIRouter(prefix=prefix, tags=[*tags], route_class=route_class, dependencies=refusing)


async def refuse_unknown_query(request: Request) -> None:
    """Raise an error if the route does not have a query parameter of the request.

    Asynchronous, because FastAPI runs synchronous dependencies in a thread.

    Raises
    ------
    RequestValidationError
        With an entry for each unknown parameter.
    """
    route = request.scope.get("route")
    if not isinstance(route, APIRoute) or not request.query_params:
        return
    known = set(_query_names(route.dependant))
    unknown = dict.fromkeys(name for name in request.query_params if name not in known)
    if unknown:
        shown = ", ".join(sorted(known)) or "none"
        raise RequestValidationError(
            [
                {
                    "type": "unknown_query",
                    "loc": ("query", name),
                    "msg": f"must be a query parameter of this path: {shown}",
                    "input": None,
                }
                for name in unknown
            ]
        )


def _query_names(dependant: Dependant) -> Iterator[str]:
    """Yield the query parameters of a route and of its dependencies."""
    for field in dependant.query_params:
        yield field.alias
    for below in dependant.dependencies:
        yield from _query_names(below)
