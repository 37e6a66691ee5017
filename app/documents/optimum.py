"""optimum/1: the best any schedule could do for a collective, with the cut that proves it."""

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
from topoloom.app.documents.schedule import asked_of
from topoloom.app.store.artifacts import Artefact, Computed, Kind
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.options import Options

if TYPE_CHECKING:
    from topoloom.schedules.optimum.collective_optimum import (
        CollectiveOptimum,
        PassOptimum,
        Together,
    )


@dataclass(frozen=True, slots=True)
class Rate:
    """What an optimum is compared by: so much data in so long a time."""

    nodes: int
    data: int
    inverse_rate: Fraction

    @property
    def algbw(self) -> Fraction:
        """Bytes per unit of time, in the bandwidth unit of the topology."""
        return self.data / self.inverse_rate


@dataclass(frozen=True, slots=True)
class OptimumAnswer:
    """The rate of a collective on a topology, and of a changed one that of the healthy one.

    ``found`` is the whole optimum, as long as it was computed just now; of a stored one the
    rate is all that is computed with again.
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
        """The share of the healthy topology's algbw that is left."""
        assert self.healthy is not None
        return self.rate.algbw / self.healthy.rate.algbw


class SequentialDocument(Document):
    """An allreduce whose passes run one after the other."""

    inverse_rate: Exact = Field(description="time per byte of a shard of size 1")
    algbw: float = Field(description="bytes per time, in bandwidth_unit", ge=0)


class PartDocument(Document):
    """The optimum of one pass of an allreduce."""

    collective: str = Field(description="which pass: reduce-scatter or allgather")
    nodes: int = Field(description="how many compute nodes take part", ge=1)
    data: int = Field(description="size of all shards together", ge=1)
    inverse_rate: Exact = Field(
        description="time per byte of a shard of size 1, in 1 / bandwidth_unit: "
        "M bytes take M / data of it"
    )
    trees_per_root: int = Field(description="trees per unit of size of a shard", ge=1)
    least: bool = omitted(
        "where no number of trees and no gap was asked for: whether cuts forbid every smaller one"
    )
    unit_bandwidth: Exact = Field(description="bandwidth of one tree, in bandwidth_unit")
    algbw: float = Field(description="bytes per time, in bandwidth_unit", ge=0)
    bottleneck: CutDocument = Field(description="a cut that proves the rate")
    proof: ProofDocument = omitted(
        "where forwarding nodes let out more than they take in: the sets that prove the rate; the "
        "bottleneck's capacity is then what such nodes can use"
    )
    bound_inverse_rate: Exact = omitted(
        "where switches that copy let out more than they take in and it is not known to be "
        "reached: what no inverse rate is below, by the bottleneck or the proof"
    )
    max_gap: Exact = omitted("the gap that was asked for")
    gap: Exact = omitted("the gap that these trees have, as a share of the optimum")
    optimal_inverse_rate: Exact = omitted("the inverse rate of any number of trees")


class BoundDocument(Document):
    """How fast both passes of an allreduce could be at once."""

    inverse_rate: Exact = Field(description="time per byte of both passes at once, at the least")
    algbw: float = Field(description="bytes per time at the most, in bandwidth_unit", ge=0)
    gap: Exact = Field(description="share by which one pass after the other takes longer")
    exact: bool = Field(description="whether the bound is known to be reached")
    feasible_algbw: float = omitted("where it is not known: what is reached", ge=0)


class HealthyOptimum(Document):
    """The optimum of the topology before parts were lost or slow."""

    topology_id: Identity = Field(description="what the healthy topology is stored under")
    name: str = Field(description="its name")
    nodes: int = Field(description="how many compute nodes take part", ge=1)
    inverse_rate: Exact = Field(description="its inverse rate, in 1 / bandwidth_unit")
    algbw: float = Field(description="its bytes per time, in bandwidth_unit", ge=0)
    ratio: Exact = Field(description="share of its algbw that is left")


class ShardDocument(Document):
    """The size of the shard of one rank."""

    rank: Node = Field(description="id of the compute node")
    size: int = Field(description="size of its shard, relative to the others", ge=0)


class OptimumDocument(AboutTopology[Literal["optimum/1"]]):
    """optimum/1: of an allreduce the best that is reached; each pass alone is in `parts`."""

    bandwidth_unit: str = Field(description="unit of the topology's capacities and of algbw")
    collective: str = Field(description="whose optimum it is")
    root: Node = omitted("of a broadcast or reduce: where the data begins or ends")
    shards: list[ShardDocument] | dict[str, Exact] = omitted(
        "relative sizes of the shards, where not all equal; of an allreduce whose passes run at "
        "once, where they need unequal ones: the share of every root, 1 in all"
    )
    participants: list[Node] = omitted("compute nodes that take part, where not all do")
    nodes: int = Field(description="how many compute nodes take part", ge=1)
    data: int = Field(description="size of all shards together", ge=1)
    inverse_rate: Exact = Field(
        description="time per byte of a shard of size 1, in 1 / bandwidth_unit: "
        "M bytes take M / data of it"
    )
    trees_per_root: int = omitted("trees per unit of size of a shard", ge=1)
    least: bool = omitted(
        "where no number of trees and no gap was asked for: whether cuts forbid every smaller one"
    )
    unit_bandwidth: Exact = omitted("bandwidth of one tree, in bandwidth_unit")
    algbw: float = Field(description="bytes per time, in bandwidth_unit", ge=0)
    bottleneck: CutDocument = omitted("a cut that proves the rate")
    proof: ProofDocument = omitted("as in `parts`, where no cut alone proves the rate")
    bound_inverse_rate: Exact = omitted(
        "where switches that copy let out more than they take in and it is not known to be "
        "reached: what no inverse rate is below, by the bottleneck or the proof"
    )
    max_gap: Exact = omitted("the gap that was asked for")
    gap: Exact = omitted("the gap that these trees have, as a share of the optimum")
    optimal_inverse_rate: Exact = omitted("the inverse rate of any number of trees")
    parts: list[PartDocument] = omitted("of an allreduce: the optima of its two passes")
    together: bool = omitted("of an allreduce: whether its passes run at once")
    sequential: SequentialDocument = omitted(
        "of an allreduce whose passes run at once: one after the other, with equal shards"
    )
    bound: BoundDocument = omitted("of an allreduce: how fast both passes could be at once")
    bound_left_out: str = omitted("of an allreduce without `bound`: why it is missing")
    healthy: HealthyOptimum = omitted("of a topology made by changes: its optimum before them")
    values: list[LinkValueDocument] = omitted(
        "where asked for: what every kind of link is worth, the most valuable first"
    )
    restored: list[RestoredDocument] = omitted(
        "where asked for, of a topology made by changes: the optimum with each one undone"
    )


class OptimumSummary(Document):
    """What lists say of an optimum."""

    name: str = Field(description="name of the topology; empty if it has none")
    inverse_rate: Exact = Field(description="time per byte, in 1 / bandwidth unit")


def of(answer: OptimumAnswer, identity: str) -> OptimumDocument:
    """Return the optimum/1 document of an optimum that was computed just now."""
    subject, found = answer.subject, answer.found
    assert found is not None
    asked = asked_of(answer.options)
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
    """Return the rate that an optimum/1 document tells of."""
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
    if found.least is not None:
        members["least"] = found.least
    if found.bound is not None:
        members["bound_inverse_rate"] = str(found.bound)
    if found.proof is not None:
        members["proof"] = proof_document(found.proof)
    if found.near is not None:
        members |= {
            "max_gap": str(found.near.max_gap),
            "gap": str(found.near.gap),
            "optimal_inverse_rate": str(found.optimal_inverse_rate),
        }
    return members


def _bound(together: "Together") -> BoundDocument:
    more: dict[str, Any] = {}
    if not together.exact:
        more["feasible_algbw"] = rounded(together.feasible)
    return BoundDocument(
        inverse_rate=str(together.inverse_rate),
        algbw=rounded(together.algbw),
        gap=str(together.gap),
        exact=together.exact,
        **more,
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
