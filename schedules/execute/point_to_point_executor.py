"""Run a rank's program with torch.distributed's point-to-point operations.

`Carrier.prepared` computes once everything that does not depend on the place of the data: the
messages that go straight from and into the tensors, and memory for all others.  A turn then posts
its sends and receives, and adds or stores messages in the order of posting, while later messages
are still under way.

A message goes *straight from* its place if it is one piece that no message of the same turn
changes.  It goes *straight into* its place if it is one piece to be stored that the turn does not
send and that no other message changes.  All others pass through separate memory.  On devices with
streams all operations are on the current stream, or ordered against it by the backend.

On CPUs a turn is cut into messages of at most `MESSAGE_BYTES`, and at most `WINDOW` receives that
pass through memory are posted at a time.  So adding overlaps with receiving, and finds its data in
the processor's cache.  A backend sends a message only when its receive is posted.
"""

from collections import deque
from collections.abc import Sequence
from datetime import timedelta
from importlib import import_module
from itertools import count, zip_longest
from typing import Any, NamedTuple, TypeAlias

from topoloom.schedules.execute.programs.rank_program import Piece, Program, Transfer, Turn
from topoloom.schedules.model.schedule import REDUCE

Tensor: TypeAlias = Any
"""A `torch.Tensor`; the type checker runs without PyTorch."""


MESSAGE_BYTES = 4 << 20
"""Size of a message on CPUs, at most."""

WINDOW = 3
"""Receives of a turn on CPUs that pass through memory at a time."""

_Posted: TypeAlias = Sequence[tuple[int, Tensor]]
"""The peer's rank, and the tensor that is sent or received into."""


class _Message(NamedTuple):
    """A transfer, the peer's rank, and memory to pass through, if it is needed."""

    pieces: tuple[Piece, ...]
    peer: int
    held: Tensor | None


class _Step(NamedTuple):
    """A turn: received messages that pass through memory, all other messages."""

    number: int
    held: tuple[_Message, ...]
    straight: tuple[_Message, ...]
    sends: tuple[_Message, ...]


class Prepared:
    """The turns of one program, for tensors of one type and device."""

    def __init__(self, carrier: "Carrier", steps: Sequence[_Step], window: int | None) -> None:
        self._carrier, self._steps, self._window = carrier, tuple(steps), window

    def run(self, tensors: Sequence[Tensor]) -> None:
        """Run all turns; return when they are done, or, on a stream, when they are queued.

        ``tensors`` are flat and contiguous, indexed by buffer number.
        """
        timeout = self._carrier.timeout
        for step in self._steps:
            first = step.held[: self._window]
            works = self._carrier.post(
                [
                    (message.peer, self._place(message, tensors))
                    for message in first + step.straight
                ],
                [(message.peer, self._packed(message, tensors)) for message in step.sends],
                step.number,
            )
            # A backend may make one work of a batch; then the batch must end before data is used.
            together = len(works) < len(first) + len(step.straight) + len(step.sends)
            split = 0 if together else len(first)
            pending, rest = deque(works[:split]), works[split:]
            if together:
                _await(rest, timeout)
            for later, message in enumerate(step.held, len(first)):
                if pending:
                    _await([pending.popleft()], timeout)
                _store(message, tensors)
                if later < len(step.held):
                    place = step.held[later].peer, self._place(step.held[later], tensors)
                    pending += self._carrier.post([place], [], step.number)
            if not together:
                _await(rest, timeout)

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

    Args:
        group: By default the default group; rank i of a program is its rank i.
        registered: Whether torch.distributed knows the group by a name; a back end's inner group
            has none.

    Attributes:
        timeout (timedelta): Longest wait for one message; None is the time limit of the group.
    """

    def __init__(self, group: Any = None, *, registered: bool = True) -> None:
        self.torch = import_module("torch")
        self.distributed = import_module("torch.distributed")
        self.group = group
        self.timeout: timedelta | None = None
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
        turns = program.turns
        cuts = self._way is not None and like.device.type == "cpu"
        if cuts:
            most = max(1, MESSAGE_BYTES // like.element_size())
            turns = ((number, cut(turn, most)) for number, turn in turns)
        window = WINDOW if cuts else None
        steps = [_step(number, turn, window, like, pool) for number, turn in turns]
        return Prepared(self, steps, window)


def cut(turn: Turn, most: int) -> Turn:
    """Return a turn whose messages have at most ``most`` elements each; both ends cut alike.

    >>> from topoloom.schedules.execute.programs.rank_program import Piece
    >>> whole = Transfer(1, (Piece(0, 0, 3, 0), Piece(0, 7, 9, 0)))
    >>> [[piece[1:3] for piece in one.pieces] for one in cut(Turn((whole,), ()), 2).sends]
    [[(0, 2)], [(2, 3), (7, 8)], [(8, 9)]]
    """
    return Turn(*(_interleaved([_parts(one, most) for one in way]) for way in turn))


def _parts(transfer: Transfer, most: int) -> list[Transfer]:
    if transfer.elements <= most:
        return [transfer]
    found: list[list[Piece]] = [[]]
    left = most
    for piece in transfer.pieces:
        first = piece.first
        while first < piece.past:
            if not left:
                found.append([])
                left = most
            past = min(piece.past, first + left)
            found[-1].append(piece._replace(first=first, past=past))
            left -= past - first
            first = past
    return [Transfer(transfer.peer, tuple(pieces)) for pieces in found]


def _interleaved(lists: list[list[Transfer]]) -> tuple[Transfer, ...]:
    """Return the first of every list, then the second, and so on."""
    return tuple(one for layer in zip_longest(*lists) for one in layer if one is not None)


def _step(number: int, turn: Turn, window: int | None, like: Tensor, pool: list[Tensor]) -> _Step:
    """Return a turn; every turn passes through the memory in ``pool``, which it enlarges."""
    sent = [piece for transfer in turn.sends for piece in transfer.pieces]
    changed = [piece for transfer in turn.receives for piece in transfer.pieces]

    def held(slot: int, transfer: Transfer) -> _Message:
        if slot == len(pool):
            pool.append(like.new_empty(transfer.elements))
        if pool[slot].numel() < transfer.elements:
            pool[slot] = like.new_empty(transfer.elements)
        return _Message(transfer.pieces, transfer.peer, pool[slot][: transfer.elements])

    def message(transfer: Transfer) -> _Message:
        return _Message(transfer.pieces, transfer.peer, None)

    # Messages of one peer arrive in the order of their sends, so all of them pass through or none.
    indirect = {one.peer for one in turn.receives if not _goes_into(one.pieces, sent, changed)}
    straight = [one for one in turn.receives if one.peer not in indirect]
    passing = [one for one in turn.receives if one.peer in indirect]
    receives = tuple(held(at % (window or len(passing)), one) for at, one in enumerate(passing))
    slots = count(min(len(passing), window or len(passing)))
    sends = tuple(
        message(one) if _comes_from(one.pieces, changed) else held(next(slots), one)
        for one in turn.sends
    )
    return _Step(number, receives, tuple(map(message, straight)), sends)


def _await(works: Sequence[Any], timeout: timedelta | None) -> None:
    for work in works:
        if timeout is None:
            work.wait()
        else:
            work.wait(timeout)


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
