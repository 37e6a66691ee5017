"""The nodes of one rank's trace, whatever the format; times in nanoseconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple, TypeAlias

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.iterations.communications import Traffic
from topoloom.synth.naming.suggestions import one_of

MAX_NODES = 1_000_000
"""Most nodes of all ranks together."""
MAX_RANKS = 2**16
"""Ranks of the most hosts with the most accelerators."""

Group: TypeAlias = tuple[int, ...] | str | None
"""Ranks of a process group in rising order; dimensions such as ``expert+data``; or all ranks."""


class Kind(Enum):
    """The work of a node; a join is a point in time."""

    COMPUTE = auto()
    HOST = auto()
    COLLECTIVE = auto()
    SEND = auto()
    RECEIVE = auto()
    JOIN = auto()


class Node(NamedTuple):
    """One node of a trace.

    Attributes:
        name: Its name in the file.
        kind: Its work.
        before: Positions in the trace of the nodes that end first.
        start: Measured start in nanoseconds; 0 if the trace has none.
        nanoseconds, flops: Of a computation: its duration, or its floating-point operations.
        stream: Nodes of a stream run one after another; empty: the default of the kind.
        group, traffic, size: Of a collective: its ranks, and its bytes as in
            `iterations.communications.Network`; with ``of_shard`` those of one rank.
        peer, tag: Of a message: the other rank, and the number that pairs its ends.
    """

    name: str
    kind: Kind
    before: tuple[int, ...] = ()
    start: int = 0
    nanoseconds: int = 0
    flops: int = 0
    stream: str = ""
    group: Group = None
    traffic: Traffic = Traffic.ALLREDUCE
    size: int = 0
    of_shard: bool = False
    peer: int = -1
    tag: int = 0


@dataclass(frozen=True, slots=True)
class RankTrace:
    """The trace of a rank.

    Attributes:
        file: Name of its file.
        rank: The rank; of a trace that states ``sizes``, its pipeline stage.
        nodes: Its nodes, in the order of the file.
        ranks: Ranks of the job, as far as the file states them.
        sizes: Sizes of parallelism such as ``tensor=2,pipeline=4``, if the file states them.
        titles: Descriptions of process groups, by their ranks.
        notes: Assumptions of the reader, as sentences.
    """

    file: str
    rank: int
    nodes: tuple[Node, ...]
    ranks: int = 0
    sizes: str = ""
    titles: Mapping[tuple[int, ...], str] = field(default_factory=dict[tuple[int, ...], str])
    notes: tuple[str, ...] = ()

    @property
    def work(self) -> tuple[int, int]:
        """The nanoseconds and the floating-point operations of all computations."""
        computed = [one for one in self.nodes if one.kind is Kind.COMPUTE]
        return sum(one.nanoseconds for one in computed), sum(one.flops for one in computed)


ROOTED = "A broadcast or gather runs as an allgather, a reduce or scatter as a reduce-scatter."

COLLECTIVES: Mapping[str, Traffic] = {
    "allreduce": Traffic.ALLREDUCE,
    "allgather": Traffic.ALLGATHER,
    "alltoall": Traffic.ALL_TO_ALL,
    "reducescatter": Traffic.REDUCE_SCATTER,
    "broadcast": Traffic.ALLGATHER,
    "gather": Traffic.ALLGATHER,
    "scatter": Traffic.REDUCE_SCATTER,
    "reduce": Traffic.REDUCE_SCATTER,
    "barrier": Traffic.ALLREDUCE,
}
"""Names without separators, longer names before those that they contain."""


def collective_named(text: str, file: str, node: object) -> tuple[str, Traffic]:
    """Return the name of `COLLECTIVES` that a text has, and how the collective runs.

    >>> collective_named("_allgather_base", "rank0.json", 1)[0]
    'allgather'
    """
    plain = text.replace("_", "").replace("-", "").lower()
    for name, traffic in COLLECTIVES.items():
        if name in plain:
            return name, traffic
    raise fault(file, node, f"collective {one_of(text[:50], COLLECTIVES)}")


def fault(file: str, node: object, rule: str) -> NoSchedule:
    """Return the error of a node in a file, or of a file; ``node`` is None then.

    >>> fault("a.et", 3, "must state comm_size").rule
    'a.et: node 3: must state comm_size'
    """
    where = file[:200] if node is None else f"{file[:200]}: node {node}"
    return NoSchedule("", f"{where}: {rule}")
