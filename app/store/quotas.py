"""Quotas: the bytes that an owner stores, and may store."""

import time
from collections.abc import Callable
from threading import Lock

from sqlalchemy import Engine, func, select

from topoloom.app.store.errors import QuotaExceeded
from topoloom.app.store.owners import OPERATORS
from topoloom.app.store.tables import DocumentOwnerRow, JobRow, LrSessionRow

SECONDS = 5.0
"""Seconds for which a sum is valid that another process may change."""

MOST = 4096
"""Most owners whose sums are remembered."""


class Quotas:
    """Sums of the documents, sessions and jobs of owners; safe for threads.

    Args:
        most_bytes: Bytes that each owner may store; 0 for no limit.  Operators have no limit.
        clock: Returns monotonic seconds.
    """

    def __init__(
        self, engine: Engine, most_bytes: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._engine, self.most_bytes, self._clock = engine, most_bytes, clock
        self._sums: dict[str, tuple[float, int]] = {}
        self._lock = Lock()

    def require_room(self, owner: str) -> None:
        """Raise `QuotaExceeded` if an owner stores as many bytes as the quota allows."""
        if not self.most_bytes or owner in OPERATORS:
            return
        used = self.used(owner)
        if used >= self.most_bytes:
            raise QuotaExceeded(owner, used, self.most_bytes)

    def used(self, owner: str) -> int:
        """Return the bytes that an owner stores: documents, logs of sessions, requests of jobs."""
        with self._lock:
            until, used = self._sums.get(owner, (0.0, 0))
        if self._clock() < until:
            return used
        with self._engine.connect() as connection:
            sums = (
                select(func.sum(row.size)).where(row.owner == owner)
                for row in (DocumentOwnerRow, LrSessionRow, JobRow)
            )
            used = sum(int(connection.execute(one).scalar() or 0) for one in sums)
        with self._lock:
            if len(self._sums) >= MOST:
                self._sums.clear()
            self._sums[owner] = self._clock() + SECONDS, used
        return used

    def forget(self, owner: str) -> None:
        """Forget the sum of an owner, who has stored or deleted something."""
        with self._lock:
            self._sums.pop(owner, None)
