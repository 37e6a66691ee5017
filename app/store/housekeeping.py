"""The background thread that stores read times and limits the size of the cache."""

import logging
from collections.abc import Callable
from threading import Event, Thread

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from topoloom.app.store.eviction import evict, usage, write_uses
from topoloom.app.store.last_used import Uses

log = logging.getLogger(__name__)

INTERVAL_SECONDS = 30.0

ROOM = 10
"""Eviction frees an extra 1/ROOM of the limit, so that not every round evicts."""


class Housekeeper:
    """Housekeeping of one database in a thread, from `start` to `stop`.

    ``most_bytes`` is the largest size of the cache; 0 means no limit.  ``evicted`` receives the
    number of evicted documents, and their bytes.
    """

    def __init__(
        self,
        engine: Engine,
        uses: Uses,
        most_bytes: int,
        interval: float = INTERVAL_SECONDS,
        evicted: Callable[[int, int], None] = lambda documents, size: None,
    ) -> None:
        self._engine, self._uses, self._most = engine, uses, most_bytes
        self._interval, self._evicted = interval, evicted
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="housekeeping", daemon=True)

    def start(self) -> None:
        """Start the thread, which runs a round after each interval."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread between two batches, and wait up to 5 seconds for its end."""
        self._stopped.set()
        self._thread.join(timeout=5)

    def round(self) -> None:
        """Store read times; evict documents if the cache is too large."""
        write_uses(self._engine, self._uses)
        if not self._most or sum(one.bytes for one in usage(self._engine).values()) <= self._most:
            return
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

    def _run(self) -> None:
        while not self._stopped.wait(self._interval):
            try:
                self.round()
            except SQLAlchemyError as error:
                # The next round tries again; requests report their own database errors.
                log.error("the cache could not be kept in order: %s", error)
