"""Run a rank's program with torch.distributed's point-to-point operations.

`Carrier.prepared` computes once everything that does not depend on the place of the data: the
messages that go straight from and into the tensors, and memory for all others.  A turn then posts
its receives and sends as one batch.  It adds or stores messages in the order of posting, while
later messages are still under way.

A message goes *straight from* its place if it is one piece that no message of the same turn
changes.  It goes *straight into* its place if it is one piece to be stored that the turn does not
send and that no other message changes.  All others pass through separate memory.  On devices with
streams all operations are on the current stream, or ordered against it by the backend.
"""

from collections.abc import Sequence
from datetime import timedelta
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

from topoloom.schedules.execute.programs.rank_program import Piece, Program, Transfer, Turn
from topoloom.schedules.model.schedule import REDUCE

Tensor: TypeAlias = Any
"""A `torch.Tensor`; the type checker runs without PyTorch."""


_Posted: TypeAlias = Sequence[tuple[int, Tensor]]
"""The peer's rank, and the tensor that is sent or received into."""


class _Message(NamedTuple):
    """A transfer, the peer's rank, and memory to pass through, if it is needed."""

    pieces: tuple[Piece, ...]
    peer: int
    held: Tensor | None


class _Step(NamedTuple):
    number: int
    receives: tuple[_Message, ...]
    sends: tuple[_Message, ...]


class Prepared:
    """The turns of one program, for tensors of one type and device."""

    def __init__(self, carrier: "Carrier", steps: Sequence[_Step]) -> None:
        self._carrier, self._steps = carrier, tuple(steps)

    def run(self, tensors: Sequence[Tensor], timeout: timedelta | None = None) -> None:
        """Run all turns; return when they are done, or, on a stream, when they are queued.

        ``tensors`` are flat and contiguous, indexed by buffer number.
        """
        for step in self._steps:
            under_way = self._carrier.post(
                [(message.peer, self._place(message, tensors)) for message in step.receives],
                [(message.peer, self._packed(message, tensors)) for message in step.sends],
                step.number,
            )
            # A backend may make one work of a batch; then the batch must end before data is used.
            together = len(under_way) < len(step.receives) + len(step.sends)
            for at, work in enumerate(under_way):
                if timeout is None:
                    work.wait()
                else:
                    work.wait(timeout)
                if at < len(step.receives) and not together:
                    _store(step.receives[at], tensors)
            for message in step.receives if together else ():
                _store(message, tensors)

    def _place(self, message: _Message, tensors: Sequence[Tensor]) -> Tensor:
        """Return the tensor that a message is sent from, or received into."""
        return _view(message.pieces[0], tensors) if message.held is None else message.held

    def _packed(self, message: _Message, tensors: Sequence[Tensor]) -> Tensor:
        """Return the tensor that a message is sent from, filled with its data."""
        if message.held is not None:
            views = [_view(piece, tensors) for piece in message.pieces]
            self._carrier.torch.cat(views, out=message.held)
        return self._place(message, tensors)


class Carrier:
    """A process group of torch.distributed, as the connection of one rank to all others.

    Parameters
    ----------
    group : ProcessGroup, optional
        By default the default group; rank i of a program is its rank i.
    registered : bool
        Whether torch.distributed knows the group by a name; a back end's inner group has none.
    """

    def __init__(self, group: Any = None, *, registered: bool = True) -> None:
        self.torch = import_module("torch")
        self.distributed = import_module("torch.distributed")
        self.group = group
        # Skips the checks and the batch of `batch_isend_irecv`, which cost more than a small
        # message itself; backends other than gloo may need the batch to make progress.
        self._way: Any = None
        if not registered or self.distributed.get_backend(group) == "gloo":
            self._way = group if group is not None else self.distributed.group.WORLD
        self.rank: int = self.distributed.get_rank(group) if registered else self._way.rank()
        self.size: int = self.distributed.get_world_size(group) if registered else self._way.size()

    def post(self, receives: _Posted, sends: _Posted, tag: int) -> list[Any]:
        """Post the receives and sends of a turn, by rank of the group; return the pending works.

        The tag is the number of the round, so a message of another round never matches.
        """
        if self._way is not None:
            device = next((held.device for _, held in (*receives, *sends) if held.is_cuda), None)
            if device is not None:
                self._way._start_coalescing(device)
            found = [self._way.recv([held], peer, tag) for peer, held in receives]
            found += [self._way.send([held], peer, tag) for peer, held in sends]
            return found if device is None else [self._way._end_coalescing(device)]
        kind = self.distributed.P2POp
        ways = (self.distributed.irecv, receives), (self.distributed.isend, sends)
        return self.distributed.batch_isend_irecv(
            [
                kind(way, held, self._peer(peer), self.group, tag)
                for way, posted in ways
                for peer, held in posted
            ]
        )

    def _peer(self, rank: int) -> int:
        """Return the global rank of a rank of the group."""
        return rank if self.group is None else self.distributed.get_global_rank(self.group, rank)

    def prepared(self, program: Program, like: Tensor) -> Prepared:
        """Return the turns of a program, for tensors of the type and device of ``like``."""
        pool: list[Tensor] = []
        return Prepared(
            self, [self._step(number, turn, like, pool) for number, turn in program.turns]
        )

    def _step(self, number: int, turn: Turn, like: Tensor, pool: list[Tensor]) -> _Step:
        """Return a turn; every turn passes through the memory in ``pool``, which it enlarges."""
        sent = [piece for transfer in turn.sends for piece in transfer.pieces]
        changed = [piece for transfer in turn.receives for piece in transfer.pieces]

        used = 0

        def message(transfer: Transfer, straight: bool) -> _Message:
            nonlocal used
            held = None
            if not straight:
                if used == len(pool):
                    pool.append(like.new_empty(transfer.elements))
                if pool[used].numel() < transfer.elements:
                    pool[used] = like.new_empty(transfer.elements)
                held = pool[used][: transfer.elements]
                used += 1
            return _Message(transfer.pieces, transfer.peer, held)

        return _Step(
            number,
            tuple(message(one, _goes_into(one.pieces, sent, changed)) for one in turn.receives),
            tuple(message(one, _comes_from(one.pieces, changed)) for one in turn.sends),
        )


def _comes_from(pieces: Sequence[Piece], changed: list[Piece]) -> bool:
    """Return whether a message can be sent straight from its place."""
    return len(pieces) == 1 and not any(_meet(pieces[0], other) for other in changed)


def _goes_into(pieces: Sequence[Piece], sent: list[Piece], changed: list[Piece]) -> bool:
    """Return whether a message can be received straight into its place."""
    if len(pieces) > 1 or pieces[0].op == REDUCE:
        return False
    # The changed pieces include the piece itself.
    alone = sum(_meet(pieces[0], other) for other in changed) == 1
    return alone and not any(_meet(pieces[0], other) for other in sent)


def _meet(piece: Piece, other: Piece) -> bool:
    return piece.buffer == other.buffer and piece.first < other.past and other.first < piece.past


def _view(piece: Piece, tensors: Sequence[Tensor]) -> Tensor:
    return tensors[piece.buffer][piece.first : piece.past]


def _store(message: _Message, tensors: Sequence[Tensor]) -> None:
    """Add or store, piece by piece, a message that was received into separate memory."""
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
