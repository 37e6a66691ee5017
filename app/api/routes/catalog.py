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
    summary="Families of bases and operators that recipes are made of",
    dependencies=[READ],
    responses=responses(422),
)
def list_families() -> FamilyList:
    """Return every family and operator, with its arguments and where it comes from."""
    return catalog.families()


@router.get(
    "/fabrics",
    operation_id="listFabrics",
    summary="Fabrics known by name",
    dependencies=[READ],
    responses=responses(422),
)
def list_fabrics() -> FabricList:
    """Return the names; a capital letter stands for a number."""
    return catalog.fabrics()


@router.get(
    "/presets",
    operation_id="listPresets",
    summary="Workloads known by name",
    dependencies=[READ],
    responses=responses(422),
)
def list_presets() -> PresetList:
    """Return each workload with its collectives, their sizes and counts."""
    return catalog.presets()
