"""Cuts and proofs of optimum/1: node sets that prove an upper bound of the rate."""

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pydantic import Field

from topoloom.app.documents.base import Document, Exact, Node, given_members, omitted

if TYPE_CHECKING:
    from topoloom.schedules.optimum.collective_optimum import BalanceProof, Cut, Sets
    from topoloom.synth.topology.topology import NodeId


class BoxDocument(Document):
    """Nodes of a cut in one box, or, with an empty `box`, between the boxes."""

    box: str = Field(description="number of the box, the prefix of its ids; empty for no box")
    compute: list[Node] = Field(description="compute nodes of the box inside the cut")
    missing: list[Node] = Field(description="compute nodes of the box outside the cut")
    switches: list[Node] = Field(description="switches of the box inside the cut")


class CrossingDocument(Document):
    """Equivalent links across a cut."""

    sources: list[Node] = Field(description="source nodes")
    targets: list[Node] = Field(description="target nodes")
    count: int = Field(description="number of links", ge=1)
    capacity: Exact = Field(description="capacity of each link, in bandwidth_unit")


class CutDocument(Document):
    """A set of nodes whose links to the rest limit the rate."""

    nodes: list[Node] = Field(description="node ids, in topology order")
    compute_inside: int = Field(description="number of participating nodes in the set", ge=0)
    data_inside: int = Field(description="total size of their shards", ge=0)
    exit_capacity: Exact = omitted("total capacity of the links out of the set, in bandwidth_unit")
    entry_capacity: Exact = omitted(
        "gathering collectives: total capacity of the links into the set"
    )
    boxes: list[BoxDocument] = Field(description="nodes of the set, by box")
    links: list[CrossingDocument] = Field(
        description="links across the cut, grouped by equivalence"
    )


class SetDocument(Document):
    """A node set of a proof, with its weight."""

    nodes: list[Node] = Field(description="node ids, in topology order")
    weight: Exact = Field(description="nonnegative weight")


class PriceDocument(Document):
    """The weight of a forwarding node."""

    node: Node = Field(description="id of the node")
    weight: Exact = Field(description="nonnegative weight")


class LimitPriceDocument(Document):
    """The weight of a limit shared by several links."""

    place: int = Field(description="index in `shared` of the topology, from 0", ge=0)
    weight: Exact = Field(description="nonnegative weight")


class PatternDocument(Document):
    """The part of a proof for the trees that are copied at some switches alone."""

    copying: list[Node] = Field(description="multicast switches at which these trees are copied")
    sets: list[SetDocument] = Field(
        description="sets of nodes that each exclude a rank or one of these switches"
    )
    prices: list[PriceDocument] = Field(description="weights of all other forwarding nodes")


class ProofDocument(Document):
    """A proof of the rate if no single cut proves it: weights of sets, forwarding nodes, limits."""

    sets: list[SetDocument] = Field(description="sets of nodes that each exclude a rank")
    prices: list[PriceDocument] = Field(description="weights of forwarding nodes")
    sharing: list[LimitPriceDocument] = omitted("weights of shared limits")
    patterns: list[PatternDocument] = omitted(
        "if trees are copied at different switches: the proof by every set of multicast switches; "
        "`sets` and `prices` are then empty"
    )


def cut_document(cut: "Cut", *, outward: bool) -> CutDocument:
    """Return a cut; ``outward`` selects the capacity out of the set, else into the set."""
    side = "exit_capacity" if outward else "entry_capacity"
    capacity: dict[str, Any] = {side: str(cut.capacity)}
    return CutDocument(
        nodes=list(cut.nodes),
        compute_inside=cut.compute_inside,
        data_inside=cut.data_inside,
        boxes=[
            BoxDocument(
                box=part.box,
                compute=list(part.compute),
                missing=list(part.missing),
                switches=list(part.switches),
            )
            for part in cut.boxes
        ],
        links=[
            CrossingDocument(
                sources=list(group.sources),
                targets=list(group.targets),
                count=group.count,
                capacity=str(group.capacity),
            )
            for group in cut.links
        ],
        **capacity,
    )


def proof_document(proof: "BalanceProof") -> ProofDocument:
    """Return the document of a proof."""
    sharing = [
        LimitPriceDocument(place=place, weight=str(weight)) for place, weight in proof.sharing
    ]
    patterns = [
        PatternDocument(copying=list(one.copying), sets=_sets(one.sets), prices=_prices(one.prices))
        for one in proof.patterns
    ]
    return ProofDocument(
        sets=_sets(proof.sets),
        prices=_prices(proof.prices),
        **given_members(sharing=sharing or None, patterns=patterns or None),
    )


def _sets(sets: "Sets") -> list[SetDocument]:
    return [SetDocument(nodes=list(nodes), weight=str(weight)) for nodes, weight in sets]


def _prices(prices: "Iterable[tuple[NodeId, Fraction]]") -> list[PriceDocument]:
    return [PriceDocument(node=node, weight=str(weight)) for node, weight in prices]
