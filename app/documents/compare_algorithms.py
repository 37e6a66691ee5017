"""The member ``fabric`` of comparison/1: all algorithms for a collective, by message size."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from pydantic import Field

from topoloom.app.documents.base import (
    AssumptionDocument,
    Document,
    Exact,
    Identity,
    Node,
    Subject,
    assumed_field,
    given_members,
    omitted,
    renamed_to,
)
from topoloom.synth.topology.assumptions import assumed_members

if TYPE_CHECKING:
    from topoloom.schedules.compare.compare_algorithms import AlgorithmComparison, ComparedAlgorithm


@dataclass(frozen=True, slots=True)
class ComparedFabric:
    """All algorithms for a collective on a stored topology, and the sizes of the times."""

    subject: Subject
    ranks: int
    collective: str
    root: int | str | None
    found: "AlgorithmComparison"
    sizes: Sequence[int]


JudgedBy: TypeAlias = Literal["simulation", "full rounds"]
"""`schedules.simulate.JudgedBy`, without its compiled code."""


class AlgorithmDocument(Document):
    """An algorithm for the collective."""

    name: str = Field(
        description="value of topoloom schedule --algorithm, or the name of a baseline"
    )
    kind: Literal["steps", "trees", "routes"] = Field(description="form of the schedule")
    hops: int = Field(description="hop latencies of the smallest message", ge=0)
    algbw: float = Field(description="bytes per time for large data, GB/s", ge=0)
    trees_per_root: int = omitted("trees: number per shard", ge=1)
    judged_by: JudgedBy = Field(
        description="source of the times: simulation, or full rounds (a bound) where switches "
        "copy or links share a limit, which the simulator does not model"
    )


class SwitchDocument(Document):
    """The fastest algorithm, from a data size on."""

    from_bytes: int = Field(description="first integer number of bytes", ge=1)
    start: Exact = Field(description="exact size of equal time with the previous algorithm")
    name: str = Field(description="name of the algorithm")


class TimeDocument(Document):
    """The time of an algorithm for a data size."""

    name: str = Field(description="name of the algorithm")
    seconds: float = Field(description="time", ge=0)
    chunks: int = Field(description="chunks of each tree's data; 1 for steps", ge=1)


class SizeDocument(Document):
    """The times of all algorithms for a data size."""

    bytes: int = Field(
        description="data size: the result of an allgather, else the input of every rank", ge=1
    )
    fastest: str = Field(description="name of the fastest algorithm")
    times: list[TimeDocument] = Field(description="times of all algorithms, in order")


class LeftOutDocument(Document):
    """An algorithm that is not compared."""

    name: str = Field(description="name of the algorithm")
    reason: str = Field(description="reason")


class FabricDocument(Document):
    """All algorithms for a collective on a topology."""

    topology_id: Identity = Field(description="id of the topology")
    name: str = Field(description="name of the topology; may be empty")
    assumed: list[AssumptionDocument] = assumed_field()
    nodes: int = Field(description="number of ranks", ge=1)
    collective: str = Field(description="collective to run")
    root: Node = omitted("source of a broadcast or destination of a reduce")
    algorithms: list[AlgorithmDocument] = omitted(
        "algorithms; of equivalent algorithms only the first"
    )
    ways: list[AlgorithmDocument] = renamed_to("algorithms")
    switch_over: list[SwitchDocument] = Field(description="fastest algorithm by data size")
    sizes: list[SizeDocument] = Field(description="times for some data sizes")
    left_out: list[LeftOutDocument] = Field(
        description="algorithms that are not compared, with reasons"
    )


def fabric_document(answer: ComparedFabric) -> FabricDocument:
    """Return the document of a comparison on a fabric."""
    found = answer.found
    algorithms = [_algorithm(one) for one in found.ways]
    return FabricDocument(
        topology_id=answer.subject.id,
        name=answer.subject.name,
        nodes=answer.ranks,
        collective=answer.collective,
        algorithms=algorithms,
        ways=algorithms,
        switch_over=[
            SwitchDocument(from_bytes=one.first_bytes, start=str(one.start), name=one.name)
            for one in found.ranges
        ],
        sizes=[_size(found, size) for size in answer.sizes],
        left_out=[LeftOutDocument(name=one.name, reason=one.reason) for one in found.left_out],
        **assumed_members(answer.subject.assumed),
        **given_members(root=answer.root),
    )


def _algorithm(way: "ComparedAlgorithm") -> AlgorithmDocument:
    algbw = round(float(way.rate / 10**9), 6)
    return AlgorithmDocument(
        name=way.name,
        kind=way.kind,
        hops=way.hops,
        algbw=algbw,
        judged_by=way.judge.judged_by,
        **given_members(trees_per_root=way.trees_per_root),
    )


def _size(found: "AlgorithmComparison", size: int) -> SizeDocument:
    times = []
    for way in found.ways:
        judged = way.judge.time(size)
        seconds = float(judged.seconds)
        times.append(TimeDocument(name=way.name, seconds=seconds, chunks=judged.chunks))
    return SizeDocument(bytes=size, fastest=found.fastest(size).name, times=times)
