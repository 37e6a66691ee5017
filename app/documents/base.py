"""What all answers share: members that are described, none besides, exact numbers as texts."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from topoloom.synth.evaluation.cost import Cost
from topoloom.synth.topology.topology import NodeId

__all__ = [
    "Digest",
    "Document",
    "Exact",
    "Identity",
    "Node",
    "PassCost",
    "Presented",
    "cost_of",
    "omitted",
    "rounded",
]

Exact = Annotated[str, Field(pattern=r"^-?[0-9]+(/[0-9]+)?$")]
"""An exact number: an integer or a fraction in lowest terms, such as ``"277/256"``."""

Identity = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""What an answer is stored under."""

Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
"""What a topology is, apart from its name."""

Node = NodeId
"""The id of a node, a text or an integer."""


Presented: TypeAlias = Mapping[str, Any]
"""A finished document, handed on as it is: no code reads its members."""


class Document(BaseModel):
    """Base of all answers: every member is described, and there are no others."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def given(self) -> dict[str, Any]:
        """Return the members that say something, as JSON values, in their order."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


def omitted(description: str, **rules: Any) -> Any:
    """Return a member that is left out where it has nothing to say; it is never null."""
    return Field(default=None, description=description, json_schema_extra=_no_default, **rules)


def _no_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


class PassCost(Document):
    """Exact cost of one pass."""

    steps: int = Field(description="T_L in units of the hop latency: number of steps", ge=0)
    bandwidth: Exact = Field(description="T_B in units of M/B, exact")

    @classmethod
    def of(cls, cost: Cost) -> "PassCost":
        """Return a cost as it travels."""
        return cls(steps=cost.steps, bandwidth=str(cost.bandwidth))


def cost_of(facts: Mapping[str, Any]) -> Cost:
    """Return the cost that an object with steps and bandwidth says.

    >>> cost_of({"steps": 2, "bandwidth": "11/12"})
    Cost(steps=2, bandwidth=Fraction(11, 12))
    """
    return Cost(facts["steps"], Fraction(facts["bandwidth"]))


def rounded(value: Fraction) -> float:
    """Return a number for people: four decimals.

    >>> rounded(Fraction(1, 3))
    0.3333
    """
    return round(float(value), 4)
