"""Base classes of answers: described members only, exact numbers as texts."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from topoloom.app.requests.base import optional as omitted
from topoloom.synth.evaluation.cost import Cost
from topoloom.synth.topology.assumptions import (
    Assumption,
    assumed_members,
    assumptions_from_document,
)
from topoloom.synth.topology.validation import NodeId

if TYPE_CHECKING:
    from topoloom.synth.topology.topology import Topology

Exact = Annotated[str, Field(pattern=r"^-?[0-9]+(/[0-9]+)?$")]
"""An exact number: an integer or a fraction in lowest terms, such as ``"277/256"``."""

Identity = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""The id of a stored answer."""

Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
"""The digest of a topology, independent of its name."""

Node = NodeId
"""The id of a node, a text or an integer."""


Presented: TypeAlias = Mapping[str, Any]
"""A finished document; no code reads its members."""


class Document(BaseModel):
    """Base of all answers: every member has a description; unknown members are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def given(self) -> dict[str, Any]:
        """Return the members that are set, as JSON values, in order."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


def given_members(**members: Any) -> dict[str, Any]:
    """Return the members that are not None: optional members are absent, never null."""
    return {name: value for name, value in members.items() if value is not None}


def renamed_to(name: str) -> Any:
    """Return a former member, which answers carry for one release beside the member ``name``."""
    description = f"former name of {name}"
    return Field(default=None, description=description, json_schema_extra=_deprecated)


def _deprecated(schema: dict[str, Any]) -> None:
    schema.pop("default", None)
    schema["deprecated"] = True


class PassCost(Document):
    """Exact cost of one pass."""

    steps: int = Field(description="T_L in units of the hop latency: number of steps", ge=0)
    bandwidth: Exact = Field(description="T_B in units of M/B, exact")

    @classmethod
    def of(cls, cost: Cost) -> "PassCost":
        """Return the document of a cost."""
        return cls(steps=cost.steps, bandwidth=str(cost.bandwidth))


def cost_of(facts: Mapping[str, Any]) -> Cost:
    """Return the cost of an object with steps and bandwidth.

    >>> cost_of({"steps": 2, "bandwidth": "11/12"})
    Cost(steps=2, bandwidth=Fraction(11, 12))
    """
    return Cost(facts["steps"], Fraction(facts["bandwidth"]))


def rounded(value: Fraction) -> float:
    """Return a number rounded to four decimals.

    >>> rounded(Fraction(1, 3))
    0.3333
    """
    return round(float(value), 4)


class AssumptionDocument(Document):
    """A fact that a file does not state, and its assumed value."""

    text: str = Field(description="sentence with the fact and the assumed value")
    option: str = omitted("reading option that changes the value, such as link_bandwidth")


def assumed_field() -> Any:
    """Return the member for the result of `assumed_members`."""
    return omitted(
        "topology read from a file: facts that the file does not state, with assumed values"
    )


class GoalDocument(Document):
    """The objective of a plan, if other than moves."""

    least: Literal["seconds", "drained"] = Field(
        description="seconds: time of the moves in one stage, from the speeds of the panels; "
        "drained: hosts that lose a link"
    )
    value: float = Field(description="value of the plan", ge=0)
    lower_bound: float = Field(description="lower bound of the value", ge=0)
    gap: float = Field(description="value minus lower_bound", ge=0)
    optimal: bool = Field(description="whether the value is proven minimal")


@dataclass(frozen=True, slots=True)
class Stored:
    """Id and name of a stored topology."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Subject:
    """The topology of an answer: id, digest, name, and the assumptions about its file."""

    id: str
    digest: str
    name: str
    assumed: tuple[Assumption, ...] = ()

    @classmethod
    def of(cls, identity: str, topology: "Topology") -> "Subject":
        """Return the subject for a stored topology."""
        return cls(identity, topology.digest, topology.name, topology.assumed)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Subject":
        """Return the subject of a stored answer."""
        # Older answers store the digest as `topology`.
        digest = document.get("topology_digest") or document["topology"]
        assumed = assumptions_from_document(document.get("assumed", []))
        return cls(document["topology_id"], digest, document["name"], assumed)

    def members(self) -> dict[str, Any]:
        """Return the members of an answer that identify its topology."""
        return {
            "topology_id": self.id,
            "topology_digest": self.digest,
            "name": self.name,
            **assumed_members(self.assumed),
        }


Schema = TypeVar("Schema", bound=str)


class AboutTopology(Document, Generic[Schema]):
    """Common members of answers about a topology."""

    schema_: Schema = Field(alias="schema", description="kind and version of the document")
    id: Identity = Field(description="id of the answer")
    topology_id: Identity = Field(description="id of the topology")
    topology_digest: Digest = Field(description="digest of the topology, independent of its name")
    name: str = Field(description="name of the topology; may be empty")
    assumed: list[AssumptionDocument] = assumed_field()
