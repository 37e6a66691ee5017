"""Carrying out a rank's turns with torch.distributed's point-to-point operations.

What does not depend on where the data lies is done once, by `Carrier.prepared`: which messages go
straight from and into the tensors, and memory for those that cannot.  A turn then posts its
receives and sends as one batch, and adds or stores what arrives in the order in which it was
posted, while the rest is still under way.

A message goes *straight from* its place if it is one piece that nothing which arrives in the same
turn changes; *straight into* it if it is one piece to be stored that nothing in the same turn
sends, and no other message changes.  All others pass through memory of their own.  On devices
with streams all operations are on the current stream, or ordered against it by the back end.
"""

from collections.abc import Sequence
from datetime import timedelta
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

from schedules.execute.turns import Piece, Program, Transfer, Turn
from schedules.model import REDUCE

__all__ = ["Carrier", "Prepared", "Tensor"]

Tensor: TypeAlias = Any
"""A `torch.Tensor`: the type checker must do without PyTorch."""


class _Message(NamedTuple):
    """A transfer, the peer's global rank, and memory to pass through, if it needs that."""

    pieces: tuple[Piece, ...]
    peer: int
    held: Tensor | None


class _Step(NamedTuple):
    number: int
    receives: tuple[_Message, ...]
    sends: tuple[_Message, ...]


class Prepared:
    """The turns of one program for tensors of one type and device."""

    def __init__(self, carrier: "Carrier", steps: Sequence[_Step]) -> None:
        self._carrier, self._steps = carrier, tuple(steps)

    def run(self, tensors: Sequence[Tensor], timeout: timedelta | None = None) -> None:
        """Do all turns; return when they are done, or, on a stream, are in line.

        ``tensors`` are flat and contiguous, by the number of their buffer.
        """
        for step in self._steps:
            operations = self._posted(step, tensors)
            under_way = self._carrier.distributed.batch_isend_irecv(operations)
            # Where the back end makes one work of a batch, it is done before anything is used.
            together = len(under_way) < len(operations)
            for at, work in enumerate(under_way):
                if timeout is None:
                    work.wait()
                else:
                    work.wait(timeout)
                if at < len(step.receives) and not together:
                    _store(step.receives[at], tensors)
            for message in step.receives if together else ():
                _store(message, tensors)

    def _posted(self, step: _Step, tensors: Sequence[Tensor]) -> list[Any]:
        """Pack what must be, and return the operations of a turn: what is received, then sent."""
        distributed, group = self._carrier.distributed, self._carrier.group
        operations = []
        for message in step.receives:
            held = message.held
            if held is None:
                held = _view(message.pieces[0], tensors)
            # The tag is the number of the round: nothing is taken that belongs to another.
            operations.append(
                distributed.P2POp(distributed.irecv, held, message.peer, group, step.number)
            )
        for message in step.sends:
            views, held = [_view(piece, tensors) for piece in message.pieces], message.held
            if held is None:
                held = views[0]
            else:
                self._carrier.torch.cat(views, out=held)
            operations.append(
                distributed.P2POp(distributed.isend, held, message.peer, group, step.number)
            )
        return operations


class Carrier:
    """One rank's way to all others: a process group of torch.distributed.

    Parameters
    ----------
    group : ProcessGroup, optional
        The default one if left out; rank i of a program is its rank i.
    """

    def __init__(self, group: Any = None) -> None:
        self.torch = import_module("torch")
        self.distributed = import_module("torch.distributed")
        self.group = group
        self.rank: int = self.distributed.get_rank(group)
        self.size: int = self.distributed.get_world_size(group)

    def prepared(self, program: Program, like: Tensor) -> Prepared:
        """Return the turns of a program, for tensors of the type and device of ``like``."""
        return Prepared(self, [self._step(number, turn, like) for number, turn in program.turns])

    def _step(self, number: int, turn: Turn, like: Tensor) -> _Step:
        sent = [piece for transfer in turn.sends for piece in transfer.pieces]
        changed = [piece for transfer in turn.receives for piece in transfer.pieces]

        def message(transfer: Transfer, straight: bool) -> _Message:
            peer = transfer.peer
            if self.group is not None:
                peer = self.distributed.get_global_rank(self.group, peer)
            held = None if straight else like.new_empty(transfer.elements)
            return _Message(transfer.pieces, peer, held)

        return _Step(
            number,
            tuple(message(one, _goes_into(one.pieces, sent, changed)) for one in turn.receives),
            tuple(message(one, _comes_from(one.pieces, changed)) for one in turn.sends),
        )


def _comes_from(pieces: Sequence[Piece], changed: list[Piece]) -> bool:
    """Whether a message can be sent straight from its place."""
    return len(pieces) == 1 and not any(_meet(pieces[0], other) for other in changed)


def _goes_into(pieces: Sequence[Piece], sent: list[Piece], changed: list[Piece]) -> bool:
    """Whether a message can be received straight into its place."""
    if len(pieces) > 1 or pieces[0].op == REDUCE:
        return False
    # Among what is changed is the piece itself.
    alone = sum(_meet(pieces[0], other) for other in changed) == 1
    return alone and not any(_meet(pieces[0], other) for other in sent)


def _meet(piece: Piece, other: Piece) -> bool:
    return piece.buffer == other.buffer and piece.first < other.past and other.first < piece.past


def _view(piece: Piece, tensors: Sequence[Tensor]) -> Tensor:
    return tensors[piece.buffer][piece.first : piece.past]


def _store(message: _Message, tensors: Sequence[Tensor]) -> None:
    """Add or store, piece by piece, what arrived in memory of its own."""
    if message.held is None:
        return
    at = 0
    for piece in message.pieces:
        part = message.held[at : at + piece.past - piece.first]
        at += piece.past - piece.first
        place = _view(piece, tensors)
        if piece.op == REDUCE:
            place.add_(part)
        else:
            place.copy_(part)
