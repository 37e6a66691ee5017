"""What a collective demands and what a schedule is: one convention for all.

**Data.**  The ranks are the compute nodes of the topology, in its order; there are
N.  The data is cut into N equal *shards*; shard i belongs to rank i.

**Collectives.**  Allgather: at first rank i holds shard i; at the end every rank
holds every shard.  Reduce-scatter: at first every rank holds its own contribution
to every shard; at the end rank i holds shard i reduced over all ranks, each
contribution counted exactly once.  Allreduce: starts as reduce-scatter, ends with
every reduced shard on every rank.  All-to-all: at first rank i holds N blocks, at the
end rank j holds the block that each rank i had for it.

**Step schedules** are synchronous: all sends of a step read what the ranks held
before the step, and what arrives is there before the next step.  Each shard is cut
into ``chunks_per_shard`` equal chunks.

**Tree schedules** are pipelined: each tree carries ``weight / trees_per_root`` of
its root's shard along all its edges at once.  An edge is a path
``(sender, switch, ..., switch, receiver)``.  In an allgather edges lead away from
the root; in a reduce-scatter they lead towards it.  In both, edges are listed in
breadth-first order from the root (a reduce-scatter runs them last to first).

**Route schedules** are for all-to-all: what rank i has for rank j takes one or more paths,
each of which carries ``weight / units_per_pair`` of it, all at once and pipelined.

**Sequences** run their parts one after another.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from schedules.errors import UnknownCollective
from synth.topology import NodeId

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
]


class Collective(StrEnum):
    """The collectives a schedule can perform."""

    ALLGATHER = "allgather"
    REDUCE_SCATTER = "reduce-scatter"
    ALLREDUCE = "allreduce"
    ALL_TO_ALL = "all-to-all"

    @classmethod
    def of(cls, text: str) -> "Collective":
        """Return the collective of that name.

        >>> Collective.of("reduce-scatter")
        <Collective.REDUCE_SCATTER: 'reduce-scatter'>
        >>> Collective.of("gossip")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        schedules.errors.UnknownCollective: /collective: must be one of ...
        """
        if text in cls._value2member_map_:
            return cls(text)
        names = ", ".join(member.value for member in cls)
        raise UnknownCollective("/collective", f"must be one of {names}; not {text!r}")


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


@dataclass(frozen=True, slots=True)
class Tree:
    """A spanning tree of the ranks; see the module's notes for edges and order."""

    root: NodeId
    weight: int
    edges: tuple[tuple[NodeId, ...], ...]


@dataclass(frozen=True, slots=True)
class TreeSchedule:
    """Pipelined spanning trees; per root the weights add up to ``trees_per_root``."""

    collective: Collective
    topology: str
    ranks: tuple[NodeId, ...]
    trees_per_root: int
    trees: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Route:
    """A path from the rank that sends, over nodes that forward, to the rank that receives."""

    path: tuple[NodeId, ...]
    weight: int


@dataclass(frozen=True, slots=True)
class RouteSchedule:
    """An all-to-all by routes; of each ordered pair the weights add up to ``units_per_pair``."""

    collective: Collective
    topology: str
    ranks: tuple[NodeId, ...]
    units_per_pair: int
    routes: tuple[Route, ...]


@dataclass(frozen=True, slots=True)
class SequenceSchedule:
    """Schedules run one after another on the same topology."""

    collective: Collective
    topology: str
    parts: tuple["StepSchedule | TreeSchedule", ...]


Schedule: TypeAlias = StepSchedule | TreeSchedule | RouteSchedule | SequenceSchedule
