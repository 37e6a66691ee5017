"""Request dispatcher: look up stored answers, and compute missing answers in a worker pool.

Threads read stored answers, and never wait for computations.  Worker processes
(`app.jobs.worker_pool`) compute missing answers, a few at a time.  Equal requests share one
computation, which is canceled when the last client disconnects.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from functools import partial
from threading import Event

from anyio import CapacityLimiter, to_thread
from fastapi import Request
from sqlalchemy import Engine

from topoloom.app.documents.base import Presented
from topoloom.app.jobs.worker_pool.errors import Busy, Cancelled
from topoloom.app.jobs.worker_pool.operations import STORED
from topoloom.app.jobs.worker_pool.pool import Done, WorkerPool
from topoloom.app.jobs.worker_pool.task import B, Operation, Task
from topoloom.app.requests.stored_documents import StoredQuestion
from topoloom.app.services.context import CacheMiss, Context
from topoloom.app.store.artifacts import Artefact
from topoloom.app.store.database import is_embedded
from topoloom.schedules.errors import ScheduleError, TookTooLong
from topoloom.synth.errors import SynthError

MAX_REFUSED = 1024
"""Most failed requests whose errors are remembered."""

REMEMBERED = 60.0
"""Seconds for which such an error is remembered; the meaning of a name may change."""


LOOKUPS = 2
"""Lookup threads for an embedded database; more delay each other and the event loop.

A lookup takes a fifth of a millisecond of Python.  With 40 threads a process gives 16 clients 700
answers a second, with two 1,100: the 40 threads wait for the interpreter.
"""

LOOKUPS_ELSEWHERE = 16
"""Lookup threads for a database server: the threads mostly wait for the server."""

SMALL = frozenset({"design", "frontier", "cost", "optimum", "verification", "simulation"})
"""Kinds of small documents; a document of another kind may have a hundred megabytes."""


class Flight:
    """Computation under way, with its waiters and its cancellation."""

    def __init__(self) -> None:
        self.waiters = 0
        self.told = 0
        self.goes_on = False
        self.cancelled = Event()
        self.landing: asyncio.Task[Done]

    async def landed(self, request: Request, seconds: float | None = None) -> Done | None:
        """Return the result of the computation; None if it takes more than ``seconds``.

        Raises
        ------
        Cancelled
            The client has disconnected.
        Exception
            The error of the computation.
        """
        gone = asyncio.ensure_future(_gone(request))
        try:
            both = {self.landing, gone}
            await asyncio.wait(both, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
        if gone.done() and not gone.cancelled() and not self.landing.done():
            raise Cancelled
        if not self.landing.done():
            return None
        self.told += 1
        done = self.landing.result()
        return done if self.told == 1 else done.known()


class ComputationQueue:
    """Dispatcher of computations for one event loop."""

    def __init__(self, pool: WorkerPool, places: int, most_waiting: int) -> None:
        self._pool = pool
        self._places = asyncio.Semaphore(places)
        self._most_waiting = places + most_waiting
        # One thread for each busy worker, besides the threads for lookups.
        self._threads = ThreadPoolExecutor(places, "pool")
        self._flights: dict[str, Flight] = {}
        self.running = 0
        self._followers: set[asyncio.Task[None]] = set()
        self._refused: OrderedDict[str, tuple[Exception, float]] = OrderedDict()

    @property
    def waiting(self) -> int:
        """Number of computations that wait for a slot."""
        return max(0, len(self._flights) - self.running)

    async def compute(self, task: Task, request: Request) -> Done:
        """Return the result of a task, unless the client disconnects.

        Raises
        ------
        Cancelled
            The client has disconnected.
        Busy
            Too many tasks wait.
        Exception
            The error of the task.
        """
        with self.joined(task) as flight:
            done = await flight.landed(request)
        assert done is not None
        return done

    @contextmanager
    def joined(self, task: Task) -> Iterator[Flight]:
        """Join the computation of a task for the duration of this block.

        The first waiter starts the computation.  The last waiter to leave ends it.
        """
        self._raise_remembered(task.identity)
        flight = self._flights.get(task.identity) or self._begin(task)
        with self._waited_for(task, flight):
            yield flight

    def go_on(
        self, task: Task, flight: Flight, wanted: Callable[[], Awaitable[bool]], every: float
    ) -> None:
        """Continue a computation without waiters while ``wanted`` returns true.

        ``wanted`` is polled at intervals of ``every`` seconds.  A second call has no effect.
        """
        if flight.goes_on:
            return
        flight.goes_on = True

        async def follow() -> None:
            with staying:
                while not flight.landing.done():
                    await asyncio.wait({flight.landing}, timeout=every)
                    if not await wanted():
                        return

        # Entered at once: the current waiters may leave before the task begins.
        staying = ExitStack()
        staying.enter_context(self._waited_for(task, flight))
        follower = asyncio.ensure_future(follow())
        # asyncio keeps only weak references to tasks.
        self._followers.add(follower)
        follower.add_done_callback(self._followers.discard)

    @contextmanager
    def _waited_for(self, task: Task, flight: Flight) -> Iterator[None]:
        flight.waiters += 1
        try:
            yield
        finally:
            flight.waiters -= 1
            if not flight.waiters:
                self._end(task.identity, flight)

    def close(self) -> None:
        """Cancel all computations, and wait for their threads."""
        for follower in self._followers:
            follower.cancel()
        for flight in self._flights.values():
            flight.cancelled.set()
        self._threads.shutdown(cancel_futures=True)

    def _begin(self, task: Task) -> Flight:
        if len(self._flights) >= self._most_waiting:
            raise Busy(len(self._flights))
        flight = self._flights[task.identity] = Flight()
        flight.landing = asyncio.ensure_future(self._fly(task, flight))
        # Retrieve the exception, or asyncio logs an error when all waiters have left.
        flight.landing.add_done_callback(lambda landed: landed.cancelled() or landed.exception())
        return flight

    def _end(self, identity: str, flight: Flight) -> None:
        """Cancel and forget a computation without waiters."""
        flight.cancelled.set()
        if self._flights.get(identity) is flight:
            del self._flights[identity]

    async def _fly(self, task: Task, flight: Flight) -> Done:
        async with self._places:
            if flight.cancelled.is_set():
                raise Cancelled
            loop = asyncio.get_running_loop()
            self.running += 1
            try:
                # In the context of the first request: log lines carry the id of that request.
                run = partial(self._pool.run, task, flight.cancelled)
                return await loop.run_in_executor(self._threads, copy_context().run, run)
            except (SynthError, ScheduleError) as error:
                if not isinstance(error, TookTooLong):
                    self._remember(task.identity, error)
                raise
            finally:
                self.running -= 1

    def _raise_remembered(self, identity: str) -> None:
        error, until = self._refused.get(identity, (None, 0.0))
        if error is not None and time.monotonic() < until:
            raise error.with_traceback(None)

    def _remember(self, identity: str, error: Exception) -> None:
        """Remember the error of a request: the same request has the same error."""
        self._refused[identity] = error, time.monotonic() + REMEMBERED
        if len(self._refused) > MAX_REFUSED:
            self._refused.popitem(last=False)


def lookups(engine: Engine) -> CapacityLimiter:
    """Return the limiter of concurrent lookups of small documents."""
    return CapacityLimiter(LOOKUPS if is_embedded(engine.url) else LOOKUPS_ELSEWHERE)


async def looked_up(request: Request, operation: Operation[B], body: B) -> Artefact:
    """Return the stored answer to a request, or raise `CacheMiss` if there is none."""
    context: Context = request.app.state.context
    kind = body.kind if isinstance(body, StoredQuestion) else operation.name
    # None is the default limiter: lookups of small documents never wait for large documents.
    limiter: CapacityLimiter | None = request.app.state.lookups if kind in SMALL else None
    found = await to_thread.run_sync(operation.answer, context.looking(), body, limiter=limiter)
    assert isinstance(found, Artefact)
    return found


async def answered(request: Request, operation: Operation[B], body: B) -> Artefact:
    """Return the stored answer to a request, computed if there is none."""
    try:
        return await looked_up(request, operation, body)
    except CacheMiss:
        task = Task.of(operation.name, body)
        found = (await request.app.state.computations.compute(task, request)).answer
    assert isinstance(found, Artefact)
    return found


async def presented(request: Request, operation: Operation[B], body: B) -> Presented:
    """Return an answer that is not stored."""
    done: Done = await request.app.state.computations.compute(
        Task.of(operation.name, body), request
    )
    assert not isinstance(done.answer, Artefact)
    return done.answer


async def document(request: Request, kind: str, identity: str) -> Artefact:
    """Return the stored document of an id or a unique prefix of an id."""
    return await answered(request, STORED, StoredQuestion(kind=kind, id=identity))


async def _gone(request: Request) -> None:
    """Return when the client has closed the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
