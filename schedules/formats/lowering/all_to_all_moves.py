"""Places of the blocks of an all-to-all: input, scratch of the GPUs between, output.

Every GPU has a block for each GPU in its input, in the order of the GPUs, and ends with a block
from each GPU in its output.  Forwarded parts lie in scratch; each part has its own chunks there,
which are written once and read once.
"""

from collections.abc import Iterable, Iterator

from topoloom.schedules.formats.lowering.chunk_moves import Move, Place
from topoloom.schedules.formats.lowering.transfers import Transfer


class Relays:
    """Assigns each forwarded part a place in a GPU's scratch, in the order of arrival.

    In a transfer, chunk c of the block from GPU s to GPU t has number (s * gpus + t) * chunks + c.
    In a move, the number is the place of storage, so that neighboring chunks can share a message.

    >>> there, on = Transfer(0, 0, 1, 4, 2, False, False), Transfer(1, 1, 2, 4, 2, False, False)
    >>> relays = Relays(3, 2)
    >>> [(move.origin, move.goal) for move in relays.moves([there, on])], relays.scratch
    ([(('i', 4), ('s', 0)), (('s', 0), ('o', 0))], [0, 2, 0])
    """

    def __init__(self, gpus: int, chunks: int) -> None:
        self.chunks, self.whole = chunks, gpus * chunks
        self.scratch = [0] * gpus
        self._kept: dict[tuple[int, int], int] = {}

    def moves(self, transfers: Iterable[Transfer]) -> Iterator[Move]:
        """Yield the moves of the transfers; the transfers are sorted by dependency."""
        for one in transfers:
            owner, offset = divmod(one.chunk, self.whole)
            goal_gpu, part = divmod(offset, self.chunks)
            origin: Place = "i", offset
            if one.source != owner:
                origin = "s", self._kept.pop((one.source, one.chunk))
            goal: Place = "o", owner * self.chunks + part
            if one.target != goal_gpu:
                goal = "s", self.scratch[one.target]
                self._kept[one.target, one.chunk] = self.scratch[one.target]
                self.scratch[one.target] += one.length
            yield Move(one.source, one.target, goal[1], one.length, origin, goal, None)
