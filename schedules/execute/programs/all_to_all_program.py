"""Programs for a transcript of an all-to-all: received blocks go to the output or to the relay.

Every unit of the data has a source and a target, so each rank keeps at most one copy of a unit:
its own in `DATA`, units for it in `OUTPUT`, all others in `RELAY`.
"""

from collections import defaultdict

import numpy as np

from topoloom.schedules.errors import InvalidProgram, TooLarge
from topoloom.schedules.execute.limits import MAX_PIECES
from topoloom.schedules.execute.programs.rank_program import DATA, OUTPUT, RELAY, Piece, Program
from topoloom.schedules.execute.programs.route_program import Sent, block_size, program_of_hops
from topoloom.schedules.model.schedule import COPY
from topoloom.schedules.model.transcript import Message, Transcript, message_rounds


def programs_of_exchange(transcript: Transcript, elements: int) -> tuple[Program, ...]:
    """Return the program of each rank for an all-to-all of ``elements`` per rank.

    A message is sent in the first round after the messages that delivered its data.  Blocks and
    parts that are no whole number of elements are rounded as in `route_program`.

    Raises:
        InvalidProgram: A rank sends data that is not its own and has not arrived there.
        TooLarge: The messages have more than `limits.MAX_PIECES` pieces.

    >>> from topoloom.schedules.model.schedule import Collective
    >>> from topoloom.schedules.model.transcript import Span
    >>> there, back = Message(0, 1, (Span(1, 2, 1),), ()), Message(1, 0, (Span(2, 3, 2),), ())
    >>> pair = Transcript(Collective.ALL_TO_ALL, (0, 2, 4), (there, back))
    >>> [program.relay for program in programs_of_exchange(pair, 10)]
    [0, 0]
    """
    places = _Places(transcript, elements)
    sent: Sent = defaultdict(list)
    pieces, level = 0, message_rounds(transcript)
    for at in sorted(range(len(level)), key=level.__getitem__):
        message = transcript.messages[at]
        found = places.moved(at, message)
        pieces += len(found)
        if pieces > MAX_PIECES:
            raise TooLarge("/messages", f"must have at most {MAX_PIECES} pieces in all")
        if found:
            sent[level[at], message.source, message.target] += found
    return tuple(program_of_hops(at, sent, places.relay[at]) for at in transcript.ranks)


class _Places:
    """Places of the data at every rank, by piece: units of one block that all messages share."""

    def __init__(self, transcript: Transcript, elements: int) -> None:
        self.elements, self.ranks = elements, len(transcript.ranks)
        self.block = transcript.units // self.ranks**2
        spans = [span for message in transcript.messages for span in message.spans]
        blocks = range(0, transcript.units + 1, self.block)
        cuts = {*blocks, *(span.first for span in spans), *(span.past for span in spans)}
        self.cuts = np.array(sorted(cuts), np.int64)
        self.relay = [0] * self.ranks
        self.kept: list[dict[int, int]] = [{} for _ in range(self.ranks)]

    def moved(self, at: int, message: Message) -> list[tuple[Piece, Piece]]:
        """Return source and target of the pieces of a message, without empty pieces."""
        found = []
        for span in message.spans:
            low, high = np.searchsorted(self.cuts, [span.first, span.past]).tolist()
            for piece in range(low, high):
                here = self._place(message.source, piece, arriving=False)
                if here is None:
                    raise InvalidProgram(
                        f"/messages/{at}", f"rank {message.source} must hold what it sends"
                    )
                there = self._place(message.target, piece, arriving=True)
                if there is not None and here.first < here.past:
                    found.append((here, there))
        return found

    def _place(self, rank: int, piece: int, *, arriving: bool) -> Piece | None:
        """Return the place of a piece at a rank; allocate it if the piece arrives."""
        first, past = self.cuts[piece : piece + 2].tolist()
        source, rest = divmod(first, self.block * self.ranks)
        target, low = divmod(rest, self.block)
        size = block_size(target, source, self.ranks, self.elements)
        start, end = size * low // self.block, size * (low + past - first) // self.block
        if rank == source:
            base = self.elements * target // self.ranks
            return Piece(DATA, base + start, base + end, COPY)
        if rank == target:
            base = self.elements * source // self.ranks
            return Piece(OUTPUT, base + start, base + end, COPY)
        if arriving and piece not in self.kept[rank]:
            self.kept[rank][piece] = self.relay[rank]
            self.relay[rank] += end - start
        base = self.kept[rank].get(piece)
        return None if base is None else Piece(RELAY, base, base + end - start, COPY)
