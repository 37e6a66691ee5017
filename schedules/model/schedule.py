"""What a collective demands and what a schedule is: one convention for all.

**Data.**  The ranks are the compute nodes of the topology, in its order; there are
N.  The data is cut into N equal *shards*; shard i belongs to rank i.  Tree schedules may
give the shards other *sizes*, 0 among them, and may leave out compute nodes: these take no
part, are *idle*, but pass data on as switches do.

**Collectives.**  Allgather: at first rank i holds shard i; at the end every rank
holds every shard.  Reduce-scatter: at first every rank holds its own contribution
to every shard; at the end rank i holds shard i reduced over all ranks, each
contribution counted exactly once.  Allreduce: starts as reduce-scatter, ends with
every reduced shard on every rank.  Broadcast and reduce, in tree schedules only, are
allgather and reduce-scatter with one shard of size 1, that of their root; the others' are 0.
All-to-all: at first rank i holds N blocks, at the end rank j holds the block that each rank
i had for it.

**Step schedules** are synchronous: all sends of a step read what the ranks held
before the step, and what arrives is there before the next step.  Each shard is cut
into ``chunks_per_shard`` equal chunks.

An allreduce in steps is *in one pass*: shard i is all that rank i contributes, the whole buffer,
which every rank gathers, and every rank adds up what it gathered by itself, in the order of the
ranks.  So each shard is as large as the data, not an N-th of it.

**Tree schedules** are pipelined: each tree carries ``weight / trees_per_root`` of a
unit of size of its root's shard along all its edges at once.  An edge is a path
``(sender, switch, ..., switch, receiver)``.  In an allgather and a broadcast edges lead away
from the root; in a reduce-scatter and a reduce they lead towards it.  In all, edges are listed in
breadth-first order from the root (those towards the root are run last to first).

**Route schedules** are for all-to-all: what rank i has for rank j takes one or more paths,
each of which carries ``weight / units_per_pair`` of it, all at once and pipelined.

**Sequences** run their parts one after another.  An allreduce by trees whose parts run
``together`` is pipelined as a whole: every shard is cut into slices, each slice between the trees
of a part by their weights, and a slice is spread while later ones are still added up.
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
from topoloom.synth.topology.topology import NodeId

__all__ = [
    "COPY",
    "NO_LINK",
    "REDUCE",
    "SEND",
    "Collective",
    "Route",
    "RouteSchedule",
    "Schedule",
    "SequenceSchedule",
    "StepSchedule",
    "Tree",
    "TreeSchedule",
    "parts_of",
    "tree_height",
]


class Collective(StrEnum):
    """The collectives a schedule can perform."""

    ALLGATHER = "allgather"
    REDUCE_SCATTER = "reduce-scatter"
    ALLREDUCE = "allreduce"
    BROADCAST = "broadcast"
    REDUCE = "reduce"
    ALL_TO_ALL = "all-to-all"

    @property
    def outward(self) -> bool:
        """Whether its trees lead away from their roots."""
        return self in (Collective.ALLGATHER, Collective.BROADCAST)

    @property
    def inward(self) -> bool:
        """Whether its trees lead to their roots, where the sums stay."""
        return self in (Collective.REDUCE_SCATTER, Collective.REDUCE)

    @property
    def has_root(self) -> bool:
        """Whether all data begins or ends at one rank."""
        return self in (Collective.BROADCAST, Collective.REDUCE)

    @classmethod
    def of(cls, text: str) -> "Collective":
        """Return the collective of that name.

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
"""One send.  ``source``, ``target``: ranks joined by a link.  ``shard``: rank whose
shard it is part of.  ``first``, ``count``: chunks [first, first + count).  ``link``:
which of the parallel links from source to target, counted from 0 in the order of
``Topology.links``, or NO_LINK when the choice does not matter (there is only one).
``op``: COPY stores what arrives; REDUCE adds it to what the target holds."""


@dataclass(frozen=True, eq=False, slots=True)
class StepSchedule:
    """Synchronous sends, step by step.

    ``topology`` is the digest of the topology it runs on, ``ranks`` that topology's
    compute nodes in order; ``steps`` holds one array of dtype `SEND` per step.
    """

    collective: Collective
    topology: str
    ranks: tuple[NodeId, ...]
    chunks_per_shard: int
    steps: tuple[NDArray[Any], ...]

    @property
    def in_one_pass(self) -> bool:
        """Whether it is an allreduce by which every rank gathers all contributions."""
        return self.collective is Collective.ALLREDUCE

    @property
    def shard_size(self) -> Fraction:
        """What share of the data a shard is: an N-th, or all of it in one pass.

        >>> StepSchedule(Collective.ALLGATHER, "sha256:0", (0, 1, 2), 1, ()).shard_size
        Fraction(1, 3)
        """
        return Fraction(1, 1 if self.in_one_pass else len(self.ranks))


@dataclass(frozen=True, slots=True)
class Tree:
    """A spanning tree of the ranks; see the module's notes for edges and order."""

    root: NodeId
    weight: int
    edges: tuple[tuple[NodeId, ...], ...]


def tree_height(tree: Tree) -> int:
    """Return the most hops from rank to rank between the root and any other, either way.

    Of edges that are no tree it is the most hops to what can be reached.

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
class TreeSchedule:
    """Pipelined spanning trees of the ranks.

    ``ranks`` and ``idle`` together are the topology's compute nodes, each in its order.
    Per root the weights add up to ``trees_per_root`` times the size of its shard.
    ``shards`` are these sizes, one per rank; it is empty where all are 1.
    """

    collective: Collective
    topology: str
    ranks: tuple[NodeId, ...]
    trees_per_root: int
    trees: tuple[Tree, ...]
    shards: tuple[int, ...] = ()
    idle: tuple[NodeId, ...] = ()

    @property
    def sizes(self) -> tuple[int, ...]:
        """The size of every rank's shard."""
        return self.shards or (1,) * len(self.ranks)

    @property
    def root(self) -> NodeId | None:
        """The one rank with a shard, if its size is 1 and all others' are 0."""
        if sorted(self.sizes) != [0] * (len(self.ranks) - 1) + [1]:
            return None
        return self.ranks[self.sizes.index(1)]


@dataclass(frozen=True, slots=True)
class Route:
    """A path from the rank that sends, over nodes that forward, to the rank that receives."""

    path: tuple[NodeId, ...]
    weight: int


@dataclass(frozen=True, slots=True)
class RouteSchedule:
    """An all-to-all by routes; of each ordered pair the weights add up to ``units_per_pair``.

    ``routes`` is a tuple, or for many hosts a `schedules.model.route_table.RouteTable`.
    """

    collective: Collective
    topology: str
    ranks: tuple[NodeId, ...]
    units_per_pair: int
    routes: Sequence[Route]


@dataclass(frozen=True, slots=True)
class SequenceSchedule:
    """Schedules run one after another on the same topology; by trees also ``together``."""

    collective: Collective
    topology: str
    parts: tuple["StepSchedule | TreeSchedule", ...]
    together: bool = False


Schedule: TypeAlias = StepSchedule | TreeSchedule | RouteSchedule | SequenceSchedule


def parts_of(schedule: Schedule) -> tuple[StepSchedule | TreeSchedule, ...]:
    """Return the parts of a schedule of shards: those of a sequence, else itself.

    Raises
    ------
    NoSchedule
        It is by routes, which move no shards.

    >>> parts_of(TreeSchedule(Collective.ALLGATHER, "sha256:0", (0, 1), 1, ()))[0].ranks
    (0, 1)
    """
    if isinstance(schedule, RouteSchedule):
        raise NoSchedule("/kind", "must be steps, trees or a sequence here, not routes")
    return schedule.parts if isinstance(schedule, SequenceSchedule) else (schedule,)
