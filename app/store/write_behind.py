"""Answers that the database rejected, held in memory until a write succeeds; bytes written."""

import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Event, Lock
from typing import Any

from topoloom.app.store.artifacts import Artefact
from topoloom.app.store.index_metadata import Facts

MAX_BYTES = 64 * 2**20
"""Most bytes of answers in memory; the newest answer is always held."""

LONG = 1.0
"""Seconds after which a failed write counts as a timeout, which delays the next writes."""

REST = 3.0
"""Seconds of that delay; a failed read of that duration also delays the next reads."""


@dataclass(frozen=True, slots=True)
class Pending:
    """An answer, the columns of its row, and its owners."""

    artefact: Artefact
    values: Mapping[str, Any]
    facts: Facts = field(default_factory=Facts)
    owners: frozenset[str] = frozenset()


class Growth:
    """Bytes that this process has stored since the last count of all stored bytes.

    `grown` is set once these bytes are a quarter of the room below the limit: up to four processes
    then count again before they exceed the limit together.  ``full`` holds the stored bytes and
    the limit while no document may be evicted; nobody stores more then.
    """

    def __init__(self) -> None:
        self.grown = Event()
        self.full: tuple[int, int] | None = None
        self._lock = Lock()
        self._added = 0
        self._room: float = 0

    def begin(self) -> int:
        """Return the bytes added so far, before a count of all stored bytes."""
        with self._lock:
            return self._added

    def add(self, size: int) -> None:
        """Add the bytes of a stored document."""
        with self._lock:
            self._added += size
            if 4 * self._added >= self._room:
                self.grown.set()

    def counted(self, before: int, room: float) -> None:
        """Take the result of a count; ``before`` is that of `begin`, ``room`` the bytes left."""
        with self._lock:
            self._added, self._room = self._added - before, room


class Unsaved:
    """Unsaved answers by id, and the error that prevented the write; safe for threads."""

    def __init__(self, most: int = MAX_BYTES) -> None:
        self._most = most
        self._held: OrderedDict[str, Pending] = OrderedDict()
        self._lock = Lock()
        self._rest_until = self._unread_until = 0.0
        self._last = ""
        self.reason: str | None = None
        """The error of the last held answer; None after a successful write."""

    @property
    def resting(self) -> bool:
        """Whether to skip writes, since the last write or read timed out just now."""
        return time.monotonic() < self._rest_until

    @property
    def is_unread(self) -> bool:
        """Whether to skip reads, too, since the last read timed out just now."""
        return time.monotonic() < self._unread_until

    def failed(self, reason: str, seconds: float, *, reading: bool = False) -> None:
        """Record a failed write or read, and its duration in seconds."""
        self._last = reason
        if seconds > LONG:
            self._rest_until = time.monotonic() + REST
            if reading:
                self._unread_until = self._rest_until

    def hold(self, pending: Pending) -> None:
        """Hold an answer; drop the oldest answers beyond the limit of bytes."""
        self.reason = self._last
        with self._lock:
            before = self._held.get(pending.artefact.id, pending)
            owners = pending.owners | before.owners
            self._held[pending.artefact.id] = replace(pending, owners=owners)
            kept = sum(len(one.artefact.content) for one in self._held.values())
            while kept > self._most and len(self._held) > 1:
                kept -= len(self._held.popitem(last=False)[1].artefact.content)

    def get(self, identity: str, owners: frozenset[str] | None = None) -> Artefact | None:
        """Return an answer that is not stored yet; with ``owners``, one that has such an owner."""
        with self._lock:
            pending = self._held.get(identity)
        if pending is None or not (owners is None or owners & pending.owners):
            return None
        return replace(pending.artefact, fresh=False)

    def grant(self, identity: str, owner: str) -> None:
        """Add an owner of an answer that is not stored yet."""
        with self._lock:
            pending = self._held.get(identity)
            if pending is not None:
                self._held[identity] = replace(pending, owners=pending.owners | {owner})

    def all(self) -> list[Pending]:
        """Return the unsaved answers, the oldest first."""
        with self._lock:
            return list(self._held.values())

    def release(self, identity: str, owner: str | None) -> bool:
        """Remove an owner of an answer, all if None; the last owner removes the answer."""
        with self._lock:
            pending = self._held.get(identity)
            if pending is None or not (owner is None or owner in pending.owners):
                return False
            owners = pending.owners - {owner} if owner is not None else frozenset()
            if owners:
                self._held[identity] = replace(pending, owners=owners)
            else:
                del self._held[identity]
            return True

    def drop(self, identity: str) -> None:
        """Remove an answer."""
        with self._lock:
            self._held.pop(identity, None)
