"""What routes need, as type aliases, and the shapes that all of them answer in."""

from collections.abc import Callable, Iterable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.exceptions import HTTPException

from app.documents import listing
from app.identity import IdPrefix
from app.negotiation import accepts_gzip, entity_tag, is_current
from app.options import table
from app.problems import responses
from app.services.context import Context
from app.store import Artefact

__all__ = [
    "CREATED",
    "AcceptDep",
    "ContextDep",
    "CursorDep",
    "IdDep",
    "IfNoneMatchDep",
    "JsonBody",
    "LimitDep",
    "created",
    "list_route",
    "representation",
]

HeaderDep = Annotated[str | None, Header(include_in_schema=False)]


def _context(request: Request) -> Context:
    return request.app.state.context


def _require_json(content_type: HeaderDep = None) -> None:
    media = (content_type or "").partition(";")[0].strip().lower()
    if media != "application/json":
        raise HTTPException(415, "body: must be sent as application/json")


ContextDep = Annotated[Context, Depends(_context)]
JsonBody = Depends(_require_json)
IdDep = Annotated[
    IdPrefix, Path(description="id that a POST gave, or the first 6 or more characters of it")
]
LimitDep = Annotated[int, table.LIMIT.query()]
CursorDep = Annotated[str | None, table.CURSOR.query(max_length=200)]
IfNoneMatchDep = HeaderDep
AcceptDep = HeaderDep

IMMUTABLE = "public, max-age=31536000, immutable"
"""Of a document by its whole id; a beginning of one may mean several tomorrow."""

CREATED: dict[int | str, dict[str, Any]] = {
    200: {"description": "the answer was stored already"},
    201: {"description": "computed just now; `Location` is where it can be read"},
}


def list_route(router: APIRouter, kind: str, operation_id: str, plural: str) -> None:
    """Add the route that lists the stored documents of a kind."""
    page = {"model": listing.PAGES[kind], "description": "a page of the list"}

    @router.get(
        "",
        operation_id=operation_id,
        summary=f"List stored {plural}, newest first",
        description=f"Return one page of {plural}.",
        response_model=None,
        responses={200: page, **responses(422, 503)},
    )
    def list_documents(
        context: ContextDep, limit: LimitDep = table.LIMIT.default, cursor: CursorDep = None
    ) -> JSONResponse:
        return JSONResponse(listing.of(*context.store.page(kind, limit, cursor)))


def created(
    request: Request, artefact: Artefact, body: str, *, fresh: bool | None = None
) -> Response:
    """Return the answer to a POST: 201 when computed just now, 200 when known.

    ``fresh`` says so of an answer that a job made for this request.
    """
    fresh = artefact.fresh if fresh is None else fresh
    source = "computed" if fresh else "cache"
    request.app.state.metrics.count("topoloom_answers_total", kind=artefact.kind, source=source)
    return Response(
        body,
        status_code=201 if fresh else 200,
        media_type="application/json",
        headers={"Location": f"{request.url.path}/{artefact.id}"},
    )


def representation(
    request: Request,
    artefact: Artefact,
    form: str,
    media_type: str,
    if_none_match: str | None,
    render: Callable[[], str | bytes | Iterable[str]] | None = None,
) -> Response:
    """Return the answer to a GET of a document; 304 when the client has it already.

    ``render`` gives the document in its ``form``; left out, it is the JSON as it is stored,
    sent as it lies there where the client takes gzip.
    """
    packed = render is None and accepts_gzip(request.headers.get("accept-encoding"))
    tag = entity_tag(artefact.digest, f"{form}-gzip" if packed else form)
    headers = {
        "ETag": tag,
        "Vary": "Accept, Accept-Encoding",
        "Cache-Control": IMMUTABLE if request.url.path.endswith(f"/{artefact.id}") else "no-cache",
    }
    if is_current(if_none_match, tag):
        return Response(status_code=304, headers=headers)
    if packed:
        headers["Content-Encoding"] = "gzip"
        return Response(artefact.content, media_type=media_type, headers=headers)
    content = artefact.text() if render is None else render()
    if isinstance(content, str | bytes):
        return Response(content, media_type=media_type, headers=headers)
    return StreamingResponse(content, media_type=media_type, headers=headers)
