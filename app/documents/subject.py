"""Which topology an answer is about."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import Field

from app.documents.base import Digest, Document, Identity
from synth.topology import Topology

__all__ = ["AboutTopology", "Stored", "Subject"]


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored topology as people and programs name it."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Subject:
    """The topology of an answer: what it is stored under, what it is, what it is called."""

    id: str
    digest: str
    name: str

    @classmethod
    def of(cls, identity: str, topology: Topology) -> "Subject":
        """Return a stored topology as the subject of an answer."""
        return cls(identity, topology.digest, topology.name)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Subject":
        """Return what an answer says it is about."""
        # Answers of before called the digest what it is the digest of.
        digest = document.get("topology_digest") or document["topology"]
        return cls(document["topology_id"], digest, document["name"])


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
