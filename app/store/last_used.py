"""Which stored documents were read lately, written down in batches beside the requests."""

import time
from collections import OrderedDict
from threading import Lock

AGAIN_SECONDS = 3600.0
"""A use is written down once in so long a time: what is let go is chosen among older ones."""

MOST = 100_000
"""So many documents are remembered; of more, the oldest use is forgotten, not written."""


class Uses:
    """The documents that were read since their uses were last written; threads may share it.

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
        """Return up to ``most`` documents whose use is to be written down now, once."""
        with self._lock:
            count = min(most, len(self._waiting))
            return [self._waiting.popitem(last=False)[0] for _ in range(count)]
