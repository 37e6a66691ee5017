"""What is known by name: families and operators of recipes, fabrics, preset workloads."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pydantic import Field

from topoloom.app.documents.base import Document
from topoloom.app.documents.co_design import TaskDocument

if TYPE_CHECKING:
    from topoloom.schedules.workloads.presets import Preset
    from topoloom.synth.families import Base
    from topoloom.synth.recipes.operators import Operator


class FamilyDocument(Document):
    """A family of bases, or an operator."""

    name: str = Field(description="as it stands in recipes")
    signature: str = Field(description="with its arguments; ? may be left out, * repeated")
    title: str = Field(description="what it is")
    source: str = Field(description="where it comes from")
    operator: bool = Field(description="whether it makes a topology of others")


class FamilyList(Document):
    """All families, then all operators."""

    items: list[FamilyDocument] = Field(description="families, then operators")


class FabricDocument(Document):
    """A fabric known by name."""

    name: str = Field(description="a capital letter stands for a number")


class FabricList(Document):
    """All fabrics."""

    items: list[FabricDocument] = Field(description="the fabrics")


class PresetDocument(Document):
    """A workload known by name."""

    name: str = Field(description="as designs take it")
    title: str = Field(description="what it is")
    source: str = Field(description="where its dimensions are printed")
    tasks: list[TaskDocument] = Field(description="the collectives of one training step")


class PresetList(Document):
    """All presets."""

    items: list[PresetDocument] = Field(description="the presets")


def families(bases: "Iterable[type[Base]]", operators: "Iterable[type[Operator]]") -> FamilyList:
    """Return families and operators as a list."""
    return FamilyList(
        items=[_family(one, False) for one in bases] + [_family(one, True) for one in operators]
    )


def _family(kind: "type[Base] | type[Operator]", operator: bool) -> FamilyDocument:
    return FamilyDocument(
        name=kind.__name__,
        signature=kind.signature(),
        title=kind.title,
        source=kind.source,
        operator=operator,
    )


def fabrics(names: Iterable[str]) -> FabricList:
    """Return fabrics as a list."""
    return FabricList(items=[FabricDocument(name=name) for name in names])


def presets(known: "Iterable[tuple[str, Preset]]") -> PresetList:
    """Return presets as a list."""
    return PresetList(
        items=[
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
    )
