"""The thread of a service that writes down uses and keeps the cache within its size."""

import logging
from threading import Event, Thread

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from topoloom.app.store.eviction import evict, usage, write_uses
from topoloom.app.store.last_used import Uses

log = logging.getLogger(__name__)

INTERVAL_SECONDS = 30.0

ROOM = 10
"""Where there is too much, a tenth of the limit is made free, lest every round find too much."""


class Housekeeper:
    """Keeps one database in order beside the requests, from `start` to `stop`.

    ``most_bytes`` is the largest size of the cache, 0 for none.
    """

    def __init__(
        self, engine: Engine, uses: Uses, most_bytes: int, interval: float = INTERVAL_SECONDS
    ) -> None:
        self._engine, self._uses, self._most = engine, uses, most_bytes
        self._interval = interval
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="housekeeping", daemon=True)

    def start(self) -> None:
        """Begin; rounds follow each other after a pause."""
        self._thread.start()

    def stop(self) -> None:
        """End between two batches, and wait for that."""
        self._stopped.set()
        self._thread.join(timeout=5)

    def round(self) -> None:
        """Write down uses; let documents go if there is too much."""
        write_uses(self._engine, self._uses)
        if not self._most or sum(one.bytes for one in usage(self._engine).values()) <= self._most:
            return
        gone = evict(self._engine, self._most - self._most // ROOM, self._stopped.is_set)
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
                # The next round tries again; requests notice for themselves.
                log.error("the cache could not be kept in order: %s", error)
