"""Places of an allreduce in one pass: contributions in scratch, their sum in the output.

Every GPU gathers all contributions, each in its own place in scratch, and then adds them in the
order of the GPUs.  So the sum has the same bits everywhere, which training with replicas relies
on.  A GPU reads its own contribution from its input.  In place the sum overwrites the input, so
the contribution is copied to scratch first.
"""

from collections.abc import Iterable, Iterator

from topoloom.schedules.formats.lowering.chunk_moves import Move, Place
from topoloom.schedules.formats.lowering.transfers import Transfer


class Folds:
    """Places of the chunks, for GPUs that contribute ``chunks`` chunks each.

    In a transfer, chunk c of GPU s's contribution has number s * chunks + c.

    >>> there, back = Transfer(0, 0, 1, 0, 1, False, True), Transfer(0, 1, 0, 1, 1, False, True)
    >>> for move in Folds(2, 1, inplace=False).moves([there, back]):
    ...     print(move.source, move.target, move.origin, move.goal, move.operand)
    0 1 ('i', 0) ('s', 0) None
    1 0 ('i', 0) ('s', 0) None
    0 0 ('i', 0) ('o', 0) None
    0 0 ('s', 0) ('o', 0) ('o', 0)
    1 1 ('s', 0) ('o', 0) None
    1 1 ('i', 0) ('o', 0) ('o', 0)
    """

    def __init__(self, gpus: int, chunks: int, inplace: bool) -> None:
        self.gpus, self.chunks, self.inplace = gpus, chunks, inplace
        self.scratch = (chunks * (gpus if inplace else gpus - 1),) * gpus

    def moves(self, transfers: Iterable[Transfer]) -> Iterator[Move]:
        """Yield the moves of the transfers, which are in order, then the additions of every GPU."""
        if self.inplace:
            for gpu in range(self.gpus):
                kept = self._kept(gpu, gpu, 0)
                yield Move(gpu, gpu, gpu * self.chunks, self.chunks, ("o", 0), kept, None)
        for one in transfers:
            owner, part = divmod(one.chunk, self.chunks)
            here, there = (self._kept(gpu, owner, part) for gpu in (one.source, one.target))
            yield Move(one.source, one.target, one.chunk, one.length, here, there, None)
        for gpu in range(self.gpus):
            for owner in range(self.gpus):
                first, kept = owner * self.chunks, self._kept(gpu, owner, 0)
                total: Place = "o", 0
                operand = total if owner else None
                yield Move(gpu, gpu, first, self.chunks, kept, total, operand)

    def _kept(self, gpu: int, owner: int, part: int) -> Place:
        """Return the place where a GPU keeps a chunk of a contribution."""
        if self.inplace:
            return "s", owner * self.chunks + part
        if gpu == owner:
            return "i", part
        return "s", (owner - (owner > gpu)) * self.chunks + part
