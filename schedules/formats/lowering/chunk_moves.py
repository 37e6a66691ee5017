"""Moves of a program: chunks between places in the buffers of GPUs, in one order for all."""

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from topoloom.schedules.model.schedule import Collective

Place: TypeAlias = tuple[str, int]
"""Buffer (``i``, ``o`` or ``s``) and first chunk in it."""


class Move(NamedTuple):
    """``length`` chunks from ``source`` to ``target``.

    ``chunk`` is the number of the first chunk; in an all-to-all, the place where it is stored.

    The sender reads at ``origin``, the receiver stores at ``goal``.  If the receiver adds the
    chunks to its own data, ``operand`` is the place of that data; else None.  A move from a GPU to
    itself is a copy, or adds ``origin`` to ``goal``, which is ``operand``.
    """

    source: int
    target: int
    chunk: int
    length: int
    origin: Place
    goal: Place
    operand: Place | None

    @property
    def is_local(self) -> bool:
        """Whether the move stays on its GPU."""
        return self.source == self.target


@dataclass(frozen=True, slots=True)
class MovePlan:
    """All moves in order, and the sizes of the buffers in chunks.

    ``folds``: an allreduce in one pass, whose shards are whole contributions.  ``bounds``: the
    bounds of unequal shards, in chunks.  ``idle``: GPUs that take no part but may forward data.
    """

    collective: Collective
    gpus: int
    chunks_per_shard: int
    inplace: bool
    scratch: tuple[int, ...]
    moves: tuple[Move, ...]
    folds: bool = False
    bounds: tuple[int, ...] = ()
    idle: frozenset[int] = frozenset()

    @property
    def whole(self) -> int:
        """Chunks of the larger of a GPU's input and output."""
        if self.bounds:
            return self.bounds[-1]
        return (1 if self.folds else self.gpus) * self.chunks_per_shard

    def share(self, gpu: int) -> int:
        """Return the chunks of a GPU's shard."""
        if self.bounds:
            return self.bounds[gpu + 1] - self.bounds[gpu]
        return self.chunks_per_shard

    def sizes(self, gpu: int) -> tuple[int, int]:
        """Return the chunks of a GPU's input and of its output; all chunks for an idle GPU."""
        gathers = self.collective is Collective.ALLGATHER and gpu not in self.idle
        scatters = self.collective is Collective.REDUCE_SCATTER and gpu not in self.idle
        share = self.share(gpu)
        return share if gathers else self.whole, share if scatters else self.whole

    def copies_own(self, gpu: int) -> bool:
        """Return whether a GPU copies its own shard from its input to its output."""
        if self.collective is Collective.ALL_TO_ALL:
            return True
        return self.collective.outward and not self.inplace and self.share(gpu) > 0

    def own(self, gpu: int) -> tuple[Place, Place]:
        """Return the source and the target of the copy of a GPU's own shard."""
        there = self.bounds[gpu] if self.bounds else gpu * self.chunks_per_shard
        return ("i", there if self.collective is Collective.ALL_TO_ALL else 0), ("o", there)
