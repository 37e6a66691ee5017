"""The process of one rank: runs its programs over torch.distributed and checks the result."""

import os
import queue
import threading
import time
from datetime import timedelta
from importlib import import_module
from multiprocessing.connection import Connection
from typing import NamedTuple

import numpy as np

from topoloom.schedules.execute.expected_data import Mistake, Task, folded_sum, initial, mistakes
from topoloom.schedules.execute.point_to_point_executor import Carrier, Prepared
from topoloom.schedules.execute.programs.rank_program import Program


class Timeouts(NamedTuple):
    """Time limits in seconds: to form the group, and for one message."""

    start: float
    message: float


class Job(NamedTuple):
    """One rank's part of a plan, run ``repeat`` times on new data; None as task means idle."""

    task: Task | None
    program: Program
    repeat: int


class Report(NamedTuple):
    """One rank's result: seconds of each run, and the mistakes of the first faulty run."""

    seconds: tuple[float, ...]
    mistakes: tuple[Mistake, ...]


def serve(pipe: Connection, rank: int, ranks: int, folder: str, timeouts: Timeouts) -> None:
    """Join the group, then answer every job with a report, or with the text of a failure.

    Ends at once when the other end of the pipe is closed, even during a job.
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
        carrier = _joined(rank, ranks, folder, timeouts)
        carrier.timeout = timedelta(seconds=timeouts.message)
        pipe.send(os.getpid())
        while True:
            pipe.send(_carried_out(carrier, jobs.get()))
    except Exception as error:
        pipe.send(" ".join(str(error).split())[:500] or type(error).__name__)


def _joined(rank: int, ranks: int, folder: str, timeouts: Timeouts) -> Carrier:
    # Imported by name: the type checker runs without PyTorch.
    torch, group = import_module("torch"), import_module("torch.distributed")
    torch.set_num_threads(1)
    group.init_process_group(
        "gloo",
        store=group.FileStore(f"{folder}/rendezvous", ranks),
        rank=rank,
        world_size=ranks,
        timeout=timedelta(seconds=timeouts.start),
    )
    return Carrier()


def _carried_out(carrier: Carrier, job: Job) -> Report:
    seconds: list[float] = []
    wrong: list[Mistake] = []
    prepared: Prepared | None = None
    for run in range(job.repeat):
        buffers = None if job.task is None else initial(job.task, carrier.rank, run)
        # PyTorch sends no unsigned integers; the bits are the same.
        tensors = [carrier.torch.from_numpy(held.view(np.int32)) for held in buffers or ()]
        if tensors:
            tensors.append(tensors[0].new_empty(job.program.relay))
            prepared = prepared or carrier.prepared(job.program, tensors[0])
        # So every message of the previous run has arrived, and its tags are free.
        carrier.distributed.barrier()
        if job.task is None or buffers is None or prepared is None:
            continue
        start = time.perf_counter()
        prepared.run(tensors)
        buffers[-1] = folded_sum(job.task, buffers[-1])
        seconds.append(time.perf_counter() - start)
        wrong = wrong or mistakes(job.task, carrier.rank, run, buffers[-1])
    return Report(tuple(seconds), tuple(wrong))
