"""Keys that were looked up a moment ago: a request must not cost a query.

What was found, or not found, counts for some seconds; so a key that is revoked still opens
for so long.  The text of a key is not kept, only its digest.
"""

import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from app.access import keys
from app.access.scopes import Scope, reach

__all__ = ["Access", "KnownKeys"]

log = logging.getLogger(__name__)

SECONDS = 5.0
"""So long what was looked up counts."""

MOST = 4096
"""So many keys, right and wrong ones, are remembered."""

_THREADS = 2
"""Threads of their own: who computes must not keep others from being told apart."""


@dataclass(frozen=True, slots=True)
class Access:
    """Who asks, and what they may: ``owner`` is ``key:ID`` or ``address:IP``."""

    owner: str
    scopes: frozenset[Scope]


class KnownKeys:
    """Finds keys of a database, by way of what is remembered; of one event loop."""

    def __init__(
        self,
        engine: Engine,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._engine, self._seconds, self._clock = engine, seconds, clock
        self._found: OrderedDict[bytes, tuple[float, Access | None]] = OrderedDict()
        self._threads: CapacityLimiter | None = None

    def remembered(self, text: str) -> tuple[Access | None] | None:
        """Return what was found of a key within the last seconds, in a tuple; None if nothing.

        Some microseconds.
        """
        entry = self._found.get(_digest(text))
        return (entry[1],) if entry is not None and self._clock() < entry[0] else None

    async def look_up(self, text: str) -> Access | None:
        """Return what the key of this text allows; None if it is no valid key.

        Raises
        ------
        sqlalchemy.exc.DBAPIError
            The database cannot be asked.
        """
        if self._threads is None:
            self._threads = CapacityLimiter(_THREADS)
        access, seconds = await run_sync(self._asked, text, limiter=self._threads)
        self._found[_digest(text)] = (self._clock() + seconds, access)
        self._found.move_to_end(_digest(text))
        if len(self._found) > MOST:
            self._found.popitem(last=False)
        return access

    def _asked(self, text: str) -> tuple[Access | None, float]:
        """Return what the database says, and for how many seconds that counts."""
        key, moment = keys.find(self._engine, text), keys.now()
        if key is None or not key.is_valid(moment):
            return None, self._seconds
        try:
            keys.touch(self._engine, key, moment)
        except SQLAlchemyError as error:
            log.warning("the last use of key %s could not be written: %s", key.id, error)
        left = self._seconds
        if key.expires_at is not None:
            left = min(left, (key.expires_at - moment).total_seconds())
        return Access(f"key:{key.id}", reach(frozenset(key.scopes))), left


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="replace")).digest()
