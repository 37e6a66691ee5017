"""What a program moves: chunks between places in the buffers of GPUs, in one order for all."""

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from schedules.model import Collective

__all__ = ["Move", "Place", "Plan"]

Place: TypeAlias = tuple[str, int]
"""Buffer (``i``, ``o`` or ``s``) and first chunk in it."""


class Move(NamedTuple):
    """``length`` chunks from ``source`` to ``target``; ``chunk`` is the first one's number.

    In an all-to-all that is the place where it is stored.

    ``origin`` is where the sender reads, ``goal`` where the receiver stores.  If the
    receiver adds them to what it has, ``operand`` is where that lies; else it is None.  Within a
    GPU, from itself to itself, it is a copy, or adds ``origin`` to ``goal``, which is ``operand``.
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
        """Whether nothing leaves the GPU."""
        return self.source == self.target


@dataclass(frozen=True, slots=True)
class Plan:
    """All moves in order, and the sizes of the buffers in chunks.

    ``folds``: it is an allreduce in one pass, whose shards are whole contributions.
    """

    collective: Collective
    gpus: int
    chunks_per_shard: int
    inplace: bool
    scratch: tuple[int, ...]
    moves: tuple[Move, ...]
    folds: bool = False

    @property
    def whole(self) -> int:
        """Chunks of the larger of a GPU's input and output."""
        return (1 if self.folds else self.gpus) * self.chunks_per_shard

    @property
    def sizes(self) -> tuple[int, int]:
        """Chunks of a GPU's input and of its output."""
        gathers = self.collective is Collective.ALLGATHER
        scatters = self.collective is Collective.REDUCE_SCATTER
        shard = self.chunks_per_shard
        return shard if gathers else self.whole, shard if scatters else self.whole

    @property
    def copies_own(self) -> bool:
        """Whether every GPU copies a shard of its own from its input to its output."""
        if self.collective is Collective.ALL_TO_ALL:
            return True
        return self.collective is Collective.ALLGATHER and not self.inplace

    def own(self, gpu: int) -> tuple[Place, Place]:
        """Return from where to where a GPU copies its own shard."""
        there = gpu * self.chunks_per_shard
        return ("i", there if self.collective is Collective.ALL_TO_ALL else 0), ("o", there)
