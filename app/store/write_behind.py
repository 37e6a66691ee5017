"""Answers that could not be stored: kept in memory until the database takes them."""

import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

from topoloom.app.store.artifacts import Artefact
from topoloom.app.store.index_metadata import Facts

MAX_BYTES = 64 * 2**20
"""So much of them is kept; the newest always is."""

LONG = 1.0
"""A try that fails after so many seconds was waiting; the next ones are put off."""

REST = 3.0
"""For so many seconds."""


@dataclass(frozen=True, slots=True)
class Pending:
    """An answer, and the row that it is to be."""

    artefact: Artefact
    values: Mapping[str, Any]
    facts: Facts = field(default_factory=Facts)


class Unsaved:
    """What the database did not take, by id, and why; threads may share it."""

    def __init__(self, most: int = MAX_BYTES) -> None:
        self._most = most
        self._held: OrderedDict[str, Pending] = OrderedDict()
        self._lock = Lock()
        self._rest_until = 0.0
        self._last = ""
        self.reason: str | None = None
        """What failed when an answer was held; None once one was stored."""

    @property
    def resting(self) -> bool:
        """Whether a try would only wait: the last one did, just now."""
        return time.monotonic() < self._rest_until

    def failed(self, reason: str, seconds: float) -> None:
        """Note that the database did not do its work, and how long that took."""
        self._last = reason
        if seconds > LONG:
            self._rest_until = time.monotonic() + REST

    def hold(self, pending: Pending) -> None:
        """Keep an answer; the oldest ones go when there are too many."""
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
        """Return what is to be stored, the oldest first."""
        with self._lock:
            return list(self._held.values())

    def drop(self, identity: str) -> None:
        """Forget an answer."""
        with self._lock:
            self._held.pop(identity, None)
