"""Rounds of a transcript: the messages of every rank, each added or stored on arrival.

In a round all ranks send data from before the round.  Each rank keeps one value of every unit of
the data.  A received value replaces it if the received value has all its contributions, and is
added to it if they have none in common.  In an allreduce in one pass, which keeps all
contributions apart, each contribution is a shard that is gathered.
"""

from itertools import groupby

import numpy as np

from topoloom.schedules.errors import InvalidProgram, TooLarge
from topoloom.schedules.execute.limits import MAX_PIECES
from topoloom.schedules.execute.programs.plan import ExecutionPlan, group_messages
from topoloom.schedules.model.schedule import COPY, REDUCE, Collective
from topoloom.schedules.model.transcript import Span, Transcript, message_rounds

_Row = tuple[int, int, int, int, int, int]
"""Round, source, target, first and past in units, op."""


def plan_of_transcript(transcript: Transcript, elements: int) -> ExecutionPlan:
    """Return the rounds in which ranks exchange the ``elements`` of the data.

    Units that are no whole number of elements are rounded down at both ends, so that they
    still join.

    Raises:
        InvalidProgram: A rank sends a value that is not its value of a unit, or receives a value
            that neither replaces that value nor can be added to it: the program keeps several
            values of one unit.
        TooLarge: The messages have more than `limits.MAX_PIECES` pieces.

    The contributions alone determine whether a message is stored or added, and the final contents
    are compared with the postcondition, so the rounds compute the same as the program.

    >>> from topoloom.schedules.model.transcript import Message
    >>> there, back = Message(0, 1, (Span(0, 1, 1),), ()), Message(1, 0, (Span(1, 2, 2),), ())
    >>> pair = Transcript(Collective.ALLGATHER, (0, 1, 2), (there, back))
    >>> [[m.ranges.tolist() for m in one] for one in plan_of_transcript(pair, 10).rounds]
    [[[[0, 5, 0]], [[5, 10, 0]]]]
    """
    held, rows = _Held(transcript), list[_Row]()
    level = message_rounds(transcript)
    # Within a round, in the order in which a rank processes its messages.
    order = sorted(range(len(level)), key=lambda at: (level[at], transcript.messages[at][:2]))
    for number, together in groupby(order, key=level.__getitem__):
        rows += held.exchange(number, list(together))
        if len(rows) > MAX_PIECES:
            raise TooLarge("/messages", f"must have at most {MAX_PIECES} pieces in all")
    held.require_result()
    scaled = np.array(rows, dtype=object).reshape(-1, 6)
    scaled[:, 3:5] = scaled[:, 3:5] * elements // transcript.units
    bounds = tuple(bound * elements // transcript.units for bound in transcript.bounds)
    rounds = max(level, default=-1) + 1
    return ExecutionPlan(tuple(group_messages(scaled.astype(np.int64), rounds)), bounds)


def gathering(transcript: Transcript) -> Transcript:
    """Return the allgather of all contributions that an allreduce in one pass begins with.

    Unit u of rank r's contribution is unit r * U + u, where the data has U units.

    >>> from topoloom.schedules.model.transcript import Message, Span
    >>> there, back = Message(0, 1, (Span(0, 2, 1),), ()), Message(1, 0, (Span(0, 2, 2),), ())
    >>> found = gathering(Transcript(Collective.ALLREDUCE, (0, 1, 2), (there, back)))
    >>> found.bounds, found.messages[1].spans
    ((0, 2, 4), (Span(first=2, past=4, contributions=2),))
    """
    units = transcript.units

    def moved(span: Span) -> Span:
        start = (span.contributions.bit_length() - 1) * units
        return Span(start + span.first, start + span.past, span.contributions)

    messages = tuple(
        message._replace(spans=tuple(map(moved, message.spans))) for message in transcript.messages
    )
    bounds = tuple(units * rank for rank in range(len(transcript.bounds)))
    return Transcript(Collective.ALLGATHER, bounds, messages)


class _Held:
    """Contributions held by each rank, by piece: units that all messages treat alike."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        spans = [span for message in transcript.messages for span in message.spans]
        cuts = {*transcript.bounds, *(s.first for s in spans), *(s.past for s in spans)}
        self.cuts = np.array(sorted(cuts), dtype=np.int64)
        self.owner = np.searchsorted(transcript.bounds, self.cuts[:-1], side="right") - 1
        gathers, idle = transcript.collective.outward, transcript.idle
        self.masks = [
            [
                1 << rank if rank not in idle and (not gathers or owner == rank) else 0
                for owner in self.owner.tolist()
            ]
            for rank in transcript.ranks
        ]

    def exchange(self, number: int, together: list[int]) -> list[_Row]:
        """Run one round; return its rows."""
        rows: list[_Row] = []
        messages = [(at, self.transcript.messages[at]) for at in together]
        for at, message in messages:
            for span in message.spans:
                for piece in self._pieces(span.first, span.past):
                    if self.masks[message.source][piece] != span.contributions:
                        raise self._several(at, message.source)
        for at, message in messages:
            for span in message.spans:
                for piece in self._pieces(span.first, span.past):
                    op = self._take(at, message.target, piece, span.contributions)
                    first, past = self.cuts[piece : piece + 2].tolist()
                    rows.append((number, message.source, message.target, first, past, op))
        return rows

    def _pieces(self, first: int, past: int) -> range:
        return range(*np.searchsorted(self.cuts, [first, past]).tolist())

    def _take(self, at: int, rank: int, piece: int, arrived: int) -> int:
        """Process a received piece; return whether it is stored or added."""
        held = self.masks[rank][piece]
        if held & arrived == held:
            self.masks[rank][piece] = arrived
            return COPY
        if held & arrived:
            raise self._several(at, rank)
        self.masks[rank][piece] = held | arrived
        return REDUCE

    def _several(self, at: int, rank: int) -> InvalidProgram:
        return InvalidProgram(
            f"/messages/{at}",
            f"rank {rank} keeps several values of one part of the data there: such a program "
            "can be verified and simulated, not executed",
        )

    def require_result(self) -> None:
        """Raise unless every rank holds the result of the collective."""
        transcript = self.transcript
        gathers, all_contributions = transcript.collective.outward, transcript.all_contributions
        scatters = transcript.collective.inward
        for rank, masks in enumerate(self.masks):
            if rank in transcript.idle:
                continue
            for owner, mask in zip(self.owner.tolist(), masks, strict=True):
                wanted = 1 << owner if gathers else all_contributions
                if mask != wanted and not (scatters and owner != rank):
                    raise self._several(len(transcript.messages), rank)
