"""/v1/families, /v1/fabrics, /v1/presets: what is known by name."""

from app.access.scopes import READ
from app.documents.catalogue import FabricList, FamilyList, PresetList
from app.manners import strict_router
from app.problems import responses
from app.services import catalogue

__all__ = ["router"]

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
    return catalogue.families()


@router.get(
    "/fabrics",
    operation_id="listFabrics",
    summary="Fabrics known by name",
    dependencies=[READ],
    responses=responses(422),
)
def list_fabrics() -> FabricList:
    """Return the names; a capital letter stands for a number."""
    return catalogue.fabrics()


@router.get(
    "/presets",
    operation_id="listPresets",
    summary="Workloads known by name",
    dependencies=[READ],
    responses=responses(422),
)
def list_presets() -> PresetList:
    """Return each workload with its collectives, their sizes and counts."""
    return catalogue.presets()
