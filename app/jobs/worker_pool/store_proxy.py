"""The store over a pipe: `DistantStore` in a worker, `Served` in the process that started it.

A worker has no database.  What it looks up, and what it has computed, goes through one pipe; so
the only one that writes is who started it, and a worker that is killed leaves nothing half done.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, NamedTuple

from topoloom.app.config import KERNEL_VERSION
from topoloom.app.jobs.worker_pool.error_pickling import PackedError, packed, unpacked
from topoloom.app.store.artifacts import Artefact, Asked, Computed, Listed, canonical, compact
from topoloom.app.store.index_metadata import Facts, facts_of

if TYPE_CHECKING:
    from topoloom.app.jobs.worker_pool.claims import Claims
    from topoloom.app.store.document_store import Store

CALLS = ("find", "get", "question", "beginning", "named", "begin", "keep")
"""What a worker may ask for; each is a method of `Served`."""

PROGRESS, ANSWERED, RAISED = "progress", "answered", "raised"
"""What a worker says besides: how far it is, and how it ended."""


class Call(NamedTuple):
    """A message of a worker."""

    name: str
    arguments: tuple[Any, ...]


class DistantStore:
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
        """Return the question that a row says it answers; None without row."""
        return self._call("question", kind, identity)

    def beginning(self, kind: str, prefix: str, limit: int) -> list[Listed]:
        """Return up to ``limit`` entries whose ids begin so, by id."""
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
        """Store an answer; return it, or the one that somebody else stored in the meantime."""
        facts = _known(kind, request, computed)
        kept: Artefact = self._call("keep", kind, request, identity, computed, facts)
        # What was stored meanwhile is the same document; it need not travel back.
        return kept if kept.content else replace(kept, content=computed.content)

    def _call(self, name: str, *arguments: Any) -> Any:
        self._connection.send(Call(name, arguments))
        answer = self._connection.recv()
        if isinstance(answer, PackedError):
            raise unpacked(answer)
        return answer


def _known(kind: str, request: Asked, computed: Computed) -> Facts:
    """Return what is known of a document; to read it takes long, and is done here for that."""
    asked, summary = canonical(request), compact(computed.summary)
    return facts_of(kind, KERNEL_VERSION, asked, summary, computed.media_type, computed.content)


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
        waited = False
        while (found := self._store.find(kind, identity)) is None:
            if self._claims.take(identity, everywhere=kind not in LOCAL):
                self._claimed.append(identity)
                self._begun[identity] = time.perf_counter()
                # The process that this worker waited for may have stored it after the look-up.
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
        if self._claimed:
            self._claims.release(self._claimed)
            self._claimed = []

    def _release(self, identity: str) -> None:
        if identity in self._claimed:
            self._claimed.remove(identity)
            self._claims.release([identity])
