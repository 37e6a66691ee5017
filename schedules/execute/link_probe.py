"""Measure message times between processes, over torch.distributed.

Rank 0 and each other rank in turn exchange equal messages: several one after another, each of some
separate chunks that are gathered before and scattered after.  Half of the median round trip is a
`schedules.simulate.fit_link_costs.Row`.  Shapes take turns, so that a busy moment of the machine
delays all of them; rank 0 asks for more round trips until the times grow with the bytes.  Any
backend with point-to-point operations works.  A launcher such as ``torchrun`` starts processes on
several machines; `between_processes` starts them on one machine.
"""

import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from importlib import import_module
from multiprocessing.connection import Connection, wait
from statistics import median
from typing import Any

from topoloom.schedules.errors import ExecutionFailed, NoSchedule, TooLarge
from topoloom.schedules.execute.limits import MAX_RANKS
from topoloom.schedules.execute.processes.local_group import on_loopback
from topoloom.schedules.simulate.fit_link_costs import Row, fit

SHAPES = (
    *((1, 1, 1 << power) for power in range(6, 23, 2)),
    *((messages, messages, 1 << 16) for messages in (2, 4, 8, 16)),
    *((1, chunks, 1 << 16) for chunks in (4, 16, 64)),
)
"""Shapes of the traffic: messages, chunks and bytes in total."""

MAX_ATTEMPTS = 50
"""Maximum sets of round trips with one rank.

One set of two round trips sufficed 12 times of 12 on two cores with five busy processes.
"""


def probe(repeat: int = 20, *, device: str = "cpu") -> list[Row]:
    """Return message times between rank 0 and each other rank of the default group.

    All ranks must call it; only rank 0 gets rows, one for every entry of `SHAPES` and other rank.

    Args:
        repeat: Round trips of each shape, from 1; the median counts.
        device: Device of the data: ``"cpu"``, or ``"cuda"`` if the backend sends from there.

    Raises:
        NoSchedule: ``repeat`` is not positive.
        ExecutionFailed: The group has only one rank.
    """
    torch, group = import_module("torch"), import_module("torch.distributed")
    if repeat < 1:
        raise NoSchedule("/repeat", "must be at least 1")
    rank, ranks = group.get_rank(), group.get_world_size()
    if ranks < 2:
        raise ExecutionFailed("/ranks", "must be at least 2")
    rows: list[Row] = []
    for peer in range(1, ranks):
        group.barrier()
        if rank not in (0, peer):
            continue
        other = peer if rank == 0 else 0
        ends = [_Ends(torch, group, other, shape, device) for shape in SHAPES]
        again = torch.ones(1, dtype=torch.uint8, device=device)
        _round_trips(ends, first=rank == 0)  # The first message opens the connection.
        if rank == 0:
            rows += rows_that_grow(
                lambda ends=ends: _round_trips(ends, first=True),
                repeat,
                before=rows,
                tell=lambda more, again=again, other=other: group.send(again.fill_(more), other),
            )
        while rank and again.item():
            for _ in range(repeat):
                _round_trips(ends, first=False)
            group.recv(again, other)
    group.barrier()
    return rows


def rows_that_grow(
    round_trips: Callable[[], list[float]],
    repeat: int,
    *,
    before: Sequence[Row] = (),
    tell: Callable[[bool], object] = lambda more: None,
) -> list[Row]:
    """Return one row per shape, after as many sets of round trips as the times need to grow.

    Args:
        round_trips: Makes a round trip of each of `SHAPES`; returns their seconds.
        repeat: Round trips per set.
        before: Rows of other ranks; the times of all rows together must grow with the bytes.
        tell: Gets ``True`` after a set if another one follows; at most `MAX_ATTEMPTS` sets are
            made.
    """
    taken: list[list[float]] = []
    rows: list[Row] = []
    for remaining in reversed(range(MAX_ATTEMPTS)):
        taken += [round_trips() for _ in range(repeat)]
        rows = [
            Row(size, median(times) / 2, messages, chunks)
            for (messages, chunks, size), times in zip(
                SHAPES, zip(*taken, strict=True), strict=True
            )
        ]
        more = remaining > 0 and not _grow([*before, *rows])
        tell(more)
        if not more:
            break
    return rows


def _grow(rows: Sequence[Row]) -> bool:
    try:
        fit(rows)
    except NoSchedule:
        return False
    return True


def _round_trips(ends: "Sequence[_Ends]", *, first: bool) -> list[float]:
    return [each.round_trip(first=first) for each in ends]


class _Ends:
    """One of two ranks that exchange equal messages."""

    def __init__(
        self, torch: Any, group: Any, other: int, shape: tuple[int, int, int], device: str
    ) -> None:
        messages, chunks, size = shape
        self.group, self.other, self.torch = group, other, torch
        each, pieces = size // messages, chunks // messages
        # Twice the length, so that chunks are separate.
        self.sources = [
            torch.zeros((pieces, 2 * each // pieces), dtype=torch.uint8, device=device)
            for _ in range(messages)
        ]
        self.used = each // pieces
        self.buffers = [
            torch.zeros((pieces, self.used), dtype=torch.uint8, device=device)
            for _ in range(messages)
        ]

    def round_trip(self, *, first: bool) -> float:
        """Return the seconds of a round trip."""
        start = time.perf_counter()
        if first:
            self._send()
            self._receive()
        else:
            self._receive()
            self._send()
        if self.buffers[0].is_cuda:
            self.torch.cuda.synchronize()
        return max(time.perf_counter() - start, 1e-9)

    def _send(self) -> None:
        under_way = []
        for source, buffer in zip(self.sources, self.buffers, strict=True):
            for chunk, held in zip(buffer, source, strict=True):
                chunk.copy_(held[: self.used])
            under_way.append(self.group.isend(buffer, self.other))
        for one in under_way:
            one.wait()

    def _receive(self) -> None:
        under_way = [self.group.irecv(buffer, self.other) for buffer in self.buffers]
        for one, source, buffer in zip(under_way, self.sources, self.buffers, strict=True):
            one.wait()
            for chunk, held in zip(buffer, source, strict=True):
                held[: self.used].copy_(chunk)


def between_processes(
    ranks: int = 2, *, repeat: int = 20, timeout_seconds: float = 60.0
) -> list[Row]:
    """Return message times between processes of this machine (gloo).

    Raises:
        TooLarge, NoSchedule: A number is out of its range.
        ExecutionFailed: PyTorch is missing, a process failed, or all took longer than
            ``timeout_seconds``.
    """
    if not 2 <= ranks <= MAX_RANKS:
        raise TooLarge("/ranks", f"must lie in 2 to {MAX_RANKS}")
    if repeat < 1:
        raise NoSchedule("/repeat", "must be at least 1")
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="topoloom-probe-") as folder:
        ours, theirs = context.Pipe(duplex=False)
        processes = [
            context.Process(
                target=_serve,
                args=(theirs, rank, ranks, f"{folder}/rendezvous", repeat, timeout_seconds),
                daemon=True,
            )
            for rank in range(ranks)
        ]
        try:
            for process in processes:
                process.start()
            theirs.close()
            return _answer(ours, timeout_seconds)
        finally:
            for process in processes:
                process.kill()
            for process in processes:
                process.join()


def _answer(pipe: Connection, timeout_seconds: float) -> list[Row]:
    if not wait([pipe], timeout_seconds):
        rule = f"the ranks did not end within {timeout_seconds:g} s"
        raise ExecutionFailed("/timeout_seconds", rule)
    try:
        answer = pipe.recv()
    except EOFError:
        raise ExecutionFailed("/ranks", "the processes have ended") from None
    if isinstance(answer, str):
        raise ExecutionFailed("/ranks", answer)
    return answer


def _serve(
    pipe: Connection, rank: int, ranks: int, store: str, repeat: int, timeout_seconds: float
) -> None:
    try:
        os.environ |= on_loopback()
        torch, group = import_module("torch"), import_module("torch.distributed")
        torch.set_num_threads(1)
        group.init_process_group(
            "gloo",
            store=group.FileStore(store, ranks),
            rank=rank,
            world_size=ranks,
            timeout=timedelta(seconds=timeout_seconds),
        )
        rows = probe(repeat)
        if rank == 0:
            pipe.send(rows)
        group.barrier()
    except Exception as error:
        pipe.send(f"rank {rank} failed: {' '.join(str(error).split())[:400]}")
