"""The catalogs of families, fabrics and workload presets."""

from topoloom.app.documents import catalog
from topoloom.app.documents.catalog import FabricList, FamilyList, PresetList


def families() -> FamilyList:
    """Return the base families and operators of recipes."""
    from topoloom.synth.families import FAMILIES
    from topoloom.synth.recipes.operators import OPERATORS

    return catalog.families(FAMILIES, OPERATORS)


def fabrics() -> FabricList:
    """Return the named fabrics."""
    from topoloom.synth.fabrics import FABRICS

    return catalog.fabrics(FABRICS.items())


def presets() -> PresetList:
    """Return the named workloads and jobs."""
    from topoloom.schedules.iterations.presets import JOB_PRESETS
    from topoloom.schedules.workloads.presets import PRESETS

    return catalog.presets(PRESETS.items(), JOB_PRESETS.values())
