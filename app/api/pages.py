"""Pages of lists: links to the first and the next page (RFC 8288), and the total on demand."""

from collections.abc import Callable
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import JSONResponse

from topoloom.app.requests.options import sweeps_and_jobs

CountDep = Annotated[bool, sweeps_and_jobs.COUNT.query()]


def page_answer(
    request: Request, page: dict[str, Any], count: bool, total: Callable[[], int]
) -> JSONResponse:
    """Return the answer with a page; ``total`` counts the entries of all pages, if asked."""
    if count:
        page["total"] = total()
    kept = [(name, value) for name, value in request.query_params.multi_items() if name != "cursor"]
    links = [_link(request, kept, "first")]
    if page["next_cursor"] is not None:
        links.append(_link(request, [*kept, ("cursor", page["next_cursor"])], "next"))
    return JSONResponse(page, headers={"Link": ", ".join(links)})


def _link(request: Request, query: list[tuple[str, str]], relation: str) -> str:
    # A relative reference stays right behind a proxy.
    suffix = f"?{urlencode(query)}" if query else ""
    return f'<{request.scope["path"]}{suffix}>; rel="{relation}"'
