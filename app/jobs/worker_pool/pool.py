"""Start, service and end of worker processes."""

import logging
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from math import inf
from multiprocessing.process import BaseProcess
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from topoloom.app.config import Settings
from topoloom.app.documents.base import Presented
from topoloom.app.jobs.worker_pool.claims import Claims
from topoloom.app.jobs.worker_pool.error_pickling import unpack_error
from topoloom.app.jobs.worker_pool.errors import Cancelled, WorkDied
from topoloom.app.jobs.worker_pool.fork_server import prepare
from topoloom.app.jobs.worker_pool.store_proxy import ANSWERED, PROGRESS, RAISED, Call, StoreServer
from topoloom.app.jobs.worker_pool.task import Task
from topoloom.app.jobs.worker_pool.worker_process import work
from topoloom.app.observability import logs
from topoloom.app.observability.telemetry import span
from topoloom.app.store.artifacts import Artefact
from topoloom.app.store.document_store import Store
from topoloom.schedules.errors import TookTooLong
from topoloom.synth.progress import Listener

log = logging.getLogger(__name__)

TICK = 0.1
"""Seconds between two checks of the deadline and of the cancellation flag."""

SHORT_SECONDS = 1.0
"""Processor seconds after which a computation yields to computations that begin.

Seconds of the clock would demote every computation on a machine that is busy otherwise.
"""

JOB_SECONDS = 0.25
"""The same for a job: the clients of jobs wait less than those of requests."""

LONG_NICENESS = 19
"""Niceness of a worker from then on; a worker begins with `worker_process.NICENESS`."""


class CancelFlag(Protocol):
    """A cancellation flag with the interface of `threading.Event`."""

    def is_set(self) -> bool:
        """Return the flag without waiting."""
        ...


class Done(NamedTuple):
    """An answer, a stored document or an unstored one, and its assumptions.

    ``former`` has the former names in a request that the worker parsed.
    """

    answer: Artefact | Presented
    notes: tuple[str, ...]
    former: Mapping[str, str] = MappingProxyType({})

    def known(self) -> "Done":
        """Return the answer for requests that joined a running computation: not fresh."""
        if not isinstance(self.answer, Artefact):
            return self
        return self._replace(answer=replace(self.answer, fresh=False))


class WorkerPool:
    """The workers of one process.

    They are forked from a process that has imported everything and does nothing else, so that
    neither threads nor connections of this process are copied.
    """

    def __init__(
        self,
        store: Store,
        claims: Claims,
        settings: Settings,
        work: Callable[..., None] = work,
        timed: Callable[[str, float], None] = lambda kind, seconds: None,
    ) -> None:
        self._store = store
        self._claims = claims
        self._settings = settings
        self._work = work
        self._timed = timed
        self._processes = prepare()

    def within(self, seconds: float, most_bytes: int) -> "WorkerPool":
        """Return the same pool for work with other limits."""
        limits = {"max_seconds": seconds, "max_work_bytes": most_bytes}
        settings = self._settings.model_copy(update=limits)
        return WorkerPool(self._store, self._claims, settings, self._work, self._timed)

    def run(
        self,
        task: Task,
        cancelled: CancelFlag,
        report: Listener | None = None,
        short_seconds: float = SHORT_SECONDS,
    ) -> Done:
        """Return the answer to a piece of work, done in a process of its own.

        The thread that calls waits, serves what the worker looks up and computes, and ends it
        when ``cancelled`` is set or its time is over.  The worker yields the processor to others
        after ``short_seconds`` of processor time.

        Raises:
            Cancelled: The event was set.
            TookTooLong: The limit of the settings was passed.
            WorkDied: The process ended without an answer.
            Exception: Any error that the task raised.
        """
        watch = _Watch(self._settings.max_seconds, cancelled, report)
        store = self._store.on_behalf_of(task.owner)
        served = StoreServer(store, self._claims, watch.look, self._timed)
        ours, theirs = self._processes.Pipe()
        # Log lines of the worker carry the ids of the request or job.
        arguments = (logs.facts(), self._work, theirs, self._settings, task)
        process = self._processes.Process(target=logs.call_about, args=arguments, daemon=True)
        try:
            process.start()
            theirs.close()
            with span(f"run {task.operation}"):
                return self._attend(ours, served, watch, process, short_seconds)
        except (EOFError, BrokenPipeError, ConnectionResetError):
            # The worker was never started if the fork server is dead.
            if process.pid is not None:
                process.join(1)
            raise WorkDied(task.operation, process.exitcode) from None
        finally:
            if process.pid is not None:
                process.kill()
                process.join()
            ours.close()
            served.close()

    def _attend(
        self,
        connection: Any,
        served: StoreServer,
        watch: "_Watch",
        process: BaseProcess,
        short_seconds: float,
    ) -> Done:
        """Answer the calls of a worker until it reports its end."""
        while True:
            watch.look()
            if process.pid is not None and processor_seconds(process.pid) >= short_seconds:
                short_seconds = inf
                with suppress(ProcessLookupError):
                    os.setpriority(os.PRIO_PROCESS, process.pid, LONG_NICENESS)
            if not connection.poll(TICK):
                continue
            call: Call = connection.recv()
            match call.name:
                case str(name) if name == PROGRESS:
                    watch.hear(*call.arguments)
                case str(name) if name == RAISED:
                    raise unpack_error(call.arguments[0])
                case str(name) if name == ANSWERED:
                    return _done(served, *call.arguments)
                case _:
                    connection.send(served.reply(call))


def processor_seconds(process: int) -> float:
    """Return the processor time of a process; 0 for an ended process, and where unknown.

    The number of the clock is that of clock_getcpuclockid(3), which Python lacks for processes.

    >>> processor_seconds(os.getpid()) > 0
    True
    """
    try:
        return time.clock_gettime((~process << 3) | 2)
    except OSError:
        return 0.0


def _done(served: StoreServer, found: Any, *told: Any) -> Done:
    if isinstance(found, Mapping):
        return Done(found, *told)
    kind, identity, fresh = found
    answer = served.answer(kind, identity, fresh=fresh)
    if answer is None:
        raise WorkDied(kind, None)
    return Done(answer, *told)


class _Watch:
    """The deadline, cancellation flag and latest progress of a task."""

    def __init__(self, seconds: float, cancelled: CancelFlag, report: Listener | None) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._cancelled = cancelled
        self._report = report
        self._where = ""

    def hear(self, stage: str, done: int, total: int) -> None:
        """Record the progress of the work."""
        self._where = f"; was {stage}, {done} of {total} done"
        if self._report is not None:
            self._report(stage, done, total)

    def look(self) -> None:
        """Raise if the work is to end."""
        if self._cancelled.is_set():
            raise Cancelled
        if time.monotonic() >= self._end:
            raise TookTooLong("", f"must be done within {self._seconds:g} seconds{self._where}")
