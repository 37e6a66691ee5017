"""optimum/1: the optimal throughput of a collective, with the cut that proves it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from topoloom.app.documents.base import (
    AboutTopology,
    Document,
    Exact,
    Identity,
    Node,
    Subject,
    given_members,
    omitted,
    rounded,
)
from topoloom.app.documents.cut import CutDocument, ProofDocument, cut_document, proof_document
from topoloom.app.documents.link_values import (
    LinkValueDocument,
    RestoredDocument,
    Worth,
    worth_members,
)
from topoloom.app.documents.schedule import option_key
from topoloom.app.store.artifacts import Artefact, Computed, Kind
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.options import Options

if TYPE_CHECKING:
    from topoloom.schedules.optimum.collective_optimum import (
        CollectiveOptimum,
        ConcurrentPasses,
        PassOptimum,
    )


@dataclass(frozen=True, slots=True)
class Rate:
    """The rate of an optimum: data per time."""

    nodes: int
    data: int
    inverse_rate: Fraction

    @property
    def algbw(self) -> Fraction:
        """Bytes per unit of time, in the bandwidth unit of the topology."""
        return self.data / self.inverse_rate


@dataclass(frozen=True, slots=True)
class OptimumAnswer:
    """The rate of a collective on a topology, and on the healthy topology of a changed one.

    ``found`` is the computed optimum; a stored answer keeps only the rate.
    """

    subject: Subject
    bandwidth_unit: str
    rate: Rate
    found: "CollectiveOptimum | None" = None
    options: Options = field(default_factory=Options)
    healthy: "OptimumAnswer | None" = None
    worth: Worth = field(default_factory=Worth)

    @property
    def left(self) -> Fraction:
        """The remaining share of the healthy topology's algbw."""
        assert self.healthy is not None
        return self.rate.algbw / self.healthy.rate.algbw


class SequentialDocument(Document):
    """An allreduce with sequential passes."""

    inverse_rate: Exact = Field(description="time per byte of a shard of size 1")
    algbw: float = Field(description="bytes per time, in bandwidth_unit", ge=0)


class PartDocument(Document):
    """The optimum of one pass of an allreduce."""

    collective: str = Field(description="reduce-scatter or allgather")
    nodes: int = Field(description="number of participating compute nodes", ge=1)
    data: int = Field(description="total size of the shards", ge=1)
    inverse_rate: Exact = Field(
        description="time per byte of a shard of size 1, in 1 / bandwidth_unit; "
        "M bytes take M / data times as long"
    )
    trees_per_root: int = Field(description="trees per unit of shard size", ge=1)
    least: bool = omitted(
        "without trees_per_root and max_gap: whether cuts exclude every smaller number of trees"
    )
    unit_bandwidth: Exact = Field(description="bandwidth of one tree, in bandwidth_unit")
    algbw: float = Field(description="bytes per time, in bandwidth_unit", ge=0)
    bottleneck: CutDocument = Field(description="a cut that proves the rate")
    proof: ProofDocument = omitted(
        "if forwarding nodes have more output than input capacity: the sets that prove the rate; "
        "the capacity of the bottleneck then counts only usable capacity"
    )
    bound_inverse_rate: Exact = omitted(
        "if multicast switches have more output than input capacity and the bound is not known "
        "to be tight: lower bound of the inverse rate, by the bottleneck or the proof"
    )
    max_gap: Exact = omitted("requested gap")
    gap: Exact = omitted("gap of these trees, as a share of the optimum")
    optimal_inverse_rate: Exact = omitted("optimal inverse rate over all numbers of trees")


class BoundDocument(Document):
    """A bound of the rate of both passes of an allreduce at once."""

    inverse_rate: Exact = Field(description="least time per byte of both passes at once")
    algbw: float = Field(description="largest bytes per time, in bandwidth_unit", ge=0)
    gap: Exact = Field(description="additional time of sequential passes, as a share")
    exact: bool = Field(description="whether the bound is known to be tight")
    feasible_algbw: float = omitted("if not known to be tight: feasible bytes per time", ge=0)


class HealthyOptimum(Document):
    """The optimum of the topology before its changes."""

    topology_id: Identity = Field(description="id of the healthy topology")
    name: str = Field(description="name of the topology")
    nodes: int = Field(description="number of participating compute nodes", ge=1)
    inverse_rate: Exact = Field(description="inverse rate, in 1 / bandwidth_unit")
    algbw: float = Field(description="bytes per time, in bandwidth_unit", ge=0)
    ratio: Exact = Field(description="remaining share of the healthy algbw")


class ShardDocument(Document):
    """The size of the shard of one rank."""

    rank: Node = Field(description="id of the compute node")
    size: int = Field(description="relative size of the shard", ge=0)


class OptimumDocument(AboutTopology[Literal["optimum/1"]]):
    """optimum/1: the optimum of a collective; for an allreduce, with each pass in `parts`."""

    bandwidth_unit: str = Field(description="unit of capacities and algbw")
    collective: str = Field(description="collective of the optimum")
    root: Node = omitted("source of a broadcast or destination of a reduce")
    shards: list[ShardDocument] | dict[str, Exact] = omitted(
        "relative sizes of the shards, if unequal; for an allreduce with simultaneous passes and "
        "unequal shards: the share of every root, with sum 1"
    )
    participants: list[Node] = omitted("participating compute nodes, if not all")
    nodes: int = Field(description="number of participating compute nodes", ge=1)
    data: int = Field(description="total size of the shards", ge=1)
    inverse_rate: Exact = Field(
        description="time per byte of a shard of size 1, in 1 / bandwidth_unit; "
        "M bytes take M / data times as long"
    )
    trees_per_root: int = omitted("trees per unit of shard size", ge=1)
    least: bool = omitted(
        "without trees_per_root and max_gap: whether cuts exclude every smaller number of trees"
    )
    unit_bandwidth: Exact = omitted("bandwidth of one tree, in bandwidth_unit")
    algbw: float = Field(description="bytes per time, in bandwidth_unit", ge=0)
    bottleneck: CutDocument = omitted("a cut that proves the rate")
    proof: ProofDocument = omitted("as in `parts`, if no single cut proves the rate")
    bound_inverse_rate: Exact = omitted(
        "if multicast switches have more output than input capacity and the bound is not known "
        "to be tight: lower bound of the inverse rate, by the bottleneck or the proof"
    )
    max_gap: Exact = omitted("requested gap")
    gap: Exact = omitted("gap of these trees, as a share of the optimum")
    optimal_inverse_rate: Exact = omitted("optimal inverse rate over all numbers of trees")
    parts: list[PartDocument] = omitted("allreduce: optima of both passes")
    together: bool = omitted("allreduce: whether the passes run simultaneously")
    sequential: SequentialDocument = omitted(
        "allreduce with simultaneous passes: rate of sequential passes with equal shards"
    )
    bound: BoundDocument = omitted("allreduce: bound of the rate of both passes at once")
    bound_left_out: str = omitted("allreduce without `bound`: reason")
    healthy: HealthyOptimum = omitted("changed topology: the optimum before the changes")
    values: list[LinkValueDocument] = omitted(
        "if requested: values of all kinds of links, most valuable first"
    )
    restored: list[RestoredDocument] = omitted(
        "if requested, for a changed topology: the optimum after the repair of each change"
    )


class OptimumSummary(Document):
    """Summary of an optimum in lists."""

    name: str = Field(description="name of the topology; may be empty")
    inverse_rate: Exact = Field(description="time per byte, in 1 / bandwidth unit")


def of(answer: OptimumAnswer, identity: str) -> OptimumDocument:
    """Return the optimum/1 document of a computed optimum."""
    subject, found = answer.subject, answer.found
    assert found is not None
    asked = option_key(answer.options)
    members: dict[str, Any] = {
        name: asked[name] for name in ("root", "shards", "participants") if name in asked
    }
    members |= _whole(found)
    if answer.healthy is not None:
        members["healthy"] = _healthy(answer.healthy, answer.left)
    members |= worth_members(answer.worth)
    return OptimumDocument(
        schema="optimum/1",
        id=identity,
        **subject.members(),
        bandwidth_unit=answer.bandwidth_unit,
        collective=found.collective.value,
        **members,
    )


def rate_of(document: Mapping[str, Any]) -> OptimumAnswer:
    """Return the rate of an optimum/1 document."""
    rate = Rate(document["nodes"], document["data"], Fraction(document["inverse_rate"]))
    return OptimumAnswer(Subject.from_document(document), document["bandwidth_unit"], rate)


def _whole(found: "CollectiveOptimum") -> dict[str, Any]:
    if found.collective is not Collective.ALLREDUCE:
        return _pass(found.passes[0])
    members: dict[str, Any] = {
        "nodes": found.nodes,
        "data": found.data,
        "inverse_rate": str(found.inverse_rate),
        "algbw": rounded(found.algbw),
        "parts": [
            PartDocument(collective=one.collective.value, **_pass(one)) for one in found.passes
        ],
    }
    if found.together is None:
        return members | {"bound_left_out": found.together_left_out}
    members["bound"] = _bound(found.together)
    if found.at_once:
        members |= {
            "together": True,
            "sequential": SequentialDocument(
                inverse_rate=str(found.sequential),
                algbw=rounded(found.data / found.sequential),
            ),
        }
        if found.together.shares:
            members["shards"] = {str(node): str(share) for node, share in found.together.shares}
    return members


def _pass(found: "PassOptimum") -> dict[str, Any]:
    members: dict[str, Any] = {
        "nodes": found.nodes,
        "data": found.data,
        "inverse_rate": str(found.inverse_rate),
        "trees_per_root": found.trees_per_root,
        "unit_bandwidth": str(found.unit_bandwidth),
        "algbw": rounded(found.algbw),
        "bottleneck": cut_document(found.bottleneck, outward=found.collective.outward),
    }
    members |= given_members(
        least=found.least,
        bound_inverse_rate=None if found.bound is None else str(found.bound),
        proof=None if found.proof is None else proof_document(found.proof),
    )
    if found.near is not None:
        members |= {
            "max_gap": str(found.near.max_gap),
            "gap": str(found.near.gap),
            "optimal_inverse_rate": str(found.optimal_inverse_rate),
        }
    return members


def _bound(together: "ConcurrentPasses") -> BoundDocument:
    feasible = None if together.exact else rounded(together.feasible)
    return BoundDocument(
        inverse_rate=str(together.inverse_rate),
        algbw=rounded(together.algbw),
        gap=str(together.gap),
        exact=together.exact,
        **given_members(feasible_algbw=feasible),
    )


def _healthy(before: OptimumAnswer, left: Fraction) -> HealthyOptimum:
    return HealthyOptimum(
        topology_id=before.subject.id,
        name=before.subject.name,
        nodes=before.rate.nodes,
        inverse_rate=str(before.rate.inverse_rate),
        algbw=rounded(before.rate.algbw),
        ratio=str(left),
    )


def _encode(answer: OptimumAnswer, identity: str) -> Computed:
    summary = {"name": answer.subject.name, "inverse_rate": str(answer.rate.inverse_rate)}
    return Computed.json(of(answer, identity).given(), summary)


def _decode(artefact: Artefact) -> OptimumAnswer:
    return rate_of(artefact.document())


OPTIMUM = Kind("optimum", _encode, _decode)
