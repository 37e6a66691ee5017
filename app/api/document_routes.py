"""Routes that all kinds of documents share: create, list, read.

Plain requests (no query, JSON) skip FastAPI's parameters.  FastAPI validates every declared query
parameter and header of each request: with that, a cached POST takes 1.24 times the CPU time of
this path, and a cached GET 1.27 times (FastAPI 0.165, one process).  All other requests, and those
that break a rule, go through FastAPI and get the same answer.
"""

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute

from topoloom.app.api.async_reply import ACCEPTED, Waits, with_preference
from topoloom.app.api.dependencies import (
    AcceptDep,
    FieldsDep,
    IdDep,
    IfNoneMatchDep,
    JsonBody,
    require_json,
)
from topoloom.app.api.negotiation import files_described, negotiate
from topoloom.app.api.pages import CountDep, page_answer
from topoloom.app.api.problems import responses
from topoloom.app.api.query_parameters import asked_by_query
from topoloom.app.api.request_dispatcher import (
    answered_or_accepted,
    context_of,
    document,
    unparsed_or_accepted,
)
from topoloom.app.api.responses import created_response, representation
from topoloom.app.api.responses import summary as summary_of
from topoloom.app.api.strict_http import refuse_unknown_query
from topoloom.app.auth.scopes import DESIGN, READ, require
from topoloom.app.documents import listing
from topoloom.app.documents.sparse_fields import check_paths, select_fields
from topoloom.app.jobs.worker_pool.task import parse_request
from topoloom.app.requests.document_ids import is_id
from topoloom.app.requests.listing import ListRequest
from topoloom.app.requests.options import listing as known
from topoloom.app.requests.options import sweeps_and_jobs
from topoloom.app.requests.schedules import ExportRequest
from topoloom.app.requests.stored_documents import ExportQuestion
from topoloom.app.services.exports import require_available
from topoloom.app.services.operations import B, Operation
from topoloom.app.store.artifacts import Artefact

E = TypeVar("E", bound=Callable[..., Any])

JSON = "application/json"

ANY_JSON = (None, "*/*", JSON, f"{JSON}, */*")
"""Accept headers that mean JSON without negotiation; most programs send one of these."""

READ_HERE = 64 * 2**10
"""Largest body, in bytes, that is parsed on the event loop: some milliseconds."""

TRACES_HERE = 4 * 2**10
"""The same where a body may have traces, which take up to 5 us a byte: at most 20 ms."""

_LISTED = (sweeps_and_jobs.LIMIT, sweeps_and_jobs.CURSOR, known.SORT, *known.FILTERS, known.FIELDS)
ListDep = Annotated[ListRequest, Depends(asked_by_query(ListRequest, *_LISTED))]


class WorkRoute(APIRoute):
    """A route that answers plain requests itself and leaves large bodies to workers.

    ``endpoint.plain`` answers a request without a query, or returns None to pass the request to
    FastAPI.  ``endpoint.unread`` takes a body above ``endpoint.read_here`` bytes, mostly to a
    worker process: parsing 11 MiB of JSON on the event loop delays other requests by 0.4 to 1.8 s,
    in a worker by 0.1 to 0.2 s.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of requests to this route."""
        usual = super().get_route_handler()
        plain = getattr(self.endpoint, "plain", None)
        unread = getattr(self.endpoint, "unread", None)
        read_here = getattr(self.endpoint, "read_here", 0)

        async def handler(request: Request) -> Response:
            if unread is not None and len(await request.body()) > read_here:
                return await unread(request)
            if plain is not None and not request.scope["query_string"]:
                answer = await plain(request)
                if answer is not None:
                    return answer
            return await usual(request)

        return handler


def plainly(kind: str) -> Callable[[E], E]:
    """Make a route that reads documents of this kind answer plain requests directly."""

    async def read(request: Request) -> Response | None:
        identity = request.path_params["id"]
        if request.headers.get("accept") not in ANY_JSON or not is_id(identity):
            return None
        require(request, READ)
        artefact = await document(request, kind, identity)
        known_tag = request.headers.get("if-none-match")
        return await representation(request, artefact, "json", JSON, known_tag)

    def marked(endpoint: E) -> E:
        endpoint.plain = read  # pyright: ignore[reportFunctionMemberAccess]
        return endpoint

    return marked


async def _none() -> None:
    return None


async def _no_options() -> ExportRequest:
    return ExportRequest()


def read_route(
    router: APIRouter,
    kind: Any,
    *,
    operation_id: str,
    summary: str,
    model: Any,
    description: str,
    formats: Mapping[str, str] = MappingProxyType({"json": JSON}),
    names: Any = None,
    options: Any = None,
    shown: Any = None,
    is_exported: bool = False,
) -> None:
    """Add the GET route of the documents of a kind.

    Args:
        model: The JSON document, for OpenAPI and for `fields`.
        formats: Format -> media type; the first format is the default.
        names: The values of the query parameter ``format``; None for kinds with one format.
        options: The dependency that reads the options of a format from the query, if there are any.
        shown: What OpenAPI shows instead of the model.
        is_exported: Whether the JSON document is an export, too: the store has another form.
    """
    described = "representation; overrides the `Accept` header"
    query = Query(alias="format", description=described)
    form_type = Annotated[names | None, query] if names else Annotated[None, Depends(_none)]
    options_type = options or Annotated[ExportRequest, Depends(_no_options)]

    async def read(
        request: Request,
        id: IdDep,
        options: Any,
        form: Any = None,
        fields: FieldsDep = None,
        accept: AcceptDep = None,
        if_none_match: IfNoneMatchDep = None,
    ) -> Response:
        artefact = await document(request, kind, id)
        if form == "summary":
            return summary_of(request, artefact, if_none_match, fields)
        chosen, exported = negotiate(form, accept if names else None, formats), None
        if names:
            require_available(kind, chosen, options)
        if is_exported or chosen != "json":
            exported = ExportQuestion(kind=kind, id=artefact.id, format=chosen, options=options)
        media = formats[chosen]
        return await representation(
            request, artefact, chosen, media, if_none_match, exported, fields=fields, model=model
        )

    read.__annotations__ |= {"options": options_type, "form": form_type}
    answer = {"model": shown or model, "description": description}
    if names:
        answer["content"] = files_described(formats.values())
    refusals = responses(404, 406, 422, 503) if names else responses(404, 422, 503)
    router.add_api_route(
        "/{id}",
        read if is_exported else plainly(kind)(read),
        methods=["GET"],
        operation_id=operation_id,
        summary=summary,
        description=f"Return {description}.",
        dependencies=[READ],
        response_model=None,
        responses={200: answer, **refusals},
    )


def reads_here(most: int, unread: Callable[[Request], Awaitable[Response]]) -> Callable[[E], E]:
    """Make a route pass bodies above ``most`` bytes unparsed to another function."""

    def marked(endpoint: E) -> E:
        endpoint.unread, endpoint.read_here = unread, most  # pyright: ignore[reportFunctionMemberAccess]
        return endpoint

    return marked


def list_route(router: APIRouter, kind: str, operation_id: str, plural: str) -> None:
    """Add the route that lists the stored documents of a kind."""
    page = {"model": listing.PAGES[kind], "description": "a page of the list"}

    @router.get(
        "",
        operation_id=operation_id,
        summary=f"List stored {plural}, newest first by default",
        description=f"Return one page of {plural}; with `fields` entries have these members only.",
        dependencies=[READ],
        response_model=None,
        responses={200: page, **responses(422, 503)},
    )
    def list_documents(request: Request, asked: ListDep, count: CountDep = False) -> JSONResponse:
        paths = asked.fields and check_paths(asked.fields, listing.entry_model(kind))
        store = context_of(request).whole_store
        found = store.page(kind, asked.limit, asked.cursor, asked.wanted)
        document = listing.of(*found)
        if paths:
            document["items"] = select_fields(document["items"], paths)
        return page_answer(request, document, count, partial(store.total, kind, asked.wanted))


def create_route(
    router: APIRouter,
    operation: Operation[B],
    *,
    operation_id: str,
    summary: str,
    description: str,
    responses: dict[int | str, dict[str, Any]],
    scope: Any = DESIGN,
    path: str = "",
    shown: Callable[[Request, Artefact], Awaitable[Response]] | None = None,
    response_class: type[Response] = JSONResponse,
    read_here: int = READ_HERE,
) -> None:
    """Add the POST route of an operation: look up the answer, else compute it in a worker.

    ``shown`` builds the response; the default is the document.  ``scope`` is the scope that a key
    needs, ``read_here`` the largest body that the event loop parses.
    """
    respond = shown or created_response

    async def _shown(request: Request, found: Artefact | Response) -> Response:
        answer = await respond(request, found) if isinstance(found, Artefact) else found
        return with_preference(request, answer) if "prefer" in request.headers else answer

    async def create(request: Request, body: Any) -> Response:
        return await _shown(request, await answered_or_accepted(request, operation, body))

    async def create_plain(request: Request) -> Response | None:
        if request.headers.get("content-type") != JSON:
            return None
        require(request, scope)
        try:
            body = parse_request(operation.body, await request.body())
        except RequestValidationError:
            return None
        return await create(request, body)

    async def create_unread(request: Request) -> Response:
        require(request, scope)
        require_json(request)
        await refuse_unknown_query(request)
        body = await request.body()
        return await _shown(request, await unparsed_or_accepted(request, operation, body))

    create.__annotations__["body"] = operation.body
    create.plain = create_plain  # pyright: ignore[reportFunctionMemberAccess]
    reads_here(read_here, create_unread)(create)
    router.add_api_route(
        path,
        create,
        methods=["POST"],
        operation_id=operation_id,
        summary=summary,
        description=description,
        dependencies=[JsonBody, Waits, scope],
        response_model=None,
        response_class=response_class,
        responses={**ACCEPTED, **responses},
    )
