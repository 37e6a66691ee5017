"""Cache of API key lookups, so that a request needs no query.

An entry, for a key or for an unknown text, is valid for `SECONDS`.  A revoked key still works for
that time.  The cache keeps the digest of a key, not its text.
"""

import asyncio
import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from topoloom.app.auth import api_keys
from topoloom.app.auth.scopes import Scope, reach

log = logging.getLogger(__name__)

SECONDS = 5.0
"""Seconds for which an entry is valid."""

MOST = 4096
"""Most entries, for valid and invalid keys."""

_READERS = 2
"""Threads for lookups of keys alone: computations must not delay authentication."""


@dataclass(frozen=True, slots=True)
class Access:
    """Identity and scopes of a caller: ``owner`` is ``key:ID`` or ``address:IP``."""

    owner: str
    scopes: frozenset[Scope]


class KnownKeys:
    """Cached lookups of the keys of a database, for one event loop."""

    def __init__(
        self,
        engine: Engine,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._engine, self._seconds, self._clock = engine, seconds, clock
        self._found: OrderedDict[bytes, tuple[float, Access | None]] = OrderedDict()
        self._reading: CapacityLimiter | None = None
        self._writing: CapacityLimiter | None = None
        self._touching: set[asyncio.Task[None]] = set()

    def remembered(self, text: str) -> tuple[Access | None] | None:
        """Return the valid entry of a key, in a tuple; None without an entry.

        Takes some microseconds.
        """
        entry = self._found.get(_digest(text))
        return (entry[1],) if entry is not None and self._clock() < entry[0] else None

    async def look_up(self, text: str) -> Access | None:
        """Return the access of the key of this text; None without a valid key.

        Raises
        ------
        sqlalchemy.exc.DBAPIError
            The database cannot be used.
        """
        if self._reading is None or self._writing is None:
            self._reading, self._writing = CapacityLimiter(_READERS), CapacityLimiter(1)
        key, moment = (
            await run_sync(api_keys.find, self._engine, text, limiter=self._reading),
            api_keys.now(),
        )
        access, counts = None, self._seconds
        if key is not None and key.is_valid(moment):
            access = Access(f"key:{key.id}", reach(frozenset(key.scopes)))
            if key.expires_at is not None:
                counts = min(counts, (key.expires_at - moment).total_seconds())
            self._touch(key, moment, self._writing)
        self._found[_digest(text)] = (self._clock() + counts, access)
        self._found.move_to_end(_digest(text))
        if len(self._found) > MOST:
            self._found.popitem(last=False)
        return access

    def _touch(self, key: api_keys.ApiKey, moment: datetime, threads: CapacityLimiter) -> None:
        """Store the last use of a key in the background; requests do not wait for writes."""
        if key.used_at is not None and key.used_at > moment - api_keys.TOUCH:
            return
        written = run_sync(self._touched, key, moment, limiter=threads)
        task = asyncio.get_running_loop().create_task(written)
        self._touching.add(task)
        task.add_done_callback(self._touching.discard)

    def _touched(self, key: api_keys.ApiKey, moment: datetime) -> None:
        try:
            api_keys.touch(self._engine, key, moment)
        except SQLAlchemyError as error:
            log.warning("the last use of key %s could not be written: %s", key.id, error)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="replace")).digest()
