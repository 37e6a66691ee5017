"""group-optimum/1: the best rates of a collective in process groups, each between exact bounds."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from topoloom.app.documents.base import (
    AboutTopology,
    Document,
    Exact,
    Node,
    Subject,
    given_members,
    omitted,
)
from topoloom.app.store.artifacts import Computed, Kind

if TYPE_CHECKING:
    from topoloom.schedules.groups.figures import GroupFigures
    from topoloom.schedules.groups.process_groups import Placement
    from topoloom.schedules.groups.rate import GroupRate


@dataclass(frozen=True, slots=True)
class GroupAnswer:
    """The rates of every kind of group; ``placement`` is None for groups given as lists."""

    subject: Subject
    bandwidth_unit: str
    found: tuple["GroupFigures", ...]
    placement: "Placement | None"


class LinkPriceDocument(Document):
    """Equivalent links with a length in the proof of a bound."""

    source: Node = Field(description="source of one of the links")
    target: Node = Field(description="target of the same link")
    count: int = Field(description="number of links", ge=1)
    length: int = Field(description="length of each link", ge=1)


class GroupRateDocument(Document):
    """A rate between two exact bounds."""

    algbw: Exact = Field(description="reached bytes per time of every group, in bandwidth_unit")
    bound: Exact = Field(description="upper bound of algbw, in bandwidth_unit")
    exact: bool = Field(description="whether algbw equals the bound")
    gap: float = Field(description="largest possible excess over the least time, as a share", ge=0)
    cut: list[Node] = omitted("node set whose links prove the bound")
    prices: list[LinkPriceDocument] = omitted(
        "lengths of links that prove the bound; other links have length 0"
    )


class GroupKindDocument(Document):
    """The rates of one kind of group."""

    kind: str = Field(description="dimension, or dimensions joined by +; hosts for lists of hosts")
    size: int = Field(description="hosts of each group", ge=2)
    collective: str = omitted("with traffic: collective of every group of the kind")
    bytes: int = omitted("with traffic: bytes of every group of the kind", ge=1)
    groups: list[list[Node]] = Field(description="hosts of each group, in rank order")
    members_only: GroupRateDocument = omitted(
        "one group on links among its members and switches; absent if these links do not connect it"
    )
    alone: GroupRateDocument = Field(description="one group with the whole fabric")
    together: GroupRateDocument = Field(
        description="every group, with all groups of the kind at once"
    )
    all_kinds: GroupRateDocument = omitted(
        "with traffic: every group, with the groups of all kinds at once, which end together"
    )


class PlacedRankDocument(Document):
    """The host of a rank, and its coordinates."""

    host: Node = Field(description="id of the compute node")
    coordinates: list[int] = Field(description="coordinates in the order of `dimensions`")


class DimensionDocument(Document):
    """A dimension of the job."""

    name: str = Field(description="tensor, context, expert, data or pipeline")
    size: int = Field(description="ranks along the dimension", ge=1)


class GroupOptimumDocument(AboutTopology[Literal["group-optimum/1"]]):
    """group-optimum/1: the best rates of a collective in process groups."""

    collective: str = omitted("collective of every group; absent with traffic")
    bandwidth_unit: str = Field(description="unit of capacities and algbw")
    kinds: list[GroupKindDocument] = Field(description="kinds of groups")
    dimensions: list[DimensionDocument] = omitted("dimensions of the job, fastest first")
    ranks: list[PlacedRankDocument] = omitted("host of every rank, in rank order")


def of(answer: GroupAnswer, identity: str) -> GroupOptimumDocument:
    """Return the group-optimum/1 document."""
    more: dict[str, Any] = {}
    if answer.found[0].all_kinds is None:
        more["collective"] = answer.found[0].collective.value
    if answer.placement is not None:
        job = answer.placement.processes
        more["dimensions"] = [DimensionDocument(name=name, size=size) for name, size in job.sizes]
        more["ranks"] = [
            PlacedRankDocument(host=host, coordinates=list(job.coordinates(rank)))
            for rank, host in enumerate(answer.placement.hosts)
        ]
    return GroupOptimumDocument(
        schema="group-optimum/1",
        id=identity,
        **answer.subject.members(),
        bandwidth_unit=answer.bandwidth_unit,
        kinds=[_kind(one) for one in answer.found],
        **more,
    )


def _kind(found: "GroupFigures") -> GroupKindDocument:
    own: dict[str, Any] = {}
    if found.all_kinds is not None:
        own = {"collective": found.collective.value, "bytes": found.size_bytes}
        own["all_kinds"] = _rate(found.all_kinds)
    if found.members_only is not None:
        own["members_only"] = _rate(found.members_only)
    return GroupKindDocument(
        kind=found.kind,
        size=len(found.groups[0]),
        groups=[list(members) for members in found.groups],
        **own,
        alone=_rate(found.alone),
        together=_rate(found.together),
    )


def _rate(found: "GroupRate") -> GroupRateDocument:
    prices = [
        LinkPriceDocument(
            source=one.example[0], target=one.example[1], count=one.count, length=one.length
        )
        for one in found.prices
    ]
    return GroupRateDocument(
        algbw=str(found.algbw),
        bound=str(found.bound),
        exact=found.exact,
        gap=round(float(found.gap), 9),
        **given_members(cut=list(found.cut) or None, prices=prices or None),
    )


def _encode(answer: GroupAnswer, identity: str) -> Computed:
    slowest = min((one.all_kinds or one.together).algbw for one in answer.found)
    summary = {"name": answer.subject.name, "inverse_rate": str(1 / slowest)}
    return Computed.json(of(answer, identity).given(), summary)


GROUP_OPTIMUM = Kind("optimum", _encode)
"""Stored in the table of optima, with the optima of all hosts."""
