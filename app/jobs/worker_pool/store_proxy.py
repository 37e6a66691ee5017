"""The store over a pipe: `RemoteStore` in a worker, `StoreServer` in the process that started it.

A worker has no database.  All its look-ups and results go through one pipe.  Only the parent
process writes to the database, so a killed worker leaves no partial result.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, NamedTuple

from topoloom.app.config import KERNEL_VERSION
from topoloom.app.jobs.worker_pool.error_pickling import PackedError, pack_error, unpack_error
from topoloom.app.store.artifacts import Artefact, Asked, Computed, Listed, canonical, compact
from topoloom.app.store.index_metadata import Facts, facts_of
from topoloom.app.store.lock_waits import one_bound

if TYPE_CHECKING:
    from topoloom.app.jobs.worker_pool.claims import Claims
    from topoloom.app.store.document_store import Store

CALLS = ("find", "get", "question", "beginning", "named", "begin", "keep")
"""Store calls of a worker; each is a method of `StoreServer`."""

PROGRESS, ANSWERED, RAISED = "progress", "answered", "raised"
"""Other messages of a worker: its progress, and its end."""


class Call(NamedTuple):
    """A message of a worker."""

    name: str
    arguments: tuple[Any, ...]


class RemoteStore:
    """Documents by kind and id, read and kept over a pipe; see `app.store.document_store.Store`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, kind: str, identity: str) -> Artefact | None:
        """Return the stored document, or None; None also where the database does not answer."""
        return self._call("find", kind, identity)

    def get(self, kind: str, identity: str) -> Artefact | None:
        """Return the stored document; None if there is none, or a damaged one."""
        return self._call("get", kind, identity)

    def question(self, kind: str, identity: str) -> str | None:
        """Return the request stored with a document; None if there is no such row."""
        return self._call("question", kind, identity)

    def beginning(self, kind: str, prefix: str, limit: int) -> list[Listed]:
        """Return up to ``limit`` entries whose ids begin with ``prefix``, by id."""
        return self._call("beginning", kind, prefix, limit)

    def named(self, name: str, limit: int) -> list[Listed]:
        """Return up to ``limit`` topologies of this name, newest first."""
        return self._call("named", name, limit)

    def begin(self, kind: str, identity: str) -> Artefact | None:
        """Return the stored document, or None for this worker to compute the document.

        While another worker computes the document, this call waits.
        """
        return self._call("begin", kind, identity)

    def keep(self, kind: str, request: Asked, identity: str, computed: Computed) -> Artefact:
        """Store a document; return it, or the same document that another process stored first."""
        facts = _known(kind, request, computed)
        kept: Artefact = self._call("keep", kind, request, identity, computed, facts)
        # A document stored meanwhile has the same content, so the pipe need not return it.
        return kept if kept.content else replace(kept, content=computed.content)

    def _call(self, name: str, *arguments: Any) -> Any:
        self._connection.send(Call(name, arguments))
        answer = self._connection.recv()
        if isinstance(answer, PackedError):
            raise unpack_error(answer)
        return answer


def _known(kind: str, request: Asked, computed: Computed) -> Facts:
    """Return the facts of a document; reading them is slow, so the worker does it."""
    asked, summary = canonical(request), compact(computed.summary)
    return facts_of(kind, KERNEL_VERSION, asked, summary, computed.media_type, computed.content)


LOOKED_EVERY = 0.05
"""Seconds between two look-ups of a document that another process computes."""

LOCAL = frozenset({"topology"})
"""Kinds that are computed faster than a claim in the database is written."""


class StoreServer:
    """The store as one worker sees it.

    ``goes_on`` raises when the worker must end; ``timed`` receives the kind and the seconds of
    each document that the worker computed.
    """

    def __init__(
        self,
        store: "Store",
        claims: "Claims",
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
        """Return the result of a call, or its error in packed form."""
        if call.name not in CALLS:
            raise ValueError(f"a worker may not ask for {call.name}")
        try:
            return getattr(self, call.name)(*call.arguments)
        except LookupError as error:
            return pack_error(error)

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
        """Return a stored document, or None when this worker must compute the document.

        While another worker computes the document, this call waits.  No deadlock is possible: an
        id is a digest of the inputs, so no document depends on itself.
        """
        waited = False
        while (found := self._store.find(kind, identity)) is None:
            claim = self._store.claim(identity)
            if self._claims.take(claim, everywhere=kind not in LOCAL):
                self._claimed.append(claim)
                self._begun[identity] = time.perf_counter()
                # The other process may have stored the document after the look-up.
                found = self._store.find(kind, identity) if waited else None
                break
            waited = True
            self._goes_on()
            time.sleep(LOOKED_EVERY)
        if found is not None:
            self._last = found
        return found

    def keep(
        self, kind: str, request: Asked, identity: str, computed: Computed, facts: Facts
    ) -> Artefact:
        """Store a document; do not send content back that this worker computed."""
        self._timed(kind, time.perf_counter() - self._begun.pop(identity))
        with one_bound():
            self._last = kept = self._store.keep(kind, request, identity, computed, facts)
            self._release(self._store.claim(identity))
        return replace(kept, content=b"") if kept.fresh else kept

    def answer(self, kind: str, identity: str, *, fresh: bool) -> Artefact | None:
        """Return the document that a worker ended with; None if it was deleted meanwhile."""
        last = self._last
        mine = last is not None and (last.kind, last.id) == (kind, identity)
        found = last if mine else self._store.find(kind, identity)
        return None if found is None else replace(found, fresh=fresh)

    def close(self) -> None:
        """Release the claims of the worker on documents that it has not stored."""
        if self._claimed:
            self._claims.release(self._claimed)
            self._claimed = []

    def _release(self, claim: str) -> None:
        if claim in self._claimed:
            self._claimed.remove(claim)
            self._claims.release([claim])
