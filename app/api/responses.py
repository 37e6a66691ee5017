"""HTTP responses for documents: whole, partial, compressed, exported, or 304."""

import gzip
import hashlib
from typing import Any

from fastapi import Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from topoloom.app.api.negotiation import entity_tag, is_current
from topoloom.app.api.request_dispatcher import stored_or_computed, unstored_answer
from topoloom.app.documents.export import unpacked
from topoloom.app.documents.sparse_fields import check_paths
from topoloom.app.observability.logs import note
from topoloom.app.requests.stored_documents import ExportQuestion, PartQuestion
from topoloom.app.services.operations import EXPORT, PART
from topoloom.app.services.sparse_fields import part_of
from topoloom.app.store.artifacts import Artefact
from topoloom.schedules.errors import ScheduleError

IMMUTABLE = "public, max-age=31536000, immutable"
"""Cache-Control of a document at its full id; a prefix may match several documents later."""

UNPACKED_AT_ONCE = 64 * 2**10
"""Largest gzip document, in bytes, decompressed on the event loop: some milliseconds."""


async def created_response(
    request: Request,
    artefact: Artefact,
    exported: ExportQuestion | None = None,
    *,
    media_type: str = "application/json",
    collection: str = "",
) -> Response:
    """Return the answer to a POST: 201 if newly computed, 200 if known.

    ``exported`` requests a format other than the stored format.  ``collection`` is the path above
    the document; the default is the path of the request.
    """
    fresh, headers = artefact.fresh, _place(request, artefact, collection)
    if exported is not None:
        artefact = await stored_or_computed(request, EXPORT, exported)
    packed = accepts_gzip(request.headers.get("accept-encoding"))
    headers["Vary"] = "Accept-Encoding"
    return _stored(artefact, media_type, headers, packed, 201 if fresh else 200)


async def created_summary(request: Request, artefact: Artefact) -> Response:
    """Return the answer to a POST of a large document: its summary, which `Location` repeats."""
    headers = _place(request, artefact)
    headers["Location"] += "?format=summary"
    return JSONResponse(artefact.summary, 201 if artefact.fresh else 200, headers)


def summary(
    request: Request, artefact: Artefact, if_none_match: str | None, fields: str | None
) -> Response:
    """Return the answer to a GET of a summary; 304 if the client has the current version."""
    _handed_out(request, artefact)
    if fields is not None:
        _paths("summary", fields, None)
    tag = entity_tag(artefact.digest, "summary")
    headers = {"ETag": tag, "Vary": "Accept", "Cache-Control": "no-cache"}
    if is_current(if_none_match, tag):
        return Response(status_code=304, headers=headers)
    return JSONResponse(artefact.summary, headers=headers)


def _place(request: Request, artefact: Artefact, collection: str = "") -> dict[str, str]:
    _handed_out(request, artefact)
    return {"Location": f"{collection or request.scope['path']}/{artefact.id}"}


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
    """Return the answer to a GET of a document; 304 if the client has the current version.

    ``exported`` requests the document in ``form``; the default is the stored JSON.  Stored bytes
    are sent unchanged to a client that accepts gzip.  ``fields`` selects members of a JSON
    document, among the members of its ``model``.
    """
    _handed_out(request, artefact)
    path: str = request.scope["path"]
    paths = None if fields is None else _paths(form, fields, model)
    packed = paths is None and accepts_gzip(request.headers.get("accept-encoding"))
    variant = form if exported is None else exported.variant
    if paths is not None:
        variant += f"-{hashlib.sha256(','.join(paths).encode()).hexdigest()[:16]}"
    tag = entity_tag(artefact.digest, f"{variant}-gzip" if packed else variant)
    headers = {
        "ETag": tag,
        "Vary": "Accept, Accept-Encoding",
        "Cache-Control": IMMUTABLE if path.endswith(f"/{artefact.id}") else "no-cache",
    }
    if is_current(if_none_match, tag):
        return Response(status_code=304, headers=headers)
    if exported is not None:
        artefact = await stored_or_computed(request, EXPORT, exported)
    if paths is not None:
        return JSONResponse(await _part(request, artefact, paths), headers=headers)
    return _stored(artefact, media_type, headers, packed)


def _stored(
    artefact: Artefact, media_type: str, headers: dict[str, str], packed: bool, status: int = 200
) -> Response:
    """Return stored bytes, unchanged or decompressed; large documents are streamed."""
    if not artefact.is_packed:
        return Response(artefact.content, status, headers, media_type)
    if packed:
        headers["Content-Encoding"] = "gzip"
        return Response(artefact.content, status, headers, media_type)
    if len(artefact.content) <= UNPACKED_AT_ONCE:
        return Response(gzip.decompress(artefact.content), status, headers, media_type)
    return StreamingResponse(unpacked(artefact), status, headers, media_type)


def accepts_gzip(accept_encoding: str | None) -> bool:
    """Return whether an Accept-Encoding header accepts gzip.

    >>> [accepts_gzip(one) for one in ("br, gzip", "gzip;q=0, *", "*;q=0.5", "identity", None)]
    [True, False, True, False, False]
    """
    weights = {}
    for part in (accept_encoding or "").split(","):
        coding, *parameters = (piece.strip().lower() for piece in part.split(";"))
        quality = next((p[2:] for p in parameters if p.startswith("q=")), "1")
        try:
            weights[coding] = float(quality)
        except ValueError:
            weights[coding] = 0.0
    return weights.get("gzip", weights.get("*", 0.0)) > 0


def _paths(form: str, fields: str, model: Any) -> list[str]:
    """Return the paths of the selected members of a document."""
    if form != "json":
        raise ScheduleError("/fields", "must be left out in other formats than json")
    return check_paths(fields, model)


async def _part(request: Request, artefact: Artefact, paths: list[str]) -> Any:
    """Return some members of a document; a worker reads a large document."""
    if len(artefact.content) <= UNPACKED_AT_ONCE:
        return part_of(artefact, paths)
    question = PartQuestion(kind=artefact.kind, id=artefact.id, paths=paths)
    return dict(await unstored_answer(request, PART, question))
