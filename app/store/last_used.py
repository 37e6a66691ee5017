"""Recently read documents, whose read times are stored in batches."""

import time
from collections import OrderedDict
from threading import Lock

AGAIN_SECONDS = 3600.0
"""Seconds between two stored uses of one document; eviction needs no finer times."""

MOST = 100_000
"""Most documents in memory; beyond that the oldest use is dropped without a write."""


class Uses:
    """Documents read since the last write of their uses; safe for threads.

    >>> uses = Uses()
    >>> uses.note("design", "ab"); uses.note("design", "ab")
    >>> uses.taken(10), uses.taken(10)
    ([('design', 'ab')], [])
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._written: OrderedDict[tuple[str, str], float] = OrderedDict()
        self._waiting: OrderedDict[tuple[str, str], None] = OrderedDict()

    def note(self, kind: str, identity: str) -> None:
        """Note that a document was read."""
        document, now = (kind, identity), time.monotonic()
        with self._lock:
            if now - self._written.get(document, -AGAIN_SECONDS) < AGAIN_SECONDS:
                return
            self._written[document] = now
            self._written.move_to_end(document)
            self._waiting[document] = None
            for remembered in (self._written, self._waiting):
                if len(remembered) > MOST:
                    remembered.popitem(last=False)

    def taken(self, most: int) -> list[tuple[str, str]]:
        """Remove and return up to ``most`` documents whose use is not stored yet."""
        with self._lock:
            count = min(most, len(self._waiting))
            return [self._waiting.popitem(last=False)[0] for _ in range(count)]
