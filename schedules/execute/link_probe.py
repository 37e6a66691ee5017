"""Measure message times between processes, over torch.distributed.

Rank 0 and each other rank in turn exchange equal messages: several one after another, each of some
separate chunks that are gathered before and scattered after.  Half of the median round trip is a
`schedules.simulate.fit_link_costs.Row`.  Any backend with point-to-point operations works.  A
launcher such as ``torchrun`` starts processes on several machines; `between_processes` starts them
on one machine.
"""

import multiprocessing
import os
import tempfile
import time
from datetime import timedelta
from importlib import import_module
from multiprocessing.connection import Connection, wait
from statistics import median
from typing import Any

from topoloom.schedules.errors import ExecutionFailed, NoSchedule, TooLarge
from topoloom.schedules.execute.limits import MAX_RANKS
from topoloom.schedules.execute.processes.local_group import on_loopback
from topoloom.schedules.simulate.fit_link_costs import Row

SHAPES = (
    *((1, 1, 1 << power) for power in range(6, 23, 2)),
    *((messages, messages, 1 << 16) for messages in (2, 4, 8, 16)),
    *((1, chunks, 1 << 16) for chunks in (4, 16, 64)),
)
"""Shapes of the traffic: messages, chunks and bytes in total."""


def probe(repeat: int = 20, *, device: str = "cpu") -> list[Row]:
    """Return message times between rank 0 and each other rank of the default group.

    All ranks must call it; only rank 0 gets rows, one for every entry of `SHAPES` and other rank.

    Parameters
    ----------
    repeat : int
        Round trips of each shape, from 1; the median counts.
    device : str
        Device of the data: ``"cpu"``, or ``"cuda"`` if the backend sends from there.

    Raises
    ------
    NoSchedule
        ``repeat`` is not positive.
    ExecutionFailed
        The group has only one rank.
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
        for messages, chunks, size in SHAPES:
            ends = _Ends(torch, group, other, (messages, chunks, size), device)
            times = [ends.round_trip(first=rank == 0) for _ in range(repeat + 1)]
            # The first round trip opens the connection.
            rows.append(Row(size, median(times[1:]) / 2, messages, chunks))
    group.barrier()
    return rows if rank == 0 else []


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

    Raises
    ------
    TooLarge, NoSchedule
        A number is out of its range.
    ExecutionFailed
        PyTorch is missing, a process failed, or all took longer than ``timeout_seconds``.
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
        raise ExecutionFailed("/ranks", f"did not end within {timeout_seconds:g} s")
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
