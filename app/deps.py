"""What routes need, as type aliases, and the shapes that all of them answer in."""

import gzip
import hashlib
from collections.abc import Awaitable, Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from app.accepting import (
    ACCEPTED,
    Waits,
    answered_or_promised,
    heard,
    unread_or_promised,
)
from app.access.scopes import DESIGN, READ, require
from app.documents import export, listing
from app.identity import IdPrefix
from app.known_requests import ListRequest
from app.logs import note
from app.manners import refuse_unknown_query
from app.negotiation import accepts_gzip, entity_tag, is_current
from app.options import known, pages
from app.options.known import FieldPaths
from app.picking import check_paths, picked
from app.problems import responses
from app.queries import asked_by_query
from app.questions import ExportQuestion, PartQuestion
from app.services.context import Context
from app.services.parts import part_of
from app.store import Artefact
from app.turns import answered, presented
from app.work.operations import EXPORT, PART
from app.work.task import B, Operation
from schedules.errors import ScheduleError

__all__ = [
    "CREATED",
    "AcceptDep",
    "ContextDep",
    "CursorDep",
    "FieldsDep",
    "IdDep",
    "IfNoneMatchDep",
    "JsonBody",
    "LimitDep",
    "WorkRoute",
    "create_route",
    "created",
    "created_summary",
    "list_route",
    "representation",
]

HeaderDep = Annotated[str | None, Header(include_in_schema=False)]


async def _context(request: Request) -> Context:
    return request.app.state.context


async def require_json(content_type: HeaderDep = None) -> None:
    """Raise unless the body is sent as JSON."""
    media = (content_type or "").partition(";")[0].strip().lower()
    if media != "application/json":
        raise HTTPException(415, "body: must be sent as application/json")


ContextDep = Annotated[Context, Depends(_context)]
JsonBody = Depends(require_json)
IdDep = Annotated[
    IdPrefix, Path(description="id that a POST gave, or the first 6 or more characters of it")
]
LimitDep = Annotated[int, pages.LIMIT.query()]
CursorDep = Annotated[str | None, pages.CURSOR.query(max_length=200)]
_LISTED = (pages.LIMIT, pages.CURSOR, known.SORT, *known.FILTERS, known.FIELDS)
ListDep = Annotated[ListRequest, Depends(asked_by_query(ListRequest, *_LISTED))]
FieldsDep = Annotated[FieldPaths | None, known.FIELDS.query()]
IfNoneMatchDep = HeaderDep
AcceptDep = HeaderDep

IMMUTABLE = "public, max-age=31536000, immutable"
"""Of a document by its whole id; a beginning of one may mean several tomorrow."""

READ_HERE = 64 * 2**10
"""Largest body, in bytes, that is parsed on the event loop: some milliseconds."""

UNPACKED_AT_ONCE = 64 * 2**10
"""Largest packed document, in bytes, that is unpacked on the event loop: some milliseconds."""

CREATED: dict[int | str, dict[str, Any]] = {
    200: {"description": "the answer was stored already"},
    201: {"description": "computed just now; `Location` is where it can be read"},
}


class WorkRoute(APIRoute):
    """A route whose large bodies are read where the work is done, in another process.

    Reading JSON and checking it hold the interpreter: nobody else would be answered meanwhile.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request."""
        usual = super().get_route_handler()
        unread = getattr(self.endpoint, "unread", None)
        if unread is None:
            return usual

        async def handler(request: Request) -> Response:
            small = len(await request.body()) <= READ_HERE
            return await (usual if small else unread)(request)

        return handler


def list_route(router: APIRouter, kind: str, operation_id: str, plural: str) -> None:
    """Add the route that lists the stored documents of a kind."""
    page = {"model": listing.PAGES[kind], "description": "a page of the list"}

    @router.get(
        "",
        operation_id=operation_id,
        summary=f"List stored {plural}, newest first unless asked otherwise",
        description=f"Return one page of {plural}; with `fields` entries have these members only.",
        dependencies=[READ],
        response_model=None,
        responses={200: page, **responses(422, 503)},
    )
    def list_documents(request: Request, asked: ListDep) -> JSONResponse:
        paths = asked.fields and check_paths(asked.fields, listing.entry_model(kind))
        found = request.app.state.store.page(kind, asked.limit, asked.cursor, asked.wanted)
        document = listing.of(*found)
        if paths:
            document["items"] = picked(document["items"], paths)
        return JSONResponse(document)


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
    shown: "Callable[[Request, Artefact], Awaitable[Response]] | None" = None,
) -> None:
    """Add the route that answers a POST: looked up, else computed in a process of its own.

    ``shown`` is how the answer is sent; left out, the document itself.  ``scope`` is what a key
    must allow.
    """
    respond = shown or created

    async def _shown(request: Request, found: Artefact | Response) -> Response:
        answer = await respond(request, found) if isinstance(found, Artefact) else found
        return heard(request, answer)

    async def create(request: Request, body: Any) -> Response:
        return await _shown(request, await answered_or_promised(request, operation, body))

    async def create_unread(request: Request) -> Response:
        require(request, scope)
        await require_json(request.headers.get("content-type"))
        await refuse_unknown_query(request)
        body = await request.body()
        return await _shown(request, await unread_or_promised(request, operation, body))

    create.__annotations__["body"] = operation.body
    create.unread = create_unread  # pyright: ignore[reportFunctionMemberAccess]
    router.add_api_route(
        path,
        create,
        methods=["POST"],
        operation_id=operation_id,
        summary=summary,
        description=description,
        dependencies=[JsonBody, Waits, scope],
        response_model=None,
        responses={**ACCEPTED, **responses},
    )


async def created(
    request: Request, artefact: Artefact, exported: ExportQuestion | None = None
) -> Response:
    """Return the answer to a POST: 201 when computed just now, 200 when known.

    ``exported`` asks for the document in another format than it is stored in.
    """
    fresh, headers = artefact.fresh, _place(request, artefact)
    if exported is not None:
        artefact = await answered(request, EXPORT, exported)
    packed = accepts_gzip(request.headers.get("accept-encoding"))
    headers["Vary"] = "Accept-Encoding"
    return _stored(artefact, "application/json", headers, packed, 201 if fresh else 200)


async def created_summary(request: Request, artefact: Artefact) -> Response:
    """Return the same of a document too large to be sent unasked: what lists say of it."""
    headers = _place(request, artefact)
    return JSONResponse(artefact.summary, 201 if artefact.fresh else 200, headers)


def _place(request: Request, artefact: Artefact) -> dict[str, str]:
    _handed_out(request, artefact)
    return {"Location": f"{request.url.path}/{artefact.id}"}


def _handed_out(request: Request, artefact: Artefact) -> None:
    source = "computed" if artefact.fresh else "cache"
    request.app.state.metrics.answered(artefact.kind, source)
    note(document=artefact.id)


async def representation(
    request: Request,
    artefact: Artefact,
    form: str,
    media_type: str,
    if_none_match: str | None,
    exported: ExportQuestion | None = None,
    *,
    fields: str | None = None,
    model: Any = None,
) -> Response:
    """Return the answer to a GET of a document; 304 when the client has it already.

    ``exported`` asks for the document in its ``form``; left out, it is the JSON as it is stored.
    What is stored is sent as it lies there where the client takes gzip.  ``fields`` are the
    members that are wanted of a JSON document, those that its ``model`` has.
    """
    _handed_out(request, artefact)
    paths = None if fields is None else _paths(form, fields, model)
    packed = paths is None and accepts_gzip(request.headers.get("accept-encoding"))
    variant = form if exported is None else exported.variant
    if paths is not None:
        variant += f"-{hashlib.sha256(','.join(paths).encode()).hexdigest()[:16]}"
    tag = entity_tag(artefact.digest, f"{variant}-gzip" if packed else variant)
    headers = {
        "ETag": tag,
        "Vary": "Accept, Accept-Encoding",
        "Cache-Control": IMMUTABLE if request.url.path.endswith(f"/{artefact.id}") else "no-cache",
    }
    if is_current(if_none_match, tag):
        return Response(status_code=304, headers=headers)
    if exported is not None:
        artefact = await answered(request, EXPORT, exported)
    if paths is not None:
        return JSONResponse(await _part(request, artefact, paths), headers=headers)
    return _stored(artefact, media_type, headers, packed)


def _stored(
    artefact: Artefact, media_type: str, headers: dict[str, str], packed: bool, status: int = 200
) -> Response:
    """Return stored bytes: as they are, or unpacked piece by piece where they are large."""
    if not export.is_packed(artefact.media_type):
        return Response(artefact.content, status, headers, media_type)
    if packed:
        headers["Content-Encoding"] = "gzip"
        return Response(artefact.content, status, headers, media_type)
    if len(artefact.content) <= UNPACKED_AT_ONCE:
        return Response(gzip.decompress(artefact.content), status, headers, media_type)
    return StreamingResponse(export.unpacked(artefact), status, headers, media_type)


def _paths(form: str, fields: str, model: Any) -> list[str]:
    """Return the members that are wanted of a document."""
    if form != "json":
        raise ScheduleError("/fields", "must be left out in other formats than json")
    return check_paths(fields, model)


async def _part(request: Request, artefact: Artefact, paths: list[str]) -> Any:
    """Return some members of a document; a large one is read by a worker."""
    if len(artefact.content) <= UNPACKED_AT_ONCE:
        return part_of(artefact, paths)
    question = PartQuestion(kind=artefact.kind, id=artefact.id, paths=paths)
    return dict(await presented(request, PART, question))
