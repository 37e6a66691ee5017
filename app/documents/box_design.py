"""box-design/1: the best topology between boxes of accelerators."""

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import Field

from topoloom.app.documents.base import Document, Exact, Identity, given_members, omitted, rounded
from topoloom.app.requests.box_designs import BoxDesignRequest
from topoloom.app.requests.options import boxes
from topoloom.app.store.artifacts import Computed, Kind

if TYPE_CHECKING:
    from topoloom.schedules.design.box_designs import BoxDesign, BoxRow, MoreCables


_CHANGED_BY = {"cable": boxes.CABLE_BANDWIDTH.spelling, "ports": boxes.CABLE_PORTS.spelling}
"""Option of an assumption about boxes -> the option of a design."""


class CablesDocument(Document):
    """The cables of a fabric of boxes by class; half a cable is one direction alone."""

    inside: float = Field(description="links inside boxes, both directions as one", ge=0)
    copper: float = Field(description="cables between boxes of one rack", ge=0)
    optics: float = Field(description="all other cables between boxes", ge=0)
    cost: float = omitted("price of the cables between boxes, if prices are given", ge=0)


class BoxRowDocument(Document):
    """A topology between boxes, with its rate and time."""

    kind: Literal["frontier", "ring", "torus", "full-mesh", "switch"] = Field(
        description="frontier: a point of the Pareto frontier; switch: one ideal switch without "
        "latency"
    )
    recipe: str = Field(description="text of the whole fabric, Boxes(...)")
    between: str = Field(description="recipe of the topology between boxes, or a switch")
    algbw: float = Field(description="best rate of the collective, passes in sequence, GB/s", ge=0)
    exact_algbw: Exact = Field(description="exact rate")
    hops: int = Field(description="hops between the two farthest accelerators", ge=1)
    least_seconds: float = Field(
        description="lower bound of the time of trees in lock step, passes in sequence"
    )
    seconds: float = omitted("time of a verified schedule, if made", ge=0)
    cables: CablesDocument = Field(description="cables by class")
    racks: list[list[int]] = omitted("boxes of each rack, chosen for the most copper found")


class MoreCablesDocument(Document):
    """The best rate with more cables for each box."""

    degree: int = Field(description="cables of each box", ge=1)
    recipe: str = omitted("text of the best fabric")
    algbw: float = omitted("best rate of the collective, GB/s", ge=0)
    exact_algbw: Exact = omitted("exact rate")
    gain: float = omitted("rise of the rate, as a share of the rate of the best topology")
    least_seconds: float = omitted("lower bound of the time of trees in lock step")
    reason: str = omitted("reason for the absence of a topology")


class UnratedDocument(Document):
    """A topology that is not rated."""

    between: str = Field(description="recipe of the topology between boxes")
    reason: str = Field(description="reason")


class BoxDesignDocument(Document):
    """box-design/1."""

    schema_: Literal["box-design/1"] = Field(alias="schema", description="box-design/1")
    id: Identity = Field(description="id of the design")
    request: BoxDesignRequest = Field(description="request with defaults")
    accelerators: int = Field(description="accelerators of all boxes", ge=2)
    best: BoxRowDocument = Field(description="fastest topology without switches between boxes")
    topology_id: Identity = Field(description="id of the best topology")
    bound_seconds: float = Field(
        description="lower bound of the time for all topologies without switches between boxes"
    )
    topologies: list[BoxRowDocument] = Field(description="all rated topologies, fastest first")
    more_cables: list[MoreCablesDocument] = Field(
        description="best rates with one more cable for each box, and for each accelerator"
    )
    left_out: list[UnratedDocument] = omitted("topologies that are not rated")
    notes: list[str] = Field(description="facts that the request does not state")


class BoxDesignSummary(Document):
    """Summary of a design of boxes in lists."""

    name: str = Field(description="recipe of the best fabric")
    accelerators: int = Field(description="accelerators of all boxes", ge=2)
    algbw: float = Field(description="best rate of the collective, GB/s", ge=0)


class BoxDesignAnswer(NamedTuple):
    """A request, its answer, and the id of the best topology."""

    request: BoxDesignRequest
    found: "BoxDesign"
    topology_id: str


def of(
    request: BoxDesignRequest, found: "BoxDesign", topology_id: str, identity: str
) -> dict[str, Any]:
    """Return the box-design/1 document."""
    best = found.best
    left_out = [UnratedDocument(between=b, reason=r) for b, r in found.left_out]
    document = BoxDesignDocument(
        schema="box-design/1",
        id=identity,
        request=request,
        accelerators=len(best.topology.compute_nodes),
        best=_row(best, request),
        topology_id=topology_id,
        bound_seconds=found.bound_seconds,
        topologies=[_row(row, request) for row in found.rows],
        more_cables=[_more(one, best) for one in found.more],
        notes=notes_of(request, found),
        **given_members(left_out=left_out or None),
    )
    return document.given() | {"request": request.canonical()}


def notes_of(request: BoxDesignRequest, found: "BoxDesign") -> list[str]:
    """Return what the request does not state, as sentences."""
    notes = [
        f"{fact.text} (change: {_CHANGED_BY[fact.option]})"
        if fact.option in _CHANGED_BY
        else fact.text
        for fact in found.best.topology.assumed
    ]
    if request.boxes_per_rack is None:
        notes.append(
            "Each box is a rack of its own, so all cables between boxes are optics. (change: "
            f"{boxes.BOXES_PER_RACK.spelling})"
        )
    return notes


def _row(row: "BoxRow", request: BoxDesignRequest) -> BoxRowDocument:
    counts, prices = row.cables, request.prices
    cost = None if prices is None else rounded(counts.cost(*prices))
    racks = None if request.boxes_per_rack is None else [list(rack) for rack in row.racks]
    return BoxRowDocument(
        kind=row.candidate.kind,  # pyright: ignore[reportArgumentType]
        recipe=row.text,
        between=row.candidate.between,
        algbw=rounded(row.algbw),
        exact_algbw=str(row.algbw),
        hops=row.hops,
        least_seconds=row.least_seconds,
        cables=CablesDocument(
            inside=float(counts.inside),
            copper=float(counts.copper),
            optics=float(counts.optics),
            **given_members(cost=cost),
        ),
        **given_members(seconds=row.seconds, racks=racks),
    )


def _more(one: "MoreCables", best: "BoxRow") -> MoreCablesDocument:
    if one.row is None:
        return MoreCablesDocument(degree=one.cables, reason=one.reason)
    return MoreCablesDocument(
        degree=one.cables,
        recipe=one.row.text,
        algbw=rounded(one.row.algbw),
        exact_algbw=str(one.row.algbw),
        gain=rounded(one.row.algbw / best.algbw - 1),
        least_seconds=one.row.least_seconds,
    )


def _encode(answer: BoxDesignAnswer, identity: str) -> Computed:
    document = of(*answer, identity)
    best = document["best"]
    summary = BoxDesignSummary(
        name=best["recipe"], accelerators=document["accelerators"], algbw=best["algbw"]
    )
    return Computed.json(document, summary.given())


BOX_DESIGN = Kind("box-design", _encode)
