"""The background thread that stores read times, and limits the cache and the audit log."""

import logging
import math
import time
from collections.abc import Callable
from threading import Event, Thread

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from topoloom.app.store.audit_log import expire
from topoloom.app.store.eviction import evict, usage, write_uses
from topoloom.app.store.last_used import Uses
from topoloom.app.store.write_behind import Growth

log = logging.getLogger(__name__)

INTERVAL_SECONDS = 30.0
"""Most seconds between two rounds; writes that may exceed the limit begin a round at once."""

AUDIT_SECONDS = 3600.0
"""Seconds between two deletions of old entries of the audit log."""

ROOM = 10
"""Eviction frees an extra 1/ROOM of the limit, so that not every round evicts."""


class Housekeeper:
    """Housekeeping of one database in a thread, from `start` to `stop`.

    ``most_bytes`` is the largest size of the cache; 0 means no limit.  ``evicted`` receives the
    number of evicted documents, and their bytes.  ``growth`` tells of the writes of this process.
    Entries of the audit log are deleted after ``keep_audit_days``; 0 keeps them.
    """

    def __init__(
        self,
        engine: Engine,
        uses: Uses,
        most_bytes: int,
        interval: float = INTERVAL_SECONDS,
        evicted: Callable[[int, int], None] = lambda documents, size: None,
        growth: Growth | None = None,
        keep_audit_days: float = 0,
    ) -> None:
        self._engine, self._uses, self._most = engine, uses, most_bytes
        self._interval, self._evicted = interval, evicted
        self._growth, self._keep_audit_days = growth or Growth(), keep_audit_days
        self._next_audit = time.monotonic()
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="housekeeping", daemon=True)

    def start(self) -> None:
        """Start the thread, which runs a round after each interval and after large writes."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread between two batches, and wait up to 5 seconds for its end."""
        self._stopped.set()
        self._growth.grown.set()
        self._thread.join(timeout=5)

    def round(self) -> None:
        """Store read times; evict documents if the cache is too large; shorten the audit log."""
        write_uses(self._engine, self._uses)
        if self._keep_audit_days and time.monotonic() >= self._next_audit:
            self._next_audit = time.monotonic() + AUDIT_SECONDS
            expire(self._engine, self._keep_audit_days)
        before = self._growth.begin()
        if not self._most:
            self._growth.counted(before, math.inf)
            return
        used = sum(one.bytes for one in usage(self._engine).values())
        if used > self._most:
            used = self._evict()
        self._growth.full = (used, self._most) if used > self._most else None
        self._growth.counted(before, self._most - used)

    def _evict(self) -> int:
        """Evict documents; return the bytes that remain stored."""
        gone = evict(self._engine, self._most - self._most // ROOM, self._stopped.is_set)
        self._evicted(gone.documents, gone.bytes)
        log.info("the cache let %d documents of %d bytes go", gone.documents, gone.bytes)
        if gone.left_bytes > self._most:
            log.warning(
                "the cache has %d bytes, more than %d: all that is left is pinned, labelled, "
                "registered, or named by something that is",
                gone.left_bytes,
                self._most,
            )
        return gone.left_bytes

    def _run(self) -> None:
        while True:
            self._growth.grown.wait(self._interval)
            self._growth.grown.clear()
            if self._stopped.is_set():
                return
            try:
                self.round()
            except SQLAlchemyError as error:
                # The next round tries again; requests report their own database errors.
                log.error("the cache could not be kept in order: %s", error)
