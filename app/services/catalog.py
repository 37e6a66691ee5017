"""What is known by name: the families of recipes, the fabrics, the presets."""

from topoloom.app.documents import catalog
from topoloom.app.documents.catalog import FabricList, FamilyList, PresetList


def families() -> FamilyList:
    """Return the families of bases and the operators that recipes are made of."""
    from topoloom.synth.families import FAMILIES
    from topoloom.synth.recipes.operators import OPERATORS

    return catalog.families(FAMILIES, OPERATORS)


def fabrics() -> FabricList:
    """Return the fabrics known by name."""
    from topoloom.synth.fabrics import FABRICS

    return catalog.fabrics(FABRICS)


def presets() -> PresetList:
    """Return the workloads that are known by name."""
    from topoloom.schedules.workloads.presets import PRESETS

    return catalog.presets(PRESETS.items())
