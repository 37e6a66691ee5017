"""Request dispatcher: answer a request from the store, by a computation, or with a job.

The event loop reads small stored documents where this takes no lock, otherwise threads do.  Worker
processes compute missing answers (`app.api.computation_queue`).  A client waits up to the seconds
in its ``Prefer: wait`` header, or until the service stops.  Then the computation becomes a job, and
the client gets the URL of the job (202).  The computation continues in this process while the job
waits for a worker.  The worker takes the result, or takes over the computation.
"""

import asyncio
import logging
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from anyio import to_thread
from fastapi import Request, Response
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from topoloom.app.api.async_reply import accepted_response, enqueue_job, requested_wait
from topoloom.app.api.computation_queue import ComputationQueue
from topoloom.app.api.job_worker import Host
from topoloom.app.auth.errors import ShuttingDown
from topoloom.app.documents.base import Presented
from topoloom.app.jobs.model import JobId
from topoloom.app.jobs.model import Task as JobTask
from topoloom.app.jobs.worker_pool.pool import Done
from topoloom.app.jobs.worker_pool.task import Task
from topoloom.app.requests.base import Request as Body
from topoloom.app.requests.designs import DesignRequest
from topoloom.app.requests.renamed import note_former
from topoloom.app.requests.stored_documents import StoredQuestion
from topoloom.app.services.context import CacheMiss, Context
from topoloom.app.services.operations import DESIGN, STORED, B, Operation
from topoloom.app.store.artifacts import ID_LENGTH, Artefact, key
from topoloom.app.store.database import DatabaseNotReady, is_embedded
from topoloom.app.store.document_store import Store
from topoloom.app.store.lock_waits import count_wait

log = logging.getLogger(__name__)
T = TypeVar("T")

LOOKUPS = 2
"""Lookup threads for an embedded database; more delay each other and the event loop.

A lookup takes a fifth of a millisecond of Python.  With 40 threads a process gives 16 clients 700
answers a second, with two 1,100: the 40 threads wait for the interpreter.
"""

LOOKUPS_ELSEWHERE = 16
"""Lookup threads for a database server: the threads mostly wait for the server."""

JOBS = 1
"""Threads that add jobs to an embedded database, which has one writer at a time.

Forty clients of an owner that get jobs at once would keep all other answers waiting for 0.1 s.
"""

SMALL = frozenset({"design", "frontier", "cost", "optimum", "verification", "simulation"})
"""Kinds of small documents; a document of another kind may have a hundred megabytes."""

MAX_JOB_BODY = 2**20
"""Largest body, in bytes, of a job; larger bodies are computed while the client waits."""

FOLLOWED_EVERY = 1.0
"""Seconds between two polls of a job whose computation runs in this process."""


class FairLimiter:
    """Slots for work; where all are in use, the owners that wait take turns.

    A flood of one owner delays the work of another owner by one turn, not by the whole line.

    Args:
        slots: Most pieces of work at a time.

    >>> async def served():
    ...     limiter, order = FairLimiter(slots=1), []
    ...     async def work(owner):
    ...         async with limiter.slot(owner):
    ...             await asyncio.sleep(0)
    ...             order.append(owner)
    ...     flood = [work("flood") for _ in range(20)]
    ...     await asyncio.gather(*flood, work("other"))
    ...     return order.index("other"), len(order)
    >>> asyncio.run(served())
    (2, 21)
    """

    def __init__(self, slots: int) -> None:
        self.slots = self._free = slots
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def slot(self, owner: str) -> AsyncIterator[None]:
        """Hold a slot for the duration of this block."""
        if self._free:
            self._free -= 1
        else:
            given = asyncio.get_running_loop().create_future()
            self._waiting.setdefault(owner, deque()).append(given)
            try:
                await given
            except asyncio.CancelledError:
                if not given.cancelled():
                    self._pass_on()
                raise
        try:
            yield
        finally:
            self._pass_on()

    def _pass_on(self) -> None:
        """Give a slot to the next owner in turn; keep the slot free where nobody waits."""
        while self._waiting:
            owner, line = self._waiting.popitem(last=False)
            given = line.popleft()
            if line:
                self._waiting[owner] = line
            if not given.done():
                given.set_result(None)
                return
        self._free += 1


class FairThreads:
    """Threads for short work; owners take turns.

    The threads stay: the event loop waits while a thread starts, for milliseconds on a busy core.
    """

    def __init__(self, threads: int) -> None:
        self._turns, self._threads = FairLimiter(threads), ThreadPoolExecutor(threads, "short")

    async def run(self, owner: str, work: Callable[[], T]) -> T:
        """Return what a function returns, called in a thread."""
        start = time.monotonic()
        async with self._turns.slot(owner):
            count_wait(time.monotonic() - start)
            loop, context = asyncio.get_running_loop(), copy_context()
            return await loop.run_in_executor(self._threads, context.run, work)

    def close(self) -> None:
        """Let the threads end after their work."""
        self._threads.shutdown(wait=False)


def lookup_threads(engine: Engine) -> FairThreads:
    """Return the threads for lookups of small documents."""
    return FairThreads(LOOKUPS if is_embedded(engine.url) else LOOKUPS_ELSEWHERE)


def job_threads(engine: Engine) -> FairThreads:
    """Return the threads that add and read jobs."""
    return FairThreads(JOBS if is_embedded(engine.url) else LOOKUPS_ELSEWHERE)


def context_of(request: Request) -> Context:
    """Return the context of the owner of a request."""
    context: Context = request.app.state.context
    store = context.whole_store.on_behalf_of(request.state.access.owner)
    return context if store is context.store else replace(context, store=store)


def _task(request: Request, operation: Operation[Any], body: Body | bytes) -> Task:
    """Return the task of a request for its owner."""
    return Task.of(operation.name, body, request.state.access.owner)


async def looked_up(request: Request, operation: Operation[B], body: B) -> Artefact:
    """Return the stored answer to a request, or raise `CacheMiss` if there is none."""
    context = context_of(request)
    kind = body.kind if isinstance(body, StoredQuestion) else operation.name
    if kind in SMALL and (identity := _quick_id(operation, body)) is not None:
        seen = await context.whole_store.seen_at_once(kind, identity)
        if seen is not None:
            return seen
    look_up = partial(operation.answer, context.looking(), body)
    if kind in SMALL:
        lookups: FairThreads = request.app.state.lookups
        found = await lookups.run(request.state.owner, look_up)
    else:  # in other threads: lookups of small documents never wait for large documents
        found = await to_thread.run_sync(look_up)
    assert isinstance(found, Artefact)
    return found


def _quick_id(operation: Operation[Any], body: Body) -> str | None:
    """Return the id of an answer; None if it takes more than the members of the request."""
    if operation is STORED and isinstance(body, StoredQuestion):
        return body.id if len(body.id) == ID_LENGTH else None
    if operation is DESIGN and isinstance(body, DesignRequest) and not body.rewired:
        return key(operation.name, body.canonical())
    return None


async def stored_or_computed(request: Request, operation: Operation[B], body: B) -> Artefact:
    """Return the stored answer to a request, computed if there is none."""
    try:
        return await looked_up(request, operation, body)
    except CacheMiss:
        task = _task(request, operation, body)
        return _answer(await request.app.state.computations.compute(task, request))


async def unstored_answer(request: Request, operation: Operation[B], body: B) -> Presented:
    """Return an answer that is not stored."""
    task = _task(request, operation, body)
    done: Done = await request.app.state.computations.compute(task, request)
    assert not isinstance(done.answer, Artefact)
    return done.answer


async def document(request: Request, kind: str, identity: str) -> Artefact:
    """Return the stored document of an id or a unique prefix of an id."""
    return await stored_or_computed(request, STORED, StoredQuestion(kind=kind, id=identity))


async def answered_or_accepted(
    request: Request, operation: Operation[B], body: B
) -> Artefact | Response:
    """Return the stored or quickly computed answer to a request; else 202 and a job.

    Raises:
        QueueFull, TooManyJobs, WebhookRefused, DatabaseNotReady: As `Jobs.enqueue` does.
        Exception: As `stored_or_computed` does.
    """
    try:
        return await looked_up(request, operation, body)
    except CacheMiss:
        return await _computed(request, _task(request, operation, body))


async def unparsed_or_accepted(
    request: Request, operation: Operation[B], body: bytes
) -> Artefact | Response:
    """Do the same for a body that is too large to parse on the event loop."""
    return await _computed(request, _task(request, operation, body))


async def _computed(request: Request, task: Task) -> Artefact | Response:
    """Return the computed answer, or 202 and a job when the wait of the client is over."""
    queue: ComputationQueue = request.app.state.computations
    host: Host = request.app.state.host
    settings = request.app.state.context.settings
    asks = "prefer" in request.headers
    wait_seconds = requested_wait(request).wait_seconds if asks else settings.wait_seconds
    large = isinstance(task.request, bytes) and len(task.request) > MAX_JOB_BODY
    if large or not host.takes_jobs:
        return _answer(await queue.compute(task, request))
    of_job = JobTask(task.operation, task.text(), task.identity)
    if wait_seconds == 0:
        return accepted_response(await enqueue_job(request, of_job))
    with queue.joined(task, request.state.owner) as computation:
        done = await queue.completed(computation, request, wait_seconds)
        if done is not None:
            return _answer(done)
        try:
            job = await enqueue_job(request, of_job)
        except (DatabaseNotReady, DBAPIError) as error:
            log.error("no job can be noted, so this answer is waited for: %s", error)
            done = await queue.completed(computation, request)
            if done is None:
                raise ShuttingDown from None
            return _answer(done)
        if settings.run_worker:
            wanted = partial(_is_wanted, request, job.id)
            queue.follow(computation, wanted, partial(_complete, request, job.id), FOLLOWED_EVERY)
    return accepted_response(job)


def _answer(done: Done) -> Artefact:
    assert isinstance(done.answer, Artefact)
    for name, former in done.former.items():
        note_former(name, former)
    return done.answer


async def _is_wanted(request: Request, job: JobId) -> bool:
    """Return whether a job has not ended; true where the database does not answer."""
    state = request.app.state
    read = partial(state.host.jobs.state, job)
    try:
        return not (await state.job_threads.run(request.state.owner, read)).state.ended
    except DBAPIError:
        return True


async def _complete(request: Request, job: JobId, done: Done) -> None:
    """End a job whose computation has stored its answer, before a worker takes the job."""
    host: Host = request.app.state.host
    store: Store = request.app.state.store

    def complete() -> None:
        # A job is done only when its answer is stored; otherwise a worker tries again.
        if store.settled() is None:
            host.jobs.complete(job, _answer(done).id)

    with suppress(DBAPIError):
        await request.app.state.job_threads.run(request.state.owner, complete)
