"""A worker process: runs one task, and then ends.

The fork server has all modules imported, so a worker starts within some 15 ms.  Its end frees all
its memory.  The pipe is its only connection.
"""

import contextlib
import ctypes
import logging
import os
import resource
import signal
import sys
import time
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from fastapi.exceptions import RequestValidationError

from topoloom.app.config import Settings
from topoloom.app.jobs.worker_pool.error_pickling import pack_error
from topoloom.app.jobs.worker_pool.store_proxy import ANSWERED, PROGRESS, RAISED, Call, RemoteStore
from topoloom.app.jobs.worker_pool.task import Task, parse_request
from topoloom.app.requests.renamed import SENT
from topoloom.app.services.context import Context
from topoloom.app.services.open_context import recompute_document
from topoloom.app.services.operations import OPERATIONS
from topoloom.app.store.artifacts import Artefact
from topoloom.schedules.errors import TooLarge
from topoloom.synth.progress import Listener, progress_listener

log = logging.getLogger(__name__)

NICENESS = 10
"""Workers yield the processor to the process that answers from the store."""

REPORT_SECONDS = 0.2
"""Seconds between two progress messages."""


def work(connection: Connection, settings: Settings, task: Task) -> None:
    """Run a task; send its store calls, its progress and its end over the connection."""
    _become_a_worker(settings.max_work_bytes)
    store = RemoteStore(connection)
    context = Context(
        store, settings, partial(progress_listener, _teller(connection)), mend=recompute_document
    )
    try:
        operation, asked, former = OPERATIONS[task.operation], task.request, {}
        SENT.set(former)
        body = parse_request(operation.body, asked) if isinstance(asked, bytes) else asked
        found = operation.answer(context, body)
        last = Call(ANSWERED, (_without_content(found), tuple(context.notes), former))
    except MemoryError:
        rule = f"needs more than {settings.max_work_bytes} bytes of memory, the limit of one answer"
        last = Call(RAISED, (pack_error(TooLarge("", rule)),))
    except Exception as error:
        if not (hasattr(error, "rule") or isinstance(error, RequestValidationError)):
            log.exception("the computation of a %s failed", task.operation)
        last = Call(RAISED, (pack_error(error),))
    with contextlib.suppress(BrokenPipeError):
        connection.send(last)


def _without_content(found: Any) -> Any:
    """Return an answer for the pipe: a stored document travels without its content."""
    return (found.kind, found.id, found.fresh) if isinstance(found, Artefact) else dict(found)


def _teller(connection: Connection) -> Listener:
    """Return a listener that sends progress, at most once in `REPORT_SECONDS`."""
    last = 0.0

    def tell(stage: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= REPORT_SECONDS:
            last = now
            connection.send(Call(PROGRESS, (stage, done, total)))

    return tell


def _become_a_worker(most_bytes: int) -> None:
    """Lower the priority, limit the memory, and end with the parent process."""
    # A signal to the process group is for the parent process, which then ends the worker.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _limit_memory(most_bytes)
    if sys.platform == "linux":
        set_death_signal = 1  # PR_SET_PDEATHSIG
        ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)


def _limit_memory(most_bytes: int) -> None:
    """Let allocations fail beyond the limit, or beyond a stricter limit of the system."""
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    most = most_bytes if hard == resource.RLIM_INFINITY else min(most_bytes, hard)
    with contextlib.suppress(ValueError, OSError):  # not every system has such a limit
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
