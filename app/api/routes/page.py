"""``/``, the page of the service for browsers, its static files, and the documentation.

All are open: they hold no data.  The page sends the key of its user with each request to ``/v1``.
"""

from typing import Annotated

from fastapi import Header, HTTPException, Path, Request, Response

from topoloom.app.api.dependencies import AcceptDep
from topoloom.app.api.negotiation import entity_tag, is_current
from topoloom.app.api.responses import IMMUTABLE, accepts_gzip
from topoloom.app.api.strict_http import strict_router
from topoloom.app.web import documentation
from topoloom.app.web.assets import SHELL, Asset, assets, document, version

router = strict_router(tags=["page"])

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Content-Security-Policy of the page: only files of the service, and no inline code."""

_REVALIDATED = {"Cache-Control": "no-cache"}
_GUARDED = {"Content-Security-Policy": POLICY}

FolderDep = Annotated[str, Path(max_length=64)]
NameDep = Annotated[str, Path(max_length=64)]
DocumentDep = Annotated[str, Path(max_length=128)]
NoneMatchDep = Annotated[str | None, Header()]


@router.get("/", include_in_schema=False)
async def read_page(
    request: Request, accept: AcceptDep = None, if_none_match: NoneMatchDep = None
) -> Response:
    """Return the page to a browser; other clients get 404, as at every path that has no data."""
    if "text/html" not in (accept or "").lower():
        raise HTTPException(404)
    return _sent(request, assets()[SHELL], _REVALIDATED | _GUARDED, if_none_match)


@router.get("/page/{folder}/{name}", include_in_schema=False)
async def read_file(
    request: Request, folder: FolderDep, name: NameDep, if_none_match: NoneMatchDep = None
) -> Response:
    """Return a static file of the page; 404 for files of another version."""
    if folder != version() or name.endswith(".html") or name not in assets():
        raise HTTPException(404)
    return _sent(request, assets()[name], {"Cache-Control": IMMUTABLE}, if_none_match)


@router.get("/documentation/{name:path}", include_in_schema=False)
def read_documentation(
    request: Request, name: DocumentDep, if_none_match: NoneMatchDep = None
) -> Response:
    """Return a page or a picture of the documentation; in a thread, because a page is rendered."""
    name = name or documentation.INDEX
    if name not in documentation.files():
        raise HTTPException(404)
    guarded = _GUARDED if name.endswith(".md") else {}
    return _sent(request, document(name), _REVALIDATED | guarded, if_none_match)


def _sent(
    request: Request, asset: Asset, headers: dict[str, str], if_none_match: str | None
) -> Response:
    packed = accepts_gzip(request.headers.get("accept-encoding"))
    tag = entity_tag(asset.digest, "gzip" if packed else "plain")
    headers |= {"ETag": tag, "Vary": "Accept, Accept-Encoding"}
    if is_current(if_none_match, tag):
        return Response(status_code=304, headers=headers)
    if packed:
        headers["Content-Encoding"] = "gzip"
    content = asset.packed if packed else asset.content
    return Response(content, headers=headers, media_type=asset.media_type)
