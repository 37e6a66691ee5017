"""The program of one rank: turns of messages from and to places in the rank's own buffers.

A *turn* is a round from the view of one rank: the messages it sends, with targets and places, and
the messages it receives, added or stored.  Buffers have numbers: `DATA` holds the data of a
collective.  An all-to-all has two more: `OUTPUT` for received blocks, `RELAY` for forwarded ones.
"""

from typing import NamedTuple

from topoloom.schedules.execute.programs.plan import ExecutionPlan, Round

DATA, OUTPUT, RELAY = 0, 1, 2


class Piece(NamedTuple):
    """Elements [first, past) of a buffer; ``op`` stores or adds a received message."""

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
        """The number of elements in the message."""
        return sum(piece.past - piece.first for piece in self.pieces)


class Turn(NamedTuple):
    """The sends of a turn, with data from before the turn, and its receives."""

    sends: tuple[Transfer, ...]
    receives: tuple[Transfer, ...]


class Program(NamedTuple):
    """All turns of one rank, by round; ``relay`` is the number of elements that pass by."""

    turns: tuple[tuple[int, Turn], ...]
    relay: int = 0


def program_of(plan: ExecutionPlan, rank: int) -> Program:
    """Return a rank's program for a plan, without rounds in which the rank is idle.

    A rank sends to the next rank first, and receives from the previous rank first, so that all
    ranks send and receive at the same time.

    >>> import numpy as np
    >>> from topoloom.schedules.execute.programs.plan import Message
    >>> there = Message(0, 1, np.array([[0, 5, 0]]))
    >>> ((number, turn),) = program_of(ExecutionPlan(((), (there,)), (0, 5, 10)), 1).turns
    >>> number, turn.sends, turn.receives[0].pieces
    (1, (), (Piece(buffer=0, first=0, past=5, op=0),))
    """
    turns = (
        (number, _turn(messages, rank, len(plan.bounds) - 1))
        for number, messages in enumerate(plan.rounds)
    )
    return Program(tuple((number, turn) for number, turn in turns if turn.sends or turn.receives))


def _turn(messages: Round, rank: int, ranks: int) -> Turn:
    sends, receives = list[Transfer](), list[Transfer]()
    for source, target, ranges in messages:
        if rank not in (source, target):
            continue
        pieces = tuple(Piece(DATA, *row) for row in ranges.tolist())
        if source == rank:
            sends.append(Transfer(target, pieces))
        if target == rank:
            receives.append(Transfer(source, pieces))
    return Turn(
        tuple(sorted(sends, key=lambda one: (one.peer - rank) % ranks)),
        tuple(sorted(receives, key=lambda one: (rank - one.peer) % ranks)),
    )
