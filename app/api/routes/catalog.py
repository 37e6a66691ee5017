"""/v1/families, /v1/fabrics, /v1/presets: catalogs of names."""

from topoloom.app.api.problems import responses
from topoloom.app.api.strict_http import strict_router
from topoloom.app.auth.scopes import READ
from topoloom.app.documents.catalog import FabricList, FamilyList, PresetList
from topoloom.app.services import catalog

router = strict_router("/v1", tags=["catalogue"])


@router.get(
    "/families",
    operation_id="listFamilies",
    summary="List the families of base graphs and the operators of recipes",
    dependencies=[READ],
    responses=responses(422),
)
def list_families() -> FamilyList:
    """Return every family and operator, with its arguments and its source."""
    return catalog.families()


@router.get(
    "/fabrics",
    operation_id="listFabrics",
    summary="List the named fabrics",
    dependencies=[READ],
    responses=responses(422),
)
def list_fabrics() -> FabricList:
    """Return the names; a capital letter stands for a number."""
    return catalog.fabrics()


@router.get(
    "/presets",
    operation_id="listPresets",
    summary="List the named workloads",
    dependencies=[READ],
    responses=responses(422),
)
def list_presets() -> PresetList:
    """Return each workload with its collectives, their sizes and counts."""
    return catalog.presets()
