"""The context of service functions: the store, the settings, and the limits."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from topoloom.app.config import Settings
from topoloom.app.store.artifacts import (
    ID_LENGTH,
    Answer,
    Artefact,
    Asked,
    Computed,
    Kind,
    Listed,
    key,
)
from topoloom.app.store.errors import MAX_CANDIDATES, Ambiguous, Damaged, NotStored
from topoloom.schedules.errors import TooLarge

if TYPE_CHECKING:
    from topoloom.app.store.document_store import Store

T = TypeVar("T")


MAX_LOOKED_INTO = 64 * 2**10
"""Largest stored document, in bytes, that a look-up decodes."""


class Documents(Protocol):
    """The interface of `app.store.document_store.Store` that services use."""

    def find(self, kind: str, identity: str) -> Artefact | None:
        """See `app.store.document_store.Store.find`."""
        ...

    def get(self, kind: str, identity: str) -> Artefact | None:
        """See `app.store.document_store.Store.get`."""
        ...

    def question(self, kind: str, identity: str) -> str | None:
        """See `app.store.document_store.Store.question`."""
        ...

    def beginning(self, kind: str, prefix: str, limit: int) -> list[Listed]:
        """See `app.store.document_store.Store.beginning`."""
        ...

    def named(self, name: str, limit: int) -> list[Listed]:
        """See `app.store.document_store.Store.named`."""
        ...

    def begin(self, kind: str, identity: str) -> Artefact | None:
        """Return the stored document, or None for the caller to compute the document."""
        ...

    def keep(self, kind: str, request: Asked, identity: str, computed: Computed) -> Artefact:
        """See `app.store.document_store.Store.keep`."""
        ...


class CacheMiss(Exception):
    """The answer is missing or too large to decode, and this context does not compute."""

    def __init__(self, identity: str) -> None:
        self.identity = identity
        super().__init__(identity)


Mend: TypeAlias = "Callable[[Context, str, str, str], Artefact]"
"""Recomputes the answer of a damaged row from kind, id and request, or raises `Damaged`."""


def _damaged(context: "Context", kind: str, identity: str, question: str) -> Artefact:
    raise Damaged(kind, identity)


@dataclass(frozen=True, slots=True)
class Context:
    """The store, the settings, and the watch over long computations.

    ``watch`` opens a watch: the command line shows progress, the service enforces a time limit.
    ``notes`` are sentences on the assumptions about input files.
    """

    store: Documents
    settings: Settings
    watch: Callable[[], AbstractContextManager[None]] = nullcontext
    notes: list[str] = field(default_factory=list)
    only_looks: bool = False
    mend: "Mend" = _damaged

    @property
    def whole_store(self) -> "Store":
        """The database with all facts of documents; worker processes have no database."""
        from topoloom.app.store.document_store import Store

        store = getattr(self.store, "whole", self.store)
        assert isinstance(store, Store)
        return store

    def note(self, *notes: str) -> None:
        """Add sentences for the user, each once."""
        self.notes.extend(note for note in notes if note not in self.notes)

    def looking(self) -> "Context":
        """Return a context of one request that raises `CacheMiss` instead of computing."""
        return replace(self, only_looks=True, notes=[])

    def answer(self, kind: Kind[T], asked: Asked, compute: Callable[[], T]) -> Answer[T]:
        """Return the stored answer to a request; compute it under the watch if it is missing.

        The answer holds the value that ``compute`` returns; its document is not decoded again.
        """
        identity = key(kind.name, asked)
        if self.only_looks:
            found = self.store.find(kind.name, identity)
            if found is None:
                raise CacheMiss(identity)
            return Answer(found, kind, [], self._require_decodable)
        with self.watch():
            found = self.store.begin(kind.name, identity)
            if found is not None:
                return Answer(found, kind, [])
            value = compute()
            kept = self.store.keep(kind.name, asked, identity, kind.encode(value, identity))
        return Answer(kept, kind, [value])

    def _require_decodable(self, artefact: Artefact) -> None:
        if self.only_looks and len(artefact.content) > MAX_LOOKED_INTO:
            raise CacheMiss(artefact.id)

    def stored(self, kind: Kind[T], identity: str) -> Answer[T]:
        """Return the stored answer of an id, or raise `NotStored`."""
        return Answer(self.read(kind.name, identity), kind, [], self._require_decodable)

    def read(self, kind: str, identity: str) -> Artefact:
        """Return the stored document of an id, or of a unique prefix.

        Raises:
            NotStored: No document matches.
            Ambiguous: Several documents match; the error names them.
            Damaged: The document is damaged and cannot be computed again.
        """
        identity = self.completed(kind, identity)
        found = self.store.get(kind, identity)
        return self._mended(kind, identity) if found is None else found

    def _mended(self, kind: str, identity: str) -> Artefact:
        """Return the recomputed document of a damaged row."""
        question = self.store.question(kind, identity)
        if question is None:
            raise NotStored(kind, identity)
        if self.only_looks:
            raise CacheMiss(identity)
        return self.mend(self, kind, identity, question)

    def completed(self, kind: str, prefix: str) -> str:
        """Return the full id of a prefix; raises as `read`."""
        if len(prefix) == ID_LENGTH:
            return prefix
        found = self.store.beginning(kind, prefix, MAX_CANDIDATES + 1)
        if not found:
            raise NotStored(kind, prefix)
        if len(found) > 1:
            candidates = [(entry.id, entry.summary.get("name", "")) for entry in found]
            raise Ambiguous(kind, prefix, candidates)
        return found[0].id

    def require_at_most(self, field: str, count: int, most: int, what: str) -> None:
        """Raise `TooLarge` if a count exceeds a limit of this installation."""
        if count > most:
            raise TooLarge(field, f"must have at most {most} {what} here; it has {count}")
