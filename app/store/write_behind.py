"""Answers that the database rejected, held in memory until a write succeeds."""

import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

from topoloom.app.store.artifacts import Artefact
from topoloom.app.store.index_metadata import Facts

MAX_BYTES = 64 * 2**20
"""Most bytes of answers in memory; the newest answer is always held."""

LONG = 1.0
"""Seconds after which a failed write counts as a timeout, which delays the next writes."""

REST = 3.0
"""Seconds of that delay."""


@dataclass(frozen=True, slots=True)
class Pending:
    """An answer, and the columns of its row."""

    artefact: Artefact
    values: Mapping[str, Any]
    facts: Facts = field(default_factory=Facts)


class Unsaved:
    """Unsaved answers by id, and the error that prevented the write; safe for threads."""

    def __init__(self, most: int = MAX_BYTES) -> None:
        self._most = most
        self._held: OrderedDict[str, Pending] = OrderedDict()
        self._lock = Lock()
        self._rest_until = 0.0
        self._last = ""
        self.reason: str | None = None
        """The error of the last held answer; None after a successful write."""

    @property
    def resting(self) -> bool:
        """Whether to skip writes, since the last write timed out just now."""
        return time.monotonic() < self._rest_until

    def failed(self, reason: str, seconds: float) -> None:
        """Record a failed write, and its duration in seconds."""
        self._last = reason
        if seconds > LONG:
            self._rest_until = time.monotonic() + REST

    def hold(self, pending: Pending) -> None:
        """Hold an answer; drop the oldest answers beyond the limit of bytes."""
        self.reason = self._last
        with self._lock:
            self._held[pending.artefact.id] = pending
            kept = sum(len(one.artefact.content) for one in self._held.values())
            while kept > self._most and len(self._held) > 1:
                kept -= len(self._held.popitem(last=False)[1].artefact.content)

    def get(self, identity: str) -> Artefact | None:
        """Return an answer that is not stored yet."""
        with self._lock:
            pending = self._held.get(identity)
        return None if pending is None else replace(pending.artefact, fresh=False)

    def all(self) -> list[Pending]:
        """Return the unsaved answers, the oldest first."""
        with self._lock:
            return list(self._held.values())

    def drop(self, identity: str) -> None:
        """Remove an answer."""
        with self._lock:
            self._held.pop(identity, None)
