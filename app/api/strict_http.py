"""HTTP rules of every path: HEAD beside GET, a complete Allow, strict query parameters."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import get_args, get_origin

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
    """Raise an error if the query has an unknown parameter, or repeats one that is not a list.

    Asynchronous, because FastAPI runs synchronous dependencies in a thread.

    Raises:
        RequestValidationError: With an entry for each such parameter.
    """
    route = request.scope.get("route")
    if not isinstance(route, APIRoute) or not request.query_params:
        return
    known = dict(_query_parameters(route.dependant))
    shown = ", ".join(sorted(known)) or "none"
    sent = Counter(name for name, _ in request.query_params.multi_items())
    broken = {
        name: f"must be a query parameter of this path: {shown}"
        for name in sent
        if name not in known
    } | {
        name: "must be sent once"
        for name, times in sent.items()
        if times > 1 and not known.get(name, True)
    }
    if broken:
        raise RequestValidationError(
            [
                {"type": "query_parameter", "loc": ("query", name), "msg": rule, "input": None}
                for name, rule in broken.items()
            ]
        )


def _query_parameters(dependant: Dependant) -> Iterator[tuple[str, bool]]:
    """Yield the query parameters of a route and its dependencies, and whether they are lists."""
    for field in dependant.query_params:
        annotation = field.field_info.annotation
        types = (annotation, *get_args(annotation))
        yield field.alias, any((get_origin(one) or one) is list for one in types)
    for below in dependant.dependencies:
        yield from _query_parameters(below)
