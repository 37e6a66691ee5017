"""Named families and operators of recipes, fabrics and preset workloads."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pydantic import Field

from topoloom.app.documents.base import Document
from topoloom.app.documents.co_design import TaskDocument

if TYPE_CHECKING:
    from topoloom.schedules.iterations.presets import JobPreset
    from topoloom.schedules.workloads.presets import Preset
    from topoloom.synth.fabrics import NamedFabric
    from topoloom.synth.families import Base
    from topoloom.synth.recipes.operators import Operator


class FamilyDocument(Document):
    """A family of bases, or an operator."""

    name: str = Field(description="name in recipes")
    signature: str = Field(description="name with arguments; ? optional, * repeatable")
    title: str = Field(description="title")
    source: str = Field(description="source in the literature")
    operator: bool = Field(description="whether it constructs a topology from others")


class FamilyList(Document):
    """All families, then all operators."""

    items: list[FamilyDocument] = Field(description="families, then operators")
    total: int = Field(description="number of entries", ge=0)


class FabricName(Document):
    """A named fabric."""

    name: str = Field(description="name of the fabric; a capital letter stands for a number")
    title: str = Field(description="title")


class FabricList(Document):
    """All fabrics."""

    items: list[FabricName] = Field(description="fabrics")
    total: int = Field(description="number of entries", ge=0)


class PresetDocument(Document):
    """A named workload."""

    name: str = Field(description="name for the member preset of a design")
    title: str = Field(description="title")
    source: str = Field(description="source of the dimensions")
    tasks: list[TaskDocument] = Field(description="collectives of one training step")


class JobPresetDocument(Document):
    """A named job, for whole iterations."""

    name: str = Field(description="name for the member preset of an iteration")
    title: str = Field(description="title")
    source: str = Field(description="source of the layout")
    accelerator: str = Field(description="accelerator of the source")
    accelerators_per_host: int = Field(description="accelerators of each host", ge=1)


class PresetList(Document):
    """All presets: of designs, and of iterations."""

    items: list[PresetDocument] = Field(description="presets of designs")
    total: int = Field(description="number of presets of designs", ge=0)
    iterations: list[JobPresetDocument] = Field(description="presets of iterations")


def families(bases: "Iterable[type[Base]]", operators: "Iterable[type[Operator]]") -> FamilyList:
    """Return families and operators as a list."""
    items = [_family(one, False) for one in bases] + [_family(one, True) for one in operators]
    return FamilyList(items=items, total=len(items))


def _family(kind: "type[Base] | type[Operator]", operator: bool) -> FamilyDocument:
    return FamilyDocument(
        name=kind.__name__,
        signature=kind.signature(),
        title=kind.title,
        source=kind.source,
        operator=operator,
    )


def fabrics(known: "Iterable[tuple[str, NamedFabric]]") -> FabricList:
    """Return fabrics as a list."""
    items = [FabricName(name=name, title=one.title) for name, one in known]
    return FabricList(items=items, total=len(items))


def presets(known: "Iterable[tuple[str, Preset]]", jobs: "Iterable[JobPreset]") -> PresetList:
    """Return presets as lists."""
    items = [
        PresetDocument(
            name=name,
            title=one.title,
            source=one.model.source,
            tasks=[
                TaskDocument(
                    collective=task.collective.value, bytes=task.size_bytes, count=task.count
                )
                for task in one.tasks
            ],
        )
        for name, one in known
    ]
    iterations = [
        JobPresetDocument(
            name=one.name,
            title=one.title,
            source=one.source,
            accelerator=one.accelerator,
            accelerators_per_host=one.per_host,
        )
        for one in jobs
    ]
    return PresetList(items=items, total=len(items), iterations=iterations)
