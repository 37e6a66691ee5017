"""/v1/designs: the best topology for a workload."""

from topoloom.app.api.dependencies import CREATED
from topoloom.app.api.document_routes import WorkRoute, create_route, list_route, read_route
from topoloom.app.api.problems import responses
from topoloom.app.api.routes.export_parameters import OptionsDep
from topoloom.app.api.routes.retention import manage_routes
from topoloom.app.api.strict_http import strict_router
from topoloom.app.documents.design import DesignDocument
from topoloom.app.requests.options.exports import DesignFormat
from topoloom.app.services.exports import media_type
from topoloom.app.services.operations import DESIGN

router = strict_router("/v1/designs", tags=["designs"], route_class=WorkRoute)


_BODY = {"model": DesignDocument}
MEDIA_TYPES = {"json": "application/json"} | {
    name: media_type("design", name) for name in ("msccl-xml", "mscclpp-json")
}

create_route(
    router,
    DESIGN,
    operation_id="createDesign",
    summary="Find the best topology for a workload",
    description="Search topologies, time them, and verify the schedules of the best one.",
    responses={
        200: CREATED[200] | _BODY,
        201: CREATED[201] | _BODY,
        **responses(400, 413, 415, 422, 503),
    },
)

list_route(router, "design", "listDesigns", "designs")
manage_routes(router, "design")


read_route(
    router,
    "design",
    operation_id="readDesign",
    summary="Read a design, or the programs of its algorithms",
    model=DesignDocument,
    description="design/1, or an archive with files/1: the programs that together serve all sizes",
    formats=MEDIA_TYPES,
    names=DesignFormat,
    options=OptionsDep,
)
