"""Waiting for jobs without a thread per waiter: one query reads all awaited jobs."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool

from topoloom.app.jobs import queries
from topoloom.app.jobs.errors import TooManyListeners
from topoloom.app.jobs.model import Job, JobId

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.2
HEARTBEAT_SECONDS = 15.0


class Watcher:
    """The waiters of one event loop, by job."""

    def __init__(self, engine: Engine, most_streams: int) -> None:
        self._engine, self._most, self._streams = engine, most_streams, 0
        self._waiting: dict[JobId, set[asyncio.Event]] = {}
        self._seen: dict[JobId, int] = {}
        self._looking: asyncio.Task[None] | None = None
        self._stopped = False

    def stop(self) -> None:
        """End all waits and streams: the service stops."""
        self._stopped = True
        for word in (word for words in self._waiting.values() for word in words):
            word.set()

    async def changed(self, job: JobId, revision: int, seconds: float) -> Job:
        """Return a job when it is beyond a revision, or as it stands after so long.

        Raises:
            NotStored: There is no such job, or it was deleted meanwhile.
        """
        end = time.monotonic() + seconds
        while True:
            found = await run_in_threadpool(queries.read, self._engine, job)
            left = end - time.monotonic()
            if found.revision > revision or found.state.ended or left <= 0 or self._stopped:
                return found
            await self._word_of(job, found.revision, left)

    async def ended(self, job: JobId, seconds: float) -> Job:
        """Return a job when it has ended, or as it stands after so long."""
        end, revision = time.monotonic() + seconds, 0
        while True:
            found = await self.changed(job, revision, max(0.0, end - time.monotonic()))
            if found.state.ended or time.monotonic() >= end or self._stopped:
                return found
            revision = found.revision

    async def stream(self, job: JobId, revision: int) -> AsyncIterator[Job | None]:
        """Yield a job whenever it is beyond a revision, until it has ended; None while nothing is.

        Raises:
            TooManyListeners: The limit on open streams of this process is reached.
        """
        if self._streams >= self._most:
            raise TooManyListeners(self._most)
        self._streams += 1
        try:
            while True:
                found = await self.changed(job, revision, HEARTBEAT_SECONDS)
                if found.revision > revision or found.state.ended:
                    revision = found.revision
                    yield found
                else:
                    yield None
                if found.state.ended or self._stopped:
                    return
        finally:
            self._streams -= 1

    async def _word_of(self, job: JobId, revision: int, seconds: float) -> None:
        """Wait until a job is beyond a revision, or for so long."""
        word = asyncio.Event()
        self._waiting.setdefault(job, set()).add(word)
        self._seen[job] = min(revision, self._seen.get(job, revision))
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        try:
            await asyncio.wait_for(word.wait(), seconds)
        except TimeoutError:
            pass
        finally:
            self._waiting[job].discard(word)
            if not self._waiting[job]:
                del self._waiting[job], self._seen[job]

    async def _look(self) -> None:
        """Poll for changes while any job has waiters."""
        while self._waiting:
            await asyncio.sleep(LOOK_SECONDS)
            wanted = list(self._waiting)
            try:
                found = await run_in_threadpool(queries.revisions, self._engine, wanted)
            except SQLAlchemyError as error:
                log.warning("jobs cannot be looked up: %s", str(error).splitlines()[0])
                continue
            for job in wanted:
                # A job that is gone is a change, too.
                if job in self._waiting and found.get(job, -1) != self._seen[job]:
                    for word in self._waiting[job]:
                        word.set()
                    self._seen[job] = found.get(job, -1)
