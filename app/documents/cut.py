"""Cuts and proofs as documents: the node sets that say why nothing is faster."""

from typing import TYPE_CHECKING, Any

from pydantic import Field

from topoloom.app.documents.base import Document, Exact, Node, omitted

if TYPE_CHECKING:
    from topoloom.schedules.optimum.collective_optimum import BalanceProof, Cut


class BoxDocument(Document):
    """What a cut holds of one box, or, with an empty `box`, between the boxes."""

    box: str = Field(description="number of the box, as ids begin with; empty for none")
    compute: list[Node] = Field(description="compute nodes of the box inside the cut")
    missing: list[Node] = Field(description="compute nodes of the box outside the cut")
    switches: list[Node] = Field(description="switches of the box inside the cut")


class CrossingDocument(Document):
    """Links across a cut that are alike."""

    sources: list[Node] = Field(description="nodes that they come from")
    targets: list[Node] = Field(description="nodes that they lead to")
    count: int = Field(description="number of links", ge=1)
    capacity: Exact = Field(description="of each, in bandwidth_unit")


class CutDocument(Document):
    """A set of nodes whose links to the rest allow nothing faster."""

    nodes: list[Node] = Field(description="ids of the nodes, in the order of the topology")
    compute_inside: int = Field(description="how many of them take part", ge=0)
    data_inside: int = Field(description="size of their shards", ge=0)
    exit_capacity: Exact = omitted("capacity of all links out of the set, in bandwidth_unit")
    entry_capacity: Exact = omitted(
        "of a collective that gathers data: capacity of all links into the set"
    )
    boxes: list[BoxDocument] = Field(description="what the set holds, box by box")
    links: list[CrossingDocument] = Field(description="the links that cross, alike ones together")


class SetDocument(Document):
    """A node set of a proof, with its weight."""

    nodes: list[Node] = Field(description="ids of the nodes, in the order of the topology")
    weight: Exact = Field(description="from 0")


class PriceDocument(Document):
    """The weight of a node that only forwards."""

    node: Node = Field(description="id of the node")
    weight: Exact = Field(description="from 0")


class LimitPriceDocument(Document):
    """The weight of a limit that several links share."""

    place: int = Field(description="place in `shared` of the topology, from 0", ge=0)
    weight: Exact = Field(description="from 0")


class ProofDocument(Document):
    """Why nothing is faster where no cut alone says so: by nodes that forward, or shared limits."""

    sets: list[SetDocument] = Field(description="sets of nodes that each miss a rank")
    prices: list[PriceDocument] = Field(description="of nodes that only forward")
    sharing: list[LimitPriceDocument] = omitted("of limits that links share")


def cut_document(cut: "Cut", *, outward: bool) -> CutDocument:
    """Return a cut; ``outward`` says whether it counts what leaves it or what enters it."""
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
    """Return the sets and weights of a proof."""
    more: dict[str, Any] = {}
    if proof.sharing:
        more["sharing"] = [
            LimitPriceDocument(place=place, weight=str(weight)) for place, weight in proof.sharing
        ]
    return ProofDocument(
        sets=[SetDocument(nodes=list(nodes), weight=str(weight)) for nodes, weight in proof.sets],
        prices=[PriceDocument(node=node, weight=str(weight)) for node, weight in proof.prices],
        **more,
    )
