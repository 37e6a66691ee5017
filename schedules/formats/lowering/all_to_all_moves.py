"""Where the blocks of an all-to-all lie on their way: from input to output, over scratch between.

Every GPU has a block for each in its input, in the order of the GPUs, and ends with one of each in
its output.  What passes by others lies in their scratch; each part has chunks of its own there,
which are written once and read once.
"""

from collections.abc import Iterable, Iterator

from topoloom.schedules.formats.lowering.chunk_moves import Move, Place
from topoloom.schedules.formats.lowering.transfers import Transfer


class Relays:
    """Gives every part that passes by a GPU its place in scratch, in the order of arrival.

    Chunk c of what GPU s has for GPU t is number (s * gpus + t) * chunks + c of a transfer; of a
    move it is the place where it is stored, so that neighbours there may be one message.

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
        """Yield the moves of the transfers, which are in an order that none needs a later one."""
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
