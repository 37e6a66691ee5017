"""Collectives and schedules: definitions and conventions.

**Data.**  The ranks are the compute nodes of the topology, in its order.  There are N ranks.
The data is cut into N equal *shards*; shard i belongs to rank i.  Tree schedules may give the
shards other *sizes*, including 0.  They may also exclude compute nodes: such *idle* nodes
hold no data but forward it as switches do.

**Collectives.**

- Allgather: initially rank i holds shard i; finally every rank holds every shard.
- Reduce-scatter: initially every rank holds its own contribution to every shard; finally rank i
  holds shard i reduced over all ranks, with each contribution counted exactly once.
- Allreduce: starts as reduce-scatter; finally every rank holds every reduced shard.
- Broadcast and reduce, in tree schedules only: allgather and reduce-scatter in which the root's
  shard has size 1 and all others have size 0.
- All-to-all: initially rank i holds N blocks; finally rank j holds the block of each rank i
  that is addressed to j.

**Step schedules** are synchronous: all sends of a step read the data that the ranks hold
before the step.  Received data is available in the next step.  Each shard is cut into
``chunks_per_shard`` equal chunks.

An allreduce in steps is *in one pass*: shard i is the whole contribution of rank i.  Every rank
gathers all contributions and reduces them locally, in rank order.  Each shard is therefore as
large as the data, not 1/N of it.

**Tree schedules** are pipelined: each tree carries ``weight / trees_per_root`` of a
unit of its root's shard along all its edges at once.  An edge is a path
``(sender, switch, ..., switch, receiver)``.  In an allgather and a broadcast, edges lead away
from the root; in a reduce-scatter and a reduce, they lead towards it.  Edges are listed in
breadth-first order from the root; edges towards the root run last to first.

**Route schedules** are for all-to-all: the block from rank i to rank j takes one or more paths.
Each path carries ``weight / units_per_pair`` of the block.  All paths are pipelined at once.

**Sequences** run their parts one after another.  An allreduce by trees whose parts run
``together`` is pipelined as a whole: every shard is cut into slices.  The trees of a part divide
each slice by weight, and a reduced slice is broadcast while later slices are still being reduced.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import NoSchedule, UnknownCollective
from topoloom.synth.naming.suggestions import one_of
from topoloom.synth.topology.notebook import html_table
from topoloom.synth.topology.topology import NodeId


class Collective(StrEnum):
    """Collectives that a schedule can perform."""

    ALLGATHER = "allgather"
    REDUCE_SCATTER = "reduce-scatter"
    ALLREDUCE = "allreduce"
    BROADCAST = "broadcast"
    REDUCE = "reduce"
    ALL_TO_ALL = "all-to-all"

    @property
    def outward(self) -> bool:
        """Whether trees lead away from their roots."""
        return self in (Collective.ALLGATHER, Collective.BROADCAST)

    @property
    def inward(self) -> bool:
        """Whether trees lead to their roots, which keep the sums."""
        return self in (Collective.REDUCE_SCATTER, Collective.REDUCE)

    @property
    def has_root(self) -> bool:
        """Whether all data starts or ends at one rank."""
        return self in (Collective.BROADCAST, Collective.REDUCE)

    @classmethod
    def of(cls, text: str) -> "Collective":
        """Return the collective with a name.

        >>> Collective.of("reduce-scatter")
        <Collective.REDUCE_SCATTER: 'reduce-scatter'>
        >>> Collective.of("gossip")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        topoloom.schedules.errors.UnknownCollective: /collective: must be one of ...
        """
        if text in cls._value2member_map_:
            return cls(text)
        raise UnknownCollective("/collective", one_of(text, [member.value for member in cls]))


COPY, REDUCE = 0, 1
NO_LINK = -1

SEND = np.dtype(
    [
        ("source", np.int32),
        ("target", np.int32),
        ("shard", np.int32),
        ("first", np.int32),
        ("count", np.int32),
        ("link", np.int32),
        ("op", np.uint8),
    ]
)
"""One send.  ``source``, ``target``: ranks joined by a link.  ``shard``: the rank that owns
the shard.  ``first``, ``count``: chunks [first, first + count).  ``link``: index among the
parallel links from source to target, from 0 in the order of ``Topology.links``; NO_LINK where
there is only one link.  ``op``: COPY stores the received data; REDUCE adds it to the target's."""


class _ShownInNotebooks:
    """Shows the facts of a schedule in notebooks."""

    __slots__ = ()
    collective: Collective
    topology: str

    def _repr_html_(self) -> str:
        facts = {"collective": self.collective, "topology": self.topology, **_own_facts(self)}
        return html_table("Schedule", ("fact", "value"), facts.items())


@dataclass(frozen=True, eq=False, slots=True)
class StepSchedule(_ShownInNotebooks):
    """Synchronous sends, step by step.

    ``topology`` is the digest of the topology; ``ranks`` are the topology's compute nodes in order.
    ``steps`` holds one array of dtype `SEND` per step.
    """

    collective: Collective
    topology: str
    ranks: tuple[NodeId, ...]
    chunks_per_shard: int
    steps: tuple[NDArray[Any], ...]

    @property
    def in_one_pass(self) -> bool:
        """Whether the schedule is an allreduce in which every rank gathers all contributions."""
        return self.collective is Collective.ALLREDUCE

    @property
    def shard_size(self) -> Fraction:
        """The share of the data in one shard: 1/N, or 1 in one pass.

        >>> StepSchedule(Collective.ALLGATHER, "sha256:0", (0, 1, 2), 1, ()).shard_size
        Fraction(1, 3)
        """
        return Fraction(1, 1 if self.in_one_pass else len(self.ranks))


@dataclass(frozen=True, slots=True)
class Tree:
    """A spanning tree of the ranks; the module's notes define edges and order."""

    root: NodeId
    weight: int
    edges: tuple[tuple[NodeId, ...], ...]


def tree_height(tree: Tree) -> int:
    """Return the largest number of rank-to-rank hops between the root and any other rank.

    Edges may lead either way.  If the edges form no tree, only reachable ranks count.

    >>> tree_height(Tree("a", 1, (("a", "s", "b"), ("b", "c"))))
    2
    >>> tree_height(Tree("a", 1, (("c", "b"), ("b", "s", "a"))))
    2
    """
    outward = any(edge[0] == tree.root for edge in tree.edges)
    below: dict[NodeId, list[NodeId]] = {}
    for edge in tree.edges:
        near, far = (edge[0], edge[-1]) if outward else (edge[-1], edge[0])
        below.setdefault(near, []).append(far)
    level, height = [tree.root], -1
    while level:
        height += 1
        level = [far for node in level for far in below.pop(node, ())]
    return height


@dataclass(frozen=True, slots=True)
class TreeSchedule(_ShownInNotebooks):
    """Pipelined spanning trees of the ranks.

    ``trees`` is a tuple, or for many ranks a `schedules.model.tree_table.TreeTable`.
    ``ranks`` and ``idle`` partition the topology's compute nodes, each in the topology's order.
    Per root the weights sum to ``trees_per_root`` times the size of its shard.
    ``shards`` are these sizes, one per rank; empty if all are 1.
    """

    collective: Collective
    topology: str
    ranks: tuple[NodeId, ...]
    trees_per_root: int
    trees: Sequence[Tree]
    shards: tuple[int, ...] = ()
    idle: tuple[NodeId, ...] = ()

    @property
    def sizes(self) -> tuple[int, ...]:
        """The size of every rank's shard."""
        return self.shards or (1,) * len(self.ranks)

    @property
    def root(self) -> NodeId | None:
        """The rank whose shard has size 1 if all others have size 0; else None."""
        if sorted(self.sizes) != [0] * (len(self.ranks) - 1) + [1]:
            return None
        return self.ranks[self.sizes.index(1)]


@dataclass(frozen=True, slots=True)
class Route:
    """A path from the sending rank, over forwarding nodes, to the receiving rank."""

    path: tuple[NodeId, ...]
    weight: int


@dataclass(frozen=True, slots=True)
class RouteSchedule(_ShownInNotebooks):
    """An all-to-all by routes; the weights of each ordered pair sum to ``units_per_pair``.

    ``routes`` is a tuple, or for many hosts a `schedules.model.route_table.RouteTable`.
    ``ranks`` and ``idle`` partition the topology's compute nodes.
    """

    collective: Collective
    topology: str
    ranks: tuple[NodeId, ...]
    units_per_pair: int
    routes: Sequence[Route]
    idle: tuple[NodeId, ...] = ()


@dataclass(frozen=True, slots=True)
class SequenceSchedule(_ShownInNotebooks):
    """Schedules that run in sequence on one topology; parts by trees may run ``together``."""

    collective: Collective
    topology: str
    parts: tuple["StepSchedule | TreeSchedule", ...]
    together: bool = False


Schedule: TypeAlias = StepSchedule | TreeSchedule | RouteSchedule | SequenceSchedule


def schedule_parts(schedule: Schedule) -> tuple[StepSchedule | TreeSchedule, ...]:
    """Return the parts of a sequence, or the schedule itself as its only part.

    Raises:
        NoSchedule: The schedule consists of routes, which move no shards.

    >>> schedule_parts(TreeSchedule(Collective.ALLGATHER, "sha256:0", (0, 1), 1, ()))[0].ranks
    (0, 1)
    """
    if isinstance(schedule, RouteSchedule):
        raise NoSchedule("/kind", "must be steps, trees or a sequence here, not routes")
    return schedule.parts if isinstance(schedule, SequenceSchedule) else (schedule,)


def _own_facts(schedule: _ShownInNotebooks) -> dict[str, int]:
    """Return the name and the value of the facts of one kind of schedule."""
    match schedule:
        case StepSchedule(steps=steps, chunks_per_shard=chunks):
            return {"steps": len(steps), "sends": sum(map(len, steps)), "chunks per shard": chunks}
        case TreeSchedule(trees=trees, trees_per_root=each):
            return {"trees": len(trees), "trees per root": each}
        case RouteSchedule(routes=routes, units_per_pair=units):
            return {"routes": len(routes), "units per pair": units}
        case SequenceSchedule(parts=parts, together=together):
            return {"parts": len(parts), "together": together}
    return {}
