"""What one process does: carry out plans with messages over torch.distributed, and check."""

import os
import queue
import threading
import time
from datetime import timedelta
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedules.execute.data import ELEMENT, Mistake, Task, initial, mistakes
from schedules.execute.plan import Round
from schedules.model import REDUCE

__all__ = ["Job", "Report", "Timeouts", "serve"]


class Timeouts(NamedTuple):
    """Seconds to wait for the group to come together, and for one message."""

    start: float
    message: float


class Job(NamedTuple):
    """One rank's part of a plan, run ``repeat`` times on fresh data; no task: stay idle."""

    task: Task | None
    rounds: tuple[Round, ...]
    repeat: int


class Report(NamedTuple):
    """How one rank fared: seconds of each run, and what was wrong in the first run so."""

    seconds: tuple[float, ...]
    mistakes: tuple[Mistake, ...]


def serve(pipe: Connection, rank: int, ranks: int, folder: str, timeouts: Timeouts) -> None:
    """Join the group, then answer every job with a report, or a text that says what failed.

    Ends at once when the other end of the pipe is closed, also amidst a job.
    """
    jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()

    def read() -> None:
        try:
            while True:
                jobs.put(pipe.recv())
        except (EOFError, OSError):
            os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    try:
        exchange = _joined(rank, ranks, folder, timeouts)
        pipe.send(os.getpid())
        while True:
            pipe.send(_carried_out(exchange, jobs.get()))
    except Exception as error:
        pipe.send(" ".join(str(error).split())[:500] or type(error).__name__)


class Exchange:
    """One rank's way to all others."""

    def __init__(self, torch: Any, group: Any, rank: int, timeout: timedelta) -> None:
        self.torch, self.group, self.rank, self.timeout = torch, group, rank, timeout

    def carry_out(self, buffer: NDArray[Any], messages: Round, number: int) -> None:
        """Do one round: pack and post everything, wait, unpack.

        A message's tag is the number of its round, so a rank that is ahead takes nothing
        that belongs to an earlier round.
        """
        arriving, under_way = [], []
        for message in messages:
            held = np.empty(message.elements, dtype=ELEMENT)
            # PyTorch moves no unsigned words; the bits are the same.
            tensor = self.torch.from_numpy(held.view(np.int32))
            if message.target == self.rank:
                arriving.append((message, held))
                under_way.append(self.group.irecv(tensor, message.source, tag=number))
            else:
                pieces = [buffer[first:past] for first, past, _ in message.ranges.tolist()]
                np.concatenate(pieces, out=held)
                under_way.append(self.group.isend(tensor, message.target, tag=number))
        for work in under_way:
            work.wait(self.timeout)
        for message, held in arriving:
            _unpack(buffer, message.ranges, held)


def _joined(rank: int, ranks: int, folder: str, timeouts: Timeouts) -> Exchange:
    # By name: the type checker must do without PyTorch.
    torch, group = import_module("torch"), import_module("torch.distributed")
    torch.set_num_threads(1)
    group.init_process_group(
        "gloo",
        store=group.FileStore(f"{folder}/rendezvous", ranks),
        rank=rank,
        world_size=ranks,
        timeout=timedelta(seconds=timeouts.start),
    )
    return Exchange(torch, group, rank, timedelta(seconds=timeouts.message))


def _carried_out(exchange: Exchange, job: Job) -> Report:
    seconds: list[float] = []
    wrong: list[Mistake] = []
    for run in range(job.repeat):
        buffer = None if job.task is None else initial(job.task, exchange.rank, run)
        # So every message of the run before has arrived: its tags are free again.
        exchange.group.barrier()
        if job.task is None or buffer is None:
            continue
        start = time.perf_counter()
        for number, messages in enumerate(job.rounds):
            exchange.carry_out(buffer, messages, number)
        seconds.append(time.perf_counter() - start)
        wrong = wrong or mistakes(job.task, exchange.rank, run, buffer)
    return Report(tuple(seconds), tuple(wrong))


def _unpack(buffer: NDArray[Any], ranges: NDArray[np.int64], held: NDArray[Any]) -> None:
    at = 0
    for first, past, op in ranges.tolist():
        piece = held[at : at + past - first]
        at += past - first
        if op == REDUCE:
            buffer[first:past] += piece
        else:
            buffer[first:past] = piece
