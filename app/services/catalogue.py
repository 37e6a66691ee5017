"""What is known by name: the families of recipes, the fabrics, the presets."""

from app.documents import catalogue
from app.documents.catalogue import FabricList, FamilyList, PresetList

__all__ = ["fabrics", "families", "presets"]


def families() -> FamilyList:
    """Return the families of bases and the operators that recipes are made of."""
    from synth.bases import FAMILIES
    from synth.operators import OPERATORS

    return catalogue.families(FAMILIES, OPERATORS)


def fabrics() -> FabricList:
    """Return the fabrics known by name."""
    from synth.fabrics import FABRICS

    return catalogue.fabrics(FABRICS)


def presets() -> PresetList:
    """Return the workloads that are known by name."""
    from schedules.workloads.presets import PRESETS

    return catalogue.presets(PRESETS.items())
