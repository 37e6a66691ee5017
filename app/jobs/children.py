"""Carrying out tasks in child processes, which a limit, a cancel or the end of us can kill.

A child is forked from a server that has imported what it needs, and holds one end of a pipe;
when the other end closes, because the worker was killed, it ends at once.
"""

import multiprocessing
import os
import resource
import signal
import threading
import time
from collections.abc import Mapping
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple

from app.config import Settings
from app.db import DatabaseNotReady
from app.jobs.errors import WorkFailed
from app.jobs.model import Cancelled, Failed, Reporting, Task
from schedules.errors import TookTooLong

__all__ = ["Children"]

LISTEN_SECONDS = 0.1
TELL_SECONDS = 0.2


class Told(NamedTuple):
    """What a child says: ``progress``, ``made`` or ``problem``."""

    what: str
    done: float = 0.0
    phase: str = ""
    made: str = ""
    problem: Mapping[str, Any] | None = None


class Children:
    """Carries out each task in a process of its own, within the limits of the settings."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["app.jobs.children", "app.jobs.operations"])
        # It imports while the first job is on its way.
        forkserver.ensure_running()

    def perform(self, task: Task, reporting: Reporting) -> str:
        """Return the id of the answer, which is in the store.

        Raises
        ------
        Cancelled
            As ``reporting`` said.
        Failed
            With the problem that the services answered with.
        TookTooLong, WorkFailed
            A limit ended it, or something else did.
        """
        ours, theirs = self._context.Pipe()
        child = self._context.Process(target=_child, args=(theirs, self._settings, task))
        child.daemon = True
        child.start()
        theirs.close()
        try:
            return self._heard(ours, child, reporting)
        finally:
            child.kill()
            child.join()
            child.close()
            ours.close()

    def _heard(self, pipe: Connection, child: BaseProcess, reporting: Reporting) -> str:
        end = time.monotonic() + self._settings.max_job_seconds
        while not reporting.cancelled():
            if time.monotonic() >= end:
                seconds = f"{self._settings.max_job_seconds:g}"
                raise TookTooLong("", f"must be done within {seconds} seconds")
            if not pipe.poll(LISTEN_SECONDS):
                continue
            try:
                told: Told = pipe.recv()
            except (EOFError, OSError):
                child.join(1.0)
                raise WorkFailed(f"the process that did the work ended: {_ended(child)}") from None
            if told.what == "made":
                return told.made
            if told.problem is not None:
                raise Failed(told.problem)
            reporting.progress(told.done, told.phase)
        raise Cancelled


def _ended(child: BaseProcess) -> str:
    code = child.exitcode
    return f"killed by signal {-code}" if code is not None and code < 0 else f"exit code {code}"


def _child(pipe: Connection, settings: Settings, task: Task) -> None:
    """Carry out one task, and say how it went."""
    # What ends the worker is sent to all of its group; the worker itself ends this one.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(pipe,), daemon=True).start()
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = settings.max_job_bytes
    resource.setrlimit(resource.RLIMIT_AS, (limit if most < 0 else min(limit, most), most))
    try:
        pipe.send(_carried_out(pipe, settings, task))
    except (BrokenPipeError, OSError):
        os._exit(1)


def _end_with(pipe: Connection) -> None:
    """End this process when the one that asked for the work has ended."""
    try:
        pipe.recv()
    except (EOFError, OSError):
        os._exit(1)


def _carried_out(pipe: Connection, settings: Settings, task: Task) -> Told:
    from app.jobs.operations import carry_out
    from app.problems import described
    from app.services.opening import open_context
    from schedules.progress import listened

    last = 0.0

    def listener(stage: str, done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= TELL_SECONDS:
            last = time.monotonic()
            pipe.send(Told("progress", done / total if total else 0.0, stage))

    try:
        with open_context(settings) as context, listened(listener):
            made = carry_out(context, task).id
            if context.store.settled() is not None:
                # It would be lost with this process.
                raise DatabaseNotReady("database_url: the answer could not be stored")
            return Told("made", made=made)
    except MemoryError:
        most = f"{settings.max_job_bytes} bytes (TOPOLOOM_MAX_JOB_BYTES)"
        error: Exception = WorkFailed(f"the work needs more memory than the {most} it may have")
    except Exception as raised:
        error = raised
    return Told("problem", problem=described(error, f"/v1/{task.operation}").model_dump())
