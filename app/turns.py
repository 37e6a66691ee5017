"""Answers are looked up first; only what must be computed waits for its turn.

A route runs twice at most: first with a context that only looks, then, if something is not
stored, with one that computes, in one of few places.  Whoever waits holds no thread, so that
stored answers are read meanwhile; who waits for what another request computes takes no place.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import wraps
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool

from app.services.context import Context, MustCompute

__all__ = ["MAX_COMPUTATIONS", "Turns", "computing", "looked_up_first"]

MAX_COMPUTATIONS = 4
"""Places for computations of one process."""

T = TypeVar("T")


class Turns:
    """Who computes, and who waits; of one event loop."""

    def __init__(self, most: int = MAX_COMPUTATIONS) -> None:
        self._places = asyncio.Semaphore(most)
        self.waiting = self.running = 0
        self._leaders: dict[str, asyncio.Future[dict[str, Exception]]] = {}

    async def answer(self, context: Context, work: Callable[[Context], T]) -> T:
        """Return what ``work`` does, at once if nothing must be computed for it.

        Raises
        ------
        Exception
            What the work raised, or another that computed the same document meanwhile.
        """
        while True:
            try:
                return await run_in_threadpool(work, context.looking())
            except MustCompute as missing:
                identity = missing.identity
            leader = self._leaders.get(identity)
            if leader is None:
                return await self._lead(identity, context, work)
            failed = await asyncio.shield(leader)
            if identity in failed:
                raise failed[identity]

    async def compute(self, context: Context, work: Callable[[Context], T]) -> T:
        """Return what ``work`` does, in one of the places."""
        async with self._place():
            return await run_in_threadpool(work, context.computing({}))

    @asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        """Wait for a place, and keep it for this block."""
        self.waiting += 1
        try:
            await self._places.acquire()
        finally:
            self.waiting -= 1
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1
            self._places.release()

    async def _lead(self, identity: str, context: Context, work: Callable[[Context], T]) -> T:
        """Do the work; others that miss the same document wait for its end."""
        failed: dict[str, Exception] = {}
        ended = asyncio.get_running_loop().create_future()
        self._leaders[identity] = ended
        try:
            async with self._place():
                return await run_in_threadpool(work, context.computing(failed))
        finally:
            del self._leaders[identity]
            ended.set_result(failed)


def looked_up_first(route: Callable[..., T]) -> Callable[..., Awaitable[T]]:
    """Let a route with parameters ``request`` and ``context`` look answers up before it waits."""
    return _by_turns(Turns.answer, route)


def computing(route: Callable[..., T]) -> Callable[..., Awaitable[T]]:
    """Let a route that always computes wait for its turn."""
    return _by_turns(Turns.compute, route)


def _by_turns(
    way: Callable[[Turns, Context, Callable[[Context], T]], Awaitable[T]], route: Callable[..., T]
) -> Callable[..., Awaitable[T]]:
    @wraps(route)
    async def turned(**given: Any) -> T:
        turns, context = given["request"].app.state.turns, given.pop("context")
        return await way(turns, context, lambda chosen: route(context=chosen, **given))

    return turned
