"""The store as a working process sees it: calls to the process that started it.

A worker has no database.  What it looks up, and what it has computed, goes through one pipe; so
the only one that writes is who started it, and a worker that is killed leaves nothing half done.
"""

from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from topoloom.app.config import KERNEL_VERSION
from topoloom.app.jobs.worker_pool.error_pickling import PackedError, unpacked
from topoloom.app.services.context import Compute
from topoloom.app.store.artifacts import Artefact, Asked, Computed, Listed, canonical, compact, key
from topoloom.app.store.index_metadata import Facts, facts_of

__all__ = ["ANSWERED", "CALLS", "PROGRESS", "RAISED", "Call", "DistantStore"]

CALLS = ("find", "get", "question", "beginning", "named", "begin", "keep")
"""What a worker may ask for; each is a method of `app.jobs.worker_pool.store_server.Served`."""

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

    def get_or_compute(self, kind: str, request: Asked, compute: Compute) -> Artefact:
        """Return the answer to a request; while another computes it, wait for that one."""
        identity = key(kind, request)
        found: Artefact | None = self._call("begin", kind, identity)
        if found is not None:
            return found
        computed: Computed = compute(identity)
        facts = _known(kind, request, computed)
        kept: Artefact = self._call("keep", kind, request, identity, computed, facts)
        # What was stored meanwhile is the same document; it need not travel back.
        return replace(kept, content=computed.content) if not kept.content else kept

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
