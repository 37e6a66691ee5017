"""Queue of computations: equal requests share one computation, and owners share the slots.

A free slot goes to the owner with the fewest running computations, then to the owner whose turn it
is.  Twice as many slots are reserved for owners that run nothing, so no owner waits for the slots
of a greedy owner.  When these are full, too, a computation that runs for some seconds gives its
slot to an owner that runs nothing; the computation waits again, and starts from the beginning.  The
last client that disconnects cancels a computation.
"""

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from threading import Event

from fastapi import Request

from topoloom.app.auth.errors import ShuttingDown
from topoloom.app.config import Settings
from topoloom.app.jobs.worker_pool.errors import Busy, Cancelled, TooManyWaiting
from topoloom.app.jobs.worker_pool.pool import SHORT_SECONDS, Done, WorkerPool
from topoloom.app.jobs.worker_pool.task import Task
from topoloom.schedules.errors import ScheduleError, TookTooLong
from topoloom.synth.errors import SynthError

MAX_REFUSED = 1024
"""Most failed requests whose errors are remembered."""

REMEMBERED = 60.0
"""Seconds for which such an error is remembered; the meaning of a name may change."""

RESERVE = 3
"""All slots, in slots that one owner can use; the other slots are for owners that run nothing."""

SLICE_SECONDS = 2.0
"""Seconds in a slot before an owner that runs nothing may take the slot; doubles every time."""


class Computation:
    """Computation in flight: its clients, its place in the line, and its result."""

    def __init__(self, task: Task, owner: str, turn: int) -> None:
        self.task, self.owner, self.turn = task, owner, turn
        self.clients: Counter[str] = Counter()
        self.followed = False
        self.started: float | None = None
        self.slice_seconds = SLICE_SECONDS
        self.cancelled = Event()
        self.told = 0
        # In the context of the first request: log lines carry the id of that request.
        self.context = copy_context()
        self.result: asyncio.Future[Done] = asyncio.get_running_loop().create_future()
        # Retrieve the exception, or asyncio logs an error when all clients have left.
        self.result.add_done_callback(lambda result: result.cancelled() or result.exception())


class ComputationQueue:
    """The computations of one event loop: a line for slots, which owners share."""

    def __init__(self, pool: WorkerPool, settings: Settings) -> None:
        self._pool, self._settings = pool, settings
        # One thread for each busy worker.
        self._slots, self._all_slots = settings.max_working, RESERVE * settings.max_working
        self._threads = ThreadPoolExecutor(self._all_slots, "pool")
        self._in_flight: dict[str, Computation] = {}
        self._running: set[Computation] = set()
        self._turn = 0
        self._reclaim: asyncio.TimerHandle | None = None
        self._stopping: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._followers: set[asyncio.Task[None]] = set()
        self._refused: OrderedDict[str, tuple[Exception, float]] = OrderedDict()

    @property
    def running(self) -> int:
        """Number of computations in slots."""
        return len(self._running)

    @property
    def waiting(self) -> int:
        """Number of computations that wait for a slot."""
        return len(self._line())

    async def compute(self, task: Task, request: Request) -> Done:
        """Return the result of a task, unless the client disconnects.

        Raises:
            Cancelled: The client has disconnected.
            TooManyWaiting, Busy: Too many computations of the owner, or of all owners, wait.
            ShuttingDown: The service stops.
            Exception: The error of the task.
        """
        with self.joined(task, request.state.owner) as computation:
            done = await self.completed(computation, request)
        if done is None:
            raise ShuttingDown
        return done

    @contextmanager
    def joined(self, task: Task, owner: str) -> Iterator[Computation]:
        """Wait for the computation of a task for the duration of this block.

        The first client puts the computation in the line.  The last client to leave ends it.
        """
        self._raise_remembered(task.identity)
        turn = self._next_turn(owner)
        one = self._in_flight.get(task.identity) or self._added(Computation(task, owner, turn))
        one.turn = min(one.turn, turn)
        one.clients[owner] += 1
        self._fill_slots()
        try:
            yield one
        finally:
            one.clients -= Counter([owner])
            self._end_unwanted(one)

    async def completed(
        self, one: Computation, request: Request, seconds: float | None = None
    ) -> Done | None:
        """Return the result; None if it takes more than ``seconds``, or the service stops.

        None also after the time limit of a computation whose job continues with its own limit.

        Raises:
            Cancelled: The client has disconnected.
            Exception: The error of the computation.
        """
        gone = asyncio.ensure_future(_gone(request))
        events = {one.result, gone, self._stopping}
        try:
            await asyncio.wait(events, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
        if one.result.done():
            if one.followed and isinstance(one.result.exception(), TookTooLong):
                return None
            one.told += 1
            done = one.result.result()
            return done if one.told == 1 else done.known()
        if gone.done() and not gone.cancelled():
            raise Cancelled
        return None

    def follow(
        self,
        one: Computation,
        wanted: Callable[[], Awaitable[bool]],
        ended: Callable[[Done], Awaitable[None]],
        every: float,
    ) -> None:
        """Let a computation run on without clients while ``wanted`` returns true.

        ``wanted`` is polled at intervals of ``every`` seconds; ``ended`` receives the result.  A
        second call has no effect.
        """
        if one.followed:
            return
        one.followed = True

        async def poll() -> None:
            while one.followed and not one.result.done():
                await asyncio.wait({one.result}, timeout=every)
                if not one.result.done():
                    one.followed = await wanted()
            self._end_unwanted(one)
            if not one.result.cancelled() and one.result.done() and not one.result.exception():
                await ended(one.result.result())

        follower = asyncio.ensure_future(poll())
        # asyncio keeps only weak references to tasks.
        self._followers.add(follower)
        follower.add_done_callback(self._followers.discard)

    def stop_waiting(self) -> None:
        """Tell all clients that the service stops."""
        if not self._stopping.done():
            self._stopping.set_result(None)

    def close(self) -> None:
        """Cancel all computations, and wait for their threads."""
        self.stop_waiting()
        for follower in self._followers:
            follower.cancel()
        for one in [*self._in_flight.values(), *self._running]:
            one.cancelled.set()
        self._in_flight.clear()
        self._threads.shutdown(cancel_futures=True)

    def _added(self, one: Computation) -> Computation:
        """Put a computation in the line, within the limits."""
        line, limits = self._line(), self._settings
        if sum(other.owner == one.owner for other in line) >= limits.max_waiting_per_owner:
            raise TooManyWaiting(limits.max_waiting_per_owner)
        if len(line) >= limits.max_waiting:
            raise Busy(len(line))
        self._in_flight[one.task.identity] = one
        return one

    def _next_turn(self, owner: str) -> int:
        """Return the turn of the next computation of an owner: behind its own, not behind others.

        Source: start-time fair queueing (Goyal, Vin, Cheng, SIGCOMM 1996).
        """
        mine = (one.turn + 1 for one in self._in_flight.values() if one.owner == owner)
        return max(mine, default=self._turn)

    def _line(self) -> list[Computation]:
        return [one for one in self._in_flight.values() if one.started is None]

    def _fill_slots(self) -> None:
        """Start computations in free slots; take a slot back for an owner that runs nothing."""
        while line := self._line():
            busy = Counter(one.owner for one in self._running)
            first = min(line, key=lambda one: (min(busy[o] for o in one.clients), one.turn))
            runs_nothing = min(busy[owner] for owner in first.clients) == 0
            if len(self._running) >= (self._all_slots if runs_nothing else self._slots):
                if runs_nothing:
                    self._take_back(busy)
                return
            self._start(first)

    def _start(self, one: Computation) -> None:
        loop = asyncio.get_running_loop()
        self._running.add(one)
        self._turn = max(self._turn, one.turn)
        one.started, one.cancelled = loop.time(), Event()
        # The computations of an owner share the time in which one computation does not yield.
        of_owner = sum(other.owner == one.owner for other in self._in_flight.values())
        short_seconds = SHORT_SECONDS / max(1, of_owner)
        run = partial(self._pool.run, one.task, one.cancelled, short_seconds=short_seconds)
        ended = loop.run_in_executor(self._threads, one.context.run, run)
        ended.add_done_callback(partial(self._ended, one))

    def _take_back(self, busy: Counter[str]) -> None:
        """Stop the longest computation of the owner with most slots, once its slice is over."""
        if any(one.cancelled.is_set() for one in self._running):
            return  # A slot is free in a moment.
        now = asyncio.get_running_loop().time()
        over = {one: now - (one.started or now) - one.slice_seconds for one in self._running}
        if max(over.values()) >= 0:
            spent = (one for one in self._running if over[one] >= 0)
            max(spent, key=lambda one: (busy[one.owner], over[one])).cancelled.set()
            return
        if self._reclaim is not None:
            self._reclaim.cancel()
        wait = -max(over.values())
        self._reclaim = asyncio.get_running_loop().call_later(wait, self._fill_slots)

    def _ended(self, one: Computation, ended: asyncio.Future[Done]) -> None:
        """Pass on the result of a computation; one that lost its slot waits again."""
        self._running.discard(one)
        one.started = None
        error = Cancelled() if ended.cancelled() else ended.exception()
        if isinstance(error, Cancelled) and one.clients and one in self._in_flight.values():
            one.slice_seconds, one.turn = 2 * one.slice_seconds, self._turn + 1
        elif error is None:
            self._forget(one)
            one.result.set_result(ended.result())
        else:
            self._forget(one)
            self._remember(one.task.identity, error)
            one.result.set_exception(error)
        self._fill_slots()

    def _end_unwanted(self, one: Computation) -> None:
        """Cancel and forget a computation that no client and no job needs."""
        if one.clients or (one.followed and one.started is not None):
            return
        one.cancelled.set()
        self._forget(one)
        if one.started is None:
            one.result.cancel()

    def _forget(self, one: Computation) -> None:
        if self._in_flight.get(one.task.identity) is one:
            del self._in_flight[one.task.identity]

    def _raise_remembered(self, identity: str) -> None:
        error, until = self._refused.get(identity, (None, 0.0))
        if error is not None and time.monotonic() < until:
            raise error.with_traceback(None)

    def _remember(self, identity: str, error: BaseException) -> None:
        """Remember the error of a request, if the same request has the same error."""
        if isinstance(error, SynthError | ScheduleError) and not isinstance(error, TookTooLong):
            self._refused[identity] = error, time.monotonic() + REMEMBERED
            if len(self._refused) > MAX_REFUSED:
                self._refused.popitem(last=False)


async def _gone(request: Request) -> None:
    """Return when the client has closed the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
