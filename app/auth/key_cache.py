"""Cache of API key lookups, so that a request needs no query.

An entry, for a key or for an unknown id, is valid for `SECONDS`.  A revoked key still works for
that time.  A request in the second half of the time has the entry of its key renewed, and does not
wait for the query.  While the database cannot be used, entries stay valid until their keys expire.
The cache holds the digests of keys, not their texts.

One query at a time reads all keys that requests wait for.  A flood of guesses has five
queries a second, which read the ids of all keys, or fewer queries where these take long.
"""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple, TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from topoloom.app.auth import api_keys
from topoloom.app.auth.scopes import Scope, reach

log = logging.getLogger(__name__)

T = TypeVar("T")

SECONDS = 5.0
"""Seconds for which an entry is valid."""

MOST = 4096
"""Most entries, for valid and invalid keys."""

IDS_SECONDS = 0.2
"""Least seconds for which the ids of all keys are valid: an address that guesses waits for a new
key."""

IDS_REST = 20
"""The ids are valid for at least this multiple of the time that their query took."""


@dataclass(frozen=True, slots=True)
class Access:
    """Identity, scopes and owner of a caller.

    ``caller`` is ``key:ID`` or ``address:IP``.  ``owner`` owns what the caller makes; see
    `app.store.owners`.
    """

    caller: str
    scopes: frozenset[Scope]
    owner: str = ""

    @property
    def limited(self) -> str:
        """The owner for whom limits count work: an address where there are no keys."""
        return self.owner or self.caller


class _Entry(NamedTuple):
    """A key that is valid ``until`` a time of the clock; None for an invalid or unknown key.

    From the time ``renewed`` on, requests have the entry renewed.
    """

    renewed: float
    until: float
    key: api_keys.ApiKey | None
    access: Access | None


class KnownKeys:
    """Cached lookups of the keys of a database, for one event loop."""

    def __init__(
        self,
        engine: Engine,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._engine, self._seconds, self._clock = engine, seconds, clock
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._wanted: set[str] = set()
        self._next: asyncio.Task[None] | None = None
        self._one_query = asyncio.Lock()
        self._ids: frozenset[str] = frozenset()
        self._ids_until = float("-inf")
        self._listing: asyncio.Task[None] | None = None
        # Lookups and writes have threads of their own: computations do not delay authentication.
        self._reading: CapacityLimiter | None = None
        self._writing: CapacityLimiter | None = None
        self._touching: set[asyncio.Task[None]] = set()

    async def access(self, text: str) -> Access | None:
        """Return the access of the key of this text; None without a valid key.

        Raises:
            sqlalchemy.exc.DBAPIError: The database cannot be used, and the key is not in the cache.
        """
        identity = api_keys.id_of(text)
        if identity is None:
            return None
        entry = self._remembered(identity)
        if entry is not None and self._clock() >= entry.renewed:
            self._look_up_soon(identity)
        elif entry is None:
            try:
                await asyncio.shield(self._look_up_soon(identity))
            except SQLAlchemyError:
                if not self._is_in_force(self._entries.get(identity)):
                    raise
            entry = self._entries.get(identity)
        if entry is None or entry.key is None or not api_keys.opens(text, entry.key):
            return None
        self._touch(entry)
        return entry.access

    async def is_listed(self, text: str) -> bool:
        """Return whether a text has the id of a key that existed when the ids were last read.

        Raises:
            sqlalchemy.exc.DBAPIError: The database cannot be used.
        """
        identity = api_keys.id_of(text)
        if identity is None:
            return False
        if identity in self._entries:
            return True
        if self._clock() >= self._ids_until:
            if self._listing is None or self._listing.done():
                self._listing = asyncio.ensure_future(self._list())
            await asyncio.shield(self._listing)
        return identity in self._ids

    async def _list(self) -> None:
        start = self._clock()
        self._ids = await self._read(api_keys.ids)
        end = self._clock()
        self._ids_until = end + max(IDS_SECONDS, IDS_REST * (end - start))

    @staticmethod
    def _is_in_force(entry: _Entry | None) -> bool:
        """Whether an entry, of whatever age, holds a key that has not expired."""
        return entry is not None and entry.key is not None and entry.key.is_valid(api_keys.now())

    def _remembered(self, identity: str) -> _Entry | None:
        entry = self._entries.get(identity)
        if entry is None or self._clock() >= entry.until:
            return None
        # A flood of unknown ids drops the entries that nobody uses.
        self._entries.move_to_end(identity)
        return entry

    def _look_up_soon(self, identity: str) -> asyncio.Task[None]:
        """Return the next query, which reads every key that is wanted when the query begins."""
        self._wanted.add(identity)
        if self._next is None:
            self._next = asyncio.ensure_future(self._look_up())
            # Retrieve the exception, or asyncio logs an error when no client waits.
            self._next.add_done_callback(lambda done: done.cancelled() or done.exception())
        return self._next

    async def _look_up(self) -> None:
        async with self._one_query:
            wanted, self._wanted, self._next = self._wanted, set(), None
            found = await self._read(api_keys.with_ids, wanted)
        moment = api_keys.now()
        for identity in wanted:
            self._entries[identity] = self._entry(found.get(identity), moment)
            self._entries.move_to_end(identity)
        while len(self._entries) > MOST:
            self._entries.popitem(last=False)

    async def _read(self, query: Callable[..., T], *given: object) -> T:
        """Return the result of a query of the database."""
        if self._reading is None:
            self._reading = CapacityLimiter(1)
        return await run_sync(query, self._engine, *given, limiter=self._reading)

    def _entry(self, key: api_keys.ApiKey | None, moment: datetime) -> _Entry:
        now, counts = self._clock(), self._seconds
        if key is None or not key.is_valid(moment):
            return _Entry(now + counts, now + counts, None, None)
        if key.expires_at is not None:
            counts = min(counts, (key.expires_at - moment).total_seconds())
        access = Access(f"key:{key.id}", reach(frozenset(key.scopes)), key.owner)
        return _Entry(now + counts / 2, now + counts, key, access)

    def _touch(self, entry: _Entry) -> None:
        """Store the last use of a key in the background; requests do not wait for writes."""
        key = entry.key
        assert key is not None
        moment = api_keys.now()
        if key.used_at is not None and key.used_at > moment - api_keys.TOUCH:
            return
        self._entries[key.id] = entry._replace(key=replace(key, used_at=moment))
        if self._writing is None:
            self._writing = CapacityLimiter(1)
        written = run_sync(self._touched, key, moment, limiter=self._writing)
        task = asyncio.get_running_loop().create_task(written)
        self._touching.add(task)
        task.add_done_callback(self._touching.discard)

    def _touched(self, key: api_keys.ApiKey, moment: datetime) -> None:
        try:
            api_keys.touch(self._engine, key, moment)
        except SQLAlchemyError as error:
            log.warning("the last use of key %s could not be written: %s", key.id, error)
