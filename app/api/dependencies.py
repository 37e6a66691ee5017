"""Type aliases for parameters of routes, and response entries that routes share."""

from typing import Annotated, Any

from fastapi import Depends, Header, Path, Request
from starlette.exceptions import HTTPException

from topoloom.app.api.request_dispatcher import context_of
from topoloom.app.jobs.worker_pool.task import parsed_json
from topoloom.app.requests.document_ids import IdPrefix
from topoloom.app.requests.options import listing, sweeps_and_jobs
from topoloom.app.requests.options.listing import FieldPaths
from topoloom.app.services.context import Context

HeaderDep = Annotated[str | None, Header(include_in_schema=False)]


async def _context(request: Request) -> Context:
    return context_of(request)


def require_json(request: Request) -> None:
    """Raise 415 unless the body is sent as JSON."""
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != "application/json":
        raise HTTPException(415, "body: must be sent as application/json")


async def _require_unique_names(request: Request) -> None:
    """Refuse a body that names a member twice: FastAPI takes the last one."""
    require_json(request)
    if body := await request.body():
        parsed_json(body)


ContextDep = Annotated[Context, Depends(_context)]
JsonBody = Depends(_require_unique_names)
IdDep = Annotated[
    IdPrefix, Path(description="id of the document, or its first 6 or more characters")
]
LimitDep = Annotated[int, sweeps_and_jobs.LIMIT.query()]
CursorDep = Annotated[str | None, sweeps_and_jobs.CURSOR.query(max_length=200)]
FieldsDep = Annotated[FieldPaths | None, listing.FIELDS.query()]
IfNoneMatchDep = HeaderDep
AcceptDep = HeaderDep

CREATED: dict[int | str, dict[str, Any]] = {
    200: {"description": "the answer was stored before; `Location` is its path"},
    201: {"description": "the service computed the answer; `Location` is its path"},
}
