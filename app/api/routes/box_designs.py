"""/v1/box-designs: the best topology between boxes of accelerators."""

from topoloom.app.api.dependencies import CREATED
from topoloom.app.api.document_routes import WorkRoute, create_route, list_route, read_route
from topoloom.app.api.problems import responses
from topoloom.app.api.routes.retention import manage_routes
from topoloom.app.api.strict_http import strict_router
from topoloom.app.documents.box_design import BoxDesignDocument
from topoloom.app.services.operations import BOX_DESIGN

router = strict_router("/v1/box-designs", tags=["designs"], route_class=WorkRoute)

_BODY = {"model": BoxDesignDocument}

create_route(
    router,
    BOX_DESIGN,
    operation_id="designBoxes",
    summary="Find the best topology between boxes of accelerators",
    description="Return the topologies between boxes, fastest first.",
    responses={
        200: CREATED[200] | _BODY,
        201: CREATED[201] | _BODY,
        **responses(400, 404, 413, 415, 422, 503),
    },
)

list_route(router, "box-design", "listBoxDesigns", "designs of boxes")
manage_routes(router, "box-design")


read_route(
    router,
    "box-design",
    operation_id="readBoxDesign",
    summary="Read a design of boxes",
    model=BoxDesignDocument,
    description="box-design/1",
)
