"""Which topology an answer is about."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import Field

from topoloom.app.documents.base import Digest, Document, Identity, omitted
from topoloom.synth.topology.assumptions import (
    Assumption,
    assumed_members,
    assumptions_from_document,
)
from topoloom.synth.topology.topology import Topology

__all__ = [
    "AboutTopology",
    "AssumptionDocument",
    "Stored",
    "Subject",
    "assumed_field",
]


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
