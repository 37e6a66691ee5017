"""What all answers share: members that are described, none besides, exact numbers as texts."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Generic, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from topoloom.synth.evaluation.cost import Cost
from topoloom.synth.topology.assumptions import (
    Assumption,
    assumed_members,
    assumptions_from_document,
)
from topoloom.synth.topology.topology import NodeId, Topology

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


class AssumptionDocument(Document):
    """A fact that a file does not state, and the value taken for it."""

    text: str = Field(description="a sentence that names the fact and the value taken for it")
    option: str = omitted("the option of reading that changes it, such as link_bandwidth")


def assumed_field() -> Any:
    """Return the member that `assumed_members` fills."""
    return omitted("of a topology read from a file: what the file does not state, and was assumed")


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored topology as people and programs name it."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Subject:
    """The topology of an answer: what it is stored under, what it is, what it is called.

    ``assumed`` is what the file that describes it does not state.
    """

    id: str
    digest: str
    name: str
    assumed: tuple[Assumption, ...] = ()

    @classmethod
    def of(cls, identity: str, topology: Topology) -> "Subject":
        """Return a stored topology as the subject of an answer."""
        return cls(identity, topology.digest, topology.name, topology.assumed)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Subject":
        """Return what an answer says it is about."""
        # Answers of before called the digest what it is the digest of.
        digest = document.get("topology_digest") or document["topology"]
        assumed = assumptions_from_document(document.get("assumed", []))
        return cls(document["topology_id"], digest, document["name"], assumed)

    def members(self) -> dict[str, Any]:
        """Return the members of an answer that say which topology it is about."""
        return {
            "topology_id": self.id,
            "topology_digest": self.digest,
            "name": self.name,
            **assumed_members(self.assumed),
        }


Schema = TypeVar("Schema", bound=str)


class AboutTopology(Document, Generic[Schema]):
    """The head of an answer about a topology."""

    schema_: Schema = Field(alias="schema", description="kind and version of the document")
    id: Identity = Field(description="what the answer is stored under")
    topology_id: Identity = Field(description="what the topology is stored under")
    topology_digest: Digest = Field(
        description="digest of the topology: what it is, without its name"
    )
    name: str = Field(description="name of the topology, for people; empty if it has none")
    assumed: list[AssumptionDocument] = assumed_field()
