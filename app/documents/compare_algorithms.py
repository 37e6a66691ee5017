"""What comparison/1 says of a fabric: every way to run a collective there, by message size."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from topoloom.app.documents.base import (
    AssumptionDocument,
    Document,
    Exact,
    Identity,
    Node,
    Subject,
    assumed_field,
    omitted,
)
from topoloom.synth.topology.assumptions import assumed_members

if TYPE_CHECKING:
    from topoloom.schedules.compare.compare_algorithms import Way, Ways


@dataclass(frozen=True, slots=True)
class ComparedFabric:
    """All ways to run a collective on a stored topology, and the sizes that times are told for."""

    subject: Subject
    ranks: int
    collective: str
    root: int | str | None
    found: "Ways"
    sizes: Sequence[int]


class WayDocument(Document):
    """A way to run the collective."""

    name: str = Field(
        description="what topoloom schedule --algorithm takes to make it, or an opponent's name"
    )
    kind: Literal["steps", "trees", "routes"] = Field(description="what its schedule is made of")
    hops: int = Field(description="latencies that the smallest message pays", ge=0)
    algbw: float = Field(description="bytes per time of much data, GB/s", ge=0)
    trees_per_root: int = omitted("of trees: how many each shard has", ge=1)


class SwitchDocument(Document):
    """From which size on a way is the fastest."""

    from_bytes: int = Field(description="the first whole number of bytes", ge=1)
    start: Exact = Field(description="the size at which it is as fast as the one before, exactly")
    name: str = Field(description="name of the way")


class TimeDocument(Document):
    """How long a way takes for a size."""

    name: str = Field(description="name of the way")
    seconds: float = Field(description="its time", ge=0)
    chunks: int = Field(description="pieces that each tree's data is cut into; 1 of steps", ge=1)


class SizeDocument(Document):
    """A size of data, and what every way takes for it."""

    bytes: int = Field(
        description="allgather: size of the result; else of every rank's input", ge=1
    )
    fastest: str = Field(description="name of the fastest way")
    times: list[TimeDocument] = Field(description="of every way, in their order")


class LeftOutDocument(Document):
    """A way that is not compared."""

    name: str = Field(description="what would make it")
    reason: str = Field(description="why it does not run there, or was not made")


class FabricDocument(Document):
    """Every way to run a collective on a topology."""

    topology_id: Identity = Field(description="what the topology is stored under")
    name: str = Field(description="its name; empty if it has none")
    assumed: list[AssumptionDocument] = assumed_field()
    nodes: int = Field(description="number of ranks", ge=1)
    collective: str = Field(description="what is run")
    root: Node = omitted("of a broadcast or reduce: where the data begins or ends")
    ways: list[WayDocument] = Field(description="all ways; of those alike the first")
    switch_over: list[SwitchDocument] = Field(description="who is fastest from which size on")
    sizes: list[SizeDocument] = Field(description="the times of some sizes")
    left_out: list[LeftOutDocument] = Field(description="what is not compared, and why")


def fabric_document(answer: ComparedFabric) -> FabricDocument:
    """Return a comparison on a fabric as it travels."""
    found = answer.found
    more: dict[str, Any] = assumed_members(answer.subject.assumed)
    if answer.root is not None:
        more["root"] = answer.root
    return FabricDocument(
        topology_id=answer.subject.id,
        name=answer.subject.name,
        nodes=answer.ranks,
        collective=answer.collective,
        ways=[_way(one) for one in found.ways],
        switch_over=[
            SwitchDocument(from_bytes=one.first_bytes, start=str(one.start), name=one.name)
            for one in found.ranges
        ],
        sizes=[_size(found, size) for size in answer.sizes],
        left_out=[LeftOutDocument(name=one.name, reason=one.reason) for one in found.left_out],
        **more,
    )


def _way(way: "Way") -> WayDocument:
    trees = {} if way.trees_per_root is None else {"trees_per_root": way.trees_per_root}
    algbw = round(float(way.rate / 10**9), 6)
    return WayDocument(name=way.name, kind=way.kind, hops=way.hops, algbw=algbw, **trees)


def _size(found: "Ways", size: int) -> SizeDocument:
    times = []
    for way in found.ways:
        line = way.candidate.best(size)
        seconds: Fraction = line.seconds(size)
        times.append(TimeDocument(name=way.name, seconds=float(seconds), chunks=line.chunks))
    return SizeDocument(bytes=size, fastest=found.fastest(size).name, times=times)
