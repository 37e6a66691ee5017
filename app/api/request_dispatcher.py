"""Answers are looked up first; only what must be computed waits for its turn.

Stored answers are read in threads and wait for nothing.  What is missing is done by a crew of
processes (`app.jobs.worker_pool`), few at a time.  Equal work is done once for all who wait for it,
and ends when the last of them has gone.
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
from topoloom.app.jobs.worker_pool.pool import Crew, Done
from topoloom.app.jobs.worker_pool.task import B, Operation, Task
from topoloom.app.requests.stored_documents import StoredQuestion
from topoloom.app.services.context import Context, MustCompute
from topoloom.app.store.artifacts import Artefact
from topoloom.app.store.database import is_embedded
from topoloom.schedules.errors import ScheduleError, TookTooLong
from topoloom.synth.errors import SynthError

MAX_REFUSED = 1024
"""So many questions that cannot be answered are remembered."""

REMEMBERED = 60.0
"""For so many seconds; what a name stands for may change."""


LOOKUPS = 2
"""Threads that look up in an embedded database; more hold up each other and the event loop.

A lookup is a fifth of a millisecond of Python.  With 40 threads a process gives 16 clients 700
answers a second, with two 1,100: the rest is threads that wait for the interpreter.
"""

LOOKUPS_ELSEWHERE = 16
"""The same where a server is asked: they wait for it most of the time."""

SMALL = frozenset({"design", "frontier", "cost", "optimum", "verification", "simulation"})
"""Kinds of documents that are read in no time; of others one may have a hundred megabytes."""


class Flight:
    """Work under way, how many wait for it, and what ends it."""

    def __init__(self) -> None:
        self.waiters = 0
        self.told = 0
        self.goes_on = False
        self.cancelled = Event()
        self.landing: asyncio.Task[Done]

    async def landed(self, request: Request, seconds: float | None = None) -> Done | None:
        """Return what the work gave; None if that takes longer.

        Raises
        ------
        Cancelled
            The one who asked has left.
        Exception
            What the work raised.
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


class Turns:
    """Who computes, and who waits; of one event loop."""

    def __init__(self, crew: Crew, places: int, most_waiting: int) -> None:
        self._crew = crew
        self._places = asyncio.Semaphore(places)
        self._most_waiting = places + most_waiting
        # A thread for each worker that is served, besides those that read stored answers.
        self._threads = ThreadPoolExecutor(places, "crew")
        self._flights: dict[str, Flight] = {}
        self.running = 0
        self._followers: set[asyncio.Task[None]] = set()
        self._refused: OrderedDict[str, tuple[Exception, float]] = OrderedDict()

    @property
    def waiting(self) -> int:
        """How much work waits for a place."""
        return max(0, len(self._flights) - self.running)

    async def compute(self, task: Task, request: Request) -> Done:
        """Return what a piece of work gives, unless the one who asked leaves before.

        Raises
        ------
        Cancelled
            Nobody is there to be answered.
        Busy
            Too much waits already.
        Exception
            What the work raised.
        """
        with self.joined(task) as flight:
            done = await flight.landed(request)
        assert done is not None
        return done

    @contextmanager
    def joined(self, task: Task) -> Iterator[Flight]:
        """Wait for a piece of work in this block, with others who wait for the same.

        It is begun if it is not under way, and ended when the last has left.
        """
        self._raise_remembered(task.identity)
        flight = self._flights.get(task.identity) or self._begin(task)
        with self._waited_for(task, flight):
            yield flight

    def go_on(
        self, task: Task, flight: Flight, wanted: Callable[[], Awaitable[bool]], every: float
    ) -> None:
        """Let work go on though nobody waits for it any more, as long as it is ``wanted``.

        Asked ``every`` so many seconds.  Work that goes on already does so once.
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

        # Entered at once: whoever waits now may have left before the task begins.
        staying = ExitStack()
        staying.enter_context(self._waited_for(task, flight))
        follower = asyncio.ensure_future(follow())
        # asyncio itself forgets tasks that nobody holds.
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
        """End all work, and wait until it is ended."""
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
        # Who has left will not ask how it ended.
        flight.landing.add_done_callback(lambda landed: landed.cancelled() or landed.exception())
        return flight

    def _end(self, identity: str, flight: Flight) -> None:
        """Forget work that nobody waits for; if it is not done, let it end."""
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
                # In the context of who asked first: its lines in the log have the request's id.
                run = partial(self._crew.run, task, flight.cancelled)
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
        """Note for a while what cannot be answered: the same question has the same error."""
        self._refused[identity] = error, time.monotonic() + REMEMBERED
        if len(self._refused) > MAX_REFUSED:
            self._refused.popitem(last=False)


def lookups(engine: Engine) -> CapacityLimiter:
    """Return what limits how many small answers are looked up at the same time."""
    return CapacityLimiter(LOOKUPS if is_embedded(engine.url) else LOOKUPS_ELSEWHERE)


async def looked_up(request: Request, operation: Operation[B], body: B) -> Artefact:
    """Return the stored answer to a request, or raise `MustCompute` if there is none."""
    context: Context = request.app.state.context
    kind = body.kind if isinstance(body, StoredQuestion) else operation.name
    # None: as many threads as for anything, so that nobody waits for what is large.
    limiter: CapacityLimiter | None = request.app.state.lookups if kind in SMALL else None
    found = await to_thread.run_sync(operation.answer, context.looking(), body, limiter=limiter)
    assert isinstance(found, Artefact)
    return found


async def answered(request: Request, operation: Operation[B], body: B) -> Artefact:
    """Return the stored answer to a request, computed if there is none."""
    try:
        return await looked_up(request, operation, body)
    except MustCompute:
        task = Task.of(operation.name, body)
        found = (await request.app.state.turns.compute(task, request)).answer
    assert isinstance(found, Artefact)
    return found


async def presented(request: Request, operation: Operation[B], body: B) -> Presented:
    """Return an answer that nobody stores."""
    done: Done = await request.app.state.turns.compute(Task.of(operation.name, body), request)
    assert not isinstance(done.answer, Artefact)
    return done.answer


async def document(request: Request, kind: str, identity: str) -> Artefact:
    """Return the stored document of an id, or of the only one that begins so."""
    return await answered(request, STORED, StoredQuestion(kind=kind, id=identity))


async def _gone(request: Request) -> None:
    """Return when the one who asked has closed the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
