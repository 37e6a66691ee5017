"""Labels, pins, sharing and deletion of stored documents, the same for every kind."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Response
from fastapi.responses import JSONResponse

from topoloom.app.api.dependencies import ContextDep, IdDep
from topoloom.app.api.problems import responses
from topoloom.app.auth.scopes import ADMIN, DESIGN, PLAN, READ
from topoloom.app.documents import retention as document
from topoloom.app.documents.retention import StandingDocument
from topoloom.app.requests.options.listing import Label
from topoloom.app.services import retention

LabelDep = Annotated[
    Label, Path(description="a word of letters, digits and . _ : - that begins with one of the two")
]


def manage_routes(router: APIRouter, kind: str) -> None:
    """Add the routes that label, pin, share and delete the stored documents of a kind.

    A key that may make documents of the kind may change those of its owner.
    """
    noun = kind.replace("-", " ")
    name = "".join(word.capitalize() for word in noun.split())
    told: dict[int | str, dict[str, Any]] = {
        200: {"model": StandingDocument, "description": "labels and pin"},
        **responses(403, 404, 422, 503),
    }
    facts: dict[str, Any] = {"response_model": None, "responses": told}
    scope = PLAN if kind == "patch-plan" else DESIGN
    change: dict[str, Any] = facts | {"dependencies": [scope]}
    operate: dict[str, Any] = facts | {"dependencies": [ADMIN]}

    @router.get("/{id}/labels", operation_id=f"read{name}Labels",
                summary=f"Labels and pin of a {noun}", dependencies=[READ], **facts)  # fmt: skip
    def read_labels(id: IdDep, context: ContextDep) -> JSONResponse:
        """Return the labels of a stored document, and whether it is pinned."""
        return JSONResponse(document.of(retention.standing(context, kind, id)))

    @router.put("/{id}/labels/{label}", operation_id=f"label{name}",
                summary=f"Put a label on a {noun}", **change)  # fmt: skip
    def label(id: IdDep, label: LabelDep, context: ContextDep) -> JSONResponse:
        """Put a label on a stored document, which is then kept until it is taken away."""
        return JSONResponse(document.of(retention.label(context, kind, id, label)))

    @router.delete("/{id}/labels/{label}", operation_id=f"unlabel{name}",
                   summary=f"Take a label from a {noun}", **change)  # fmt: skip
    def unlabel(id: IdDep, label: LabelDep, context: ContextDep) -> JSONResponse:
        """Take a label from a stored document, if it has it."""
        return JSONResponse(document.of(retention.unlabel(context, kind, id, label)))

    @router.put("/{id}/pin", operation_id=f"pin{name}", summary=f"Pin a {noun}", **operate)
    def pin(id: IdDep, context: ContextDep) -> JSONResponse:
        """Keep a stored document: it is neither deleted nor let go."""
        return JSONResponse(document.of(retention.pin(context, kind, id)))

    @router.delete("/{id}/pin", operation_id=f"unpin{name}", summary=f"Unpin a {noun}", **operate)
    def unpin(id: IdDep, context: ContextDep) -> JSONResponse:
        """Let a stored document go again."""
        return JSONResponse(document.of(retention.pin(context, kind, id, pinned=False)))

    @router.put("/{id}/share", operation_id=f"share{name}", summary=f"Share a {noun}", **change)
    def share(id: IdDep, context: ContextDep) -> JSONResponse:
        """Let every key read a stored document, and all documents it refers to."""
        return JSONResponse(document.of(retention.share(context, kind, id)))

    @router.delete("/{id}/share", operation_id=f"unshare{name}",
                   summary=f"End the sharing of a {noun}", **change)  # fmt: skip
    def unshare(id: IdDep, context: ContextDep) -> JSONResponse:
        """Leave a stored document to its owners; documents that it refers to stay shared."""
        return JSONResponse(document.of(retention.share(context, kind, id, shared=False)))

    @router.delete(
        "/{id}",
        operation_id=f"delete{name}",
        summary=f"Delete a {noun}",
        status_code=204,
        dependencies=[scope],
        response_class=Response,
        responses=responses(403, 404, 409, 422, 503),
    )
    def delete(id: IdDep, context: ContextDep) -> Response:
        """Delete a stored document, unless it is pinned; other owners keep theirs."""
        retention.delete(context, kind, id)
        return Response(status_code=204)
