"""What HTTP expects of every path: HEAD beside GET, a true Allow, no query that means nothing."""

from collections.abc import Iterator, Sequence

from fastapi import APIRouter, Depends, Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class AnswerHead:
    """ASGI middleware: HEAD is answered as GET is, without the body."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; of the answer to a HEAD, only status and headers."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return

        async def bare(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        # The same scope: whoever is further out reads there which route it was.
        scope["method"] = "GET"
        await self.app(scope, receive, bare)


def allowed_methods(request: Request) -> list[str]:
    """Return every method that some route takes on the path of a request, sorted."""
    routes: list[BaseRoute] = request.app.state.routes
    found = {method for route in routes for method in _methods(route, request.scope)}
    return sorted(found | ({"HEAD"} if "GET" in found else set()))


def _methods(route: BaseRoute, scope: Scope) -> Iterator[str]:
    if route.matches(scope)[0] is not Match.NONE:
        yield from getattr(route, "methods", None) or ()


def strict_router(
    prefix: str = "", *, tags: Sequence[str], route_class: type[APIRoute] = APIRoute
) -> APIRouter:
    """Return a router whose routes refuse query parameters that they do not have.

    It says so itself, for the application takes its routes as they are: dependencies of the
    application would build each route a second time, a fifth of a second for all, and every
    request would look for its route through one router after another.
    """
    refusing = [Depends(refuse_unknown_query)]
    return APIRouter(prefix=prefix, tags=[*tags], route_class=route_class, dependencies=refusing)


async def refuse_unknown_query(request: Request) -> None:
    """Raise for a query parameter that the route does not have: a misspelt one does nothing.

    Asynchronous as all that every request passes: FastAPI runs plain functions in a thread.

    Raises
    ------
    RequestValidationError
        Naming each of them.
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
    """Yield the query parameters of a route and of all that it depends on."""
    for field in dependant.query_params:
        yield field.alias
    for below in dependant.dependencies:
        yield from _query_names(below)
