"""/v1/designs: the best topology for a workload."""

from typing import Annotated

from fastapi import Query, Request, Response

from topoloom.app.api.dependencies import CREATED, AcceptDep, FieldsDep, IdDep, IfNoneMatchDep
from topoloom.app.api.document_routes import WorkRoute, create_route, list_route, plainly
from topoloom.app.api.negotiation import files_described, negotiate
from topoloom.app.api.problems import responses
from topoloom.app.api.request_dispatcher import document
from topoloom.app.api.responses import representation
from topoloom.app.api.routes.export_parameters import OptionsDep
from topoloom.app.api.routes.retention import manage_routes
from topoloom.app.api.strict_http import strict_router
from topoloom.app.auth.scopes import READ
from topoloom.app.documents.design import DesignDocument
from topoloom.app.jobs.worker_pool.operations import DESIGN
from topoloom.app.requests.options.exports import DesignFormat
from topoloom.app.requests.stored_documents import ExportQuestion
from topoloom.app.services.exports import media_type, require_available

router = strict_router("/v1/designs", tags=["designs"], route_class=WorkRoute)


_BODY = {"model": DesignDocument}
MEDIA_TYPES = {"json": "application/json"} | {
    name: media_type("design", name) for name in ("msccl-xml", "mscclpp-json")
}

FormatDep = Annotated[
    DesignFormat | None,
    Query(
        alias="format",
        description="representation; a format of programs gives an archive of those that together "
        "serve all sizes; goes before the Accept header",
    ),
]

create_route(
    router,
    DESIGN,
    operation_id="createDesign",
    summary="Find the best topology for a workload",
    description="Search, measure, schedule and verify; the same question is answered once.",
    responses={
        200: CREATED[200] | _BODY,
        201: CREATED[201] | _BODY,
        **responses(400, 413, 415, 422, 503),
    },
)

list_route(router, "design", "listDesigns", "designs")
manage_routes(router, "design")


@router.get(
    "/{id}",
    operation_id="readDesign",
    summary="Read a design, or the programs of its algorithms",
    dependencies=[READ],
    response_model=None,
    responses={
        200: _BODY
        | {
            "description": "design/1, or an archive with files/1",
            "content": files_described(MEDIA_TYPES.values()),
        },
        **responses(404, 406, 422, 503),
    },
)
@plainly("design")
async def read_design(
    request: Request,
    id: IdDep,
    options: OptionsDep,
    form: FormatDep = None,
    fields: FieldsDep = None,
    accept: AcceptDep = None,
    if_none_match: IfNoneMatchDep = None,
) -> Response:
    """Return a design/1 document, or a set of programs."""
    artefact = await document(request, "design", id)
    form_ = negotiate(form, accept, MEDIA_TYPES)
    require_available("design", form_, options)
    exported = None
    if form_ != "json":
        exported = ExportQuestion(kind="design", id=artefact.id, format=form_, options=options)
    return await representation(
        request,
        artefact,
        form_,
        MEDIA_TYPES[form_],
        if_none_match,
        exported,
        fields=fields,
        model=DesignDocument,
    )
