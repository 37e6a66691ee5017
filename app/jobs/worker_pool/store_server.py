"""What a working process asks for, answered from the store of the process that started it."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from topoloom.app.jobs.worker_pool.claims import Claims
from topoloom.app.jobs.worker_pool.error_pickling import packed
from topoloom.app.jobs.worker_pool.store_proxy import CALLS, Call
from topoloom.app.store.artifacts import Artefact, Asked, Computed, Listed
from topoloom.app.store.document_store import Store
from topoloom.app.store.index_metadata import Facts

__all__ = ["Served"]

LOOKED_EVERY = 0.05
"""Seconds between two looks for a document that somebody else computes."""

LOCAL = frozenset({"topology"})
"""Kinds that are made faster than the other processes could be told of it."""


class Served:
    """One worker's view of the store.

    ``goes_on`` raises when the worker is to end; ``timed`` is told the kind and the seconds of
    each document that it computed.
    """

    def __init__(
        self,
        store: Store,
        claims: Claims,
        goes_on: Callable[[], None],
        timed: Callable[[str, float], None] = lambda kind, seconds: None,
    ) -> None:
        self._store = store
        self._claims = claims
        self._goes_on = goes_on
        self._timed = timed
        self._begun: dict[str, float] = {}
        self._claimed: list[str] = []
        self._last: Artefact | None = None

    def reply(self, call: Call) -> Any:
        """Return what a call gives, or the error that it raises, packed."""
        if call.name not in CALLS:
            raise ValueError(f"a worker may not ask for {call.name}")
        try:
            return getattr(self, call.name)(*call.arguments)
        except LookupError as error:
            return packed(error)

    def find(self, kind: str, identity: str) -> Artefact | None:
        """See `app.store.document_store.Store.find`."""
        return self._store.find(kind, identity)

    def get(self, kind: str, identity: str) -> Artefact | None:
        """See `app.store.document_store.Store.get`."""
        return self._store.get(kind, identity)

    def question(self, kind: str, identity: str) -> str | None:
        """See `app.store.document_store.Store.question`."""
        return self._store.question(kind, identity)

    def beginning(self, kind: str, prefix: str, limit: int) -> list[Listed]:
        """See `app.store.document_store.Store.beginning`."""
        return self._store.beginning(kind, prefix, limit)

    def named(self, name: str, limit: int) -> list[Listed]:
        """See `app.store.document_store.Store.named`."""
        return self._store.named(name, limit)

    def begin(self, kind: str, identity: str) -> Artefact | None:
        """Return a stored document, or None when the worker is the one to compute it.

        While another computes it, this waits.  Nobody waits for one who waits for him: what a
        document is computed from never asks for that document, since ids are digests.
        """
        while (found := self._store.find(kind, identity)) is None:
            if self._claims.take(identity, everywhere=kind not in LOCAL):
                self._claimed.append(identity)
                self._begun[identity] = time.perf_counter()
                # Whoever had it before may have stored it since it was looked for.
                found = self._store.find(kind, identity)
                break
            self._goes_on()
            time.sleep(LOOKED_EVERY)
        if found is not None:
            self._last = found
        return found

    def keep(
        self, kind: str, request: Asked, identity: str, computed: Computed, facts: Facts
    ) -> Artefact:
        """Store an answer; of one that this worker made, the content is not sent back."""
        self._timed(kind, time.perf_counter() - self._begun.pop(identity))
        self._last = kept = self._store.keep(kind, request, identity, computed, facts)
        self._release(identity)
        return replace(kept, content=b"") if kept.fresh else kept

    def answer(self, kind: str, identity: str, *, fresh: bool) -> Artefact | None:
        """Return the document that a worker ended with; None if it is gone again."""
        last = self._last
        mine = last is not None and (last.kind, last.id) == (kind, identity)
        found = last if mine else self._store.find(kind, identity)
        return None if found is None else replace(found, fresh=fresh)

    def close(self) -> None:
        """Give back what the worker has claimed and not kept."""
        self._claims.release(self._claimed)
        self._claimed = []

    def _release(self, identity: str) -> None:
        if identity in self._claimed:
            self._claimed.remove(identity)
            self._claims.release([identity])
