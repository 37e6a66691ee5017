"""What one rank does of a plan: turns of messages, each from and to places in its own buffers.

A *turn* is one round as one rank sees it: what it sends, to whom, from where, and what it
receives and adds or stores.  Buffers have numbers: `DATA` holds what a collective works on;
an all-to-all has `OUTPUT` and `RELAY` besides, for blocks that arrive and for blocks that pass by.
"""

from typing import NamedTuple

from topoloom.schedules.execute.programs.plan import Plan, Round

DATA, OUTPUT, RELAY = 0, 1, 2


class Piece(NamedTuple):
    """Elements [first, past) of a buffer; ``op`` says whether what arrives is stored or added."""

    buffer: int
    first: int
    past: int
    op: int


class Transfer(NamedTuple):
    """One message to or from a peer, in order of its pieces."""

    peer: int
    pieces: tuple[Piece, ...]

    @property
    def elements(self) -> int:
        """How many elements it holds."""
        return sum(piece.past - piece.first for piece in self.pieces)


class Turn(NamedTuple):
    """What is sent, as it was before the turn, and what is received."""

    sends: tuple[Transfer, ...]
    receives: tuple[Transfer, ...]


class Program(NamedTuple):
    """All turns of one rank, by the number of their round; ``relay`` elements pass by."""

    turns: tuple[tuple[int, Turn], ...]
    relay: int = 0


def program_of(plan: Plan, rank: int) -> Program:
    """Return what a rank does of a plan; rounds in which it does nothing are left out.

    >>> import numpy as np
    >>> from topoloom.schedules.execute.programs.plan import Message
    >>> there = Message(0, 1, np.array([[0, 5, 0]]))
    >>> ((number, turn),) = program_of(Plan(((), (there,)), (0, 5, 10)), 1).turns
    >>> number, turn.sends, turn.receives[0].pieces
    (1, (), (Piece(buffer=0, first=0, past=5, op=0),))
    """
    turns = ((number, _turn(messages, rank)) for number, messages in enumerate(plan.rounds))
    return Program(tuple((number, turn) for number, turn in turns if turn.sends or turn.receives))


def _turn(messages: Round, rank: int) -> Turn:
    sends, receives = list[Transfer](), list[Transfer]()
    for source, target, ranges in messages:
        if rank not in (source, target):
            continue
        pieces = tuple(Piece(DATA, *row) for row in ranges.tolist())
        if source == rank:
            sends.append(Transfer(target, pieces))
        if target == rank:
            receives.append(Transfer(source, pieces))
    return Turn(tuple(sends), tuple(receives))
