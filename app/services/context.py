"""What every service function needs: where answers are kept, and how far it may go."""

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
"""Largest document, in bytes as it is stored, that is decoded only to look something up."""


class Documents(Protocol):
    """Where documents are kept: `app.store.document_store.Store`, or a way to one."""

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


class MustCompute(Exception):
    """What is asked for is not stored, or too large to be decoded, and this context only looks."""

    def __init__(self, identity: str) -> None:
        self.identity = identity
        super().__init__(identity)


Mend: TypeAlias = "Callable[[Context, str, str, str], Artefact]"
"""Given kind, id and question of a damaged row, computes its answer anew, or raises `Damaged`."""


def _damaged(context: "Context", kind: str, identity: str, question: str) -> Artefact:
    raise Damaged(kind, identity)


@dataclass(frozen=True, slots=True)
class Context:
    """The store, the settings, and who watches over long work.

    ``watch`` begins to watch; the command line shows how far it is, the service ends what
    takes too long.  ``notes`` are sentences on what was assumed of files that were read.
    """

    store: Documents
    settings: Settings
    watch: Callable[[], AbstractContextManager[None]] = nullcontext
    notes: list[str] = field(default_factory=list)
    only_looks: bool = False
    mend: "Mend" = _damaged

    @property
    def whole_store(self) -> "Store":
        """The database itself, with all that it knows of documents; a worker has none."""
        from topoloom.app.store.document_store import Store

        assert isinstance(self.store, Store)
        return self.store

    def note(self, *notes: str) -> None:
        """Add sentences for the user, each once."""
        self.notes.extend(note for note in notes if note not in self.notes)

    def looking(self) -> "Context":
        """Return a context of one request that raises `MustCompute` where it would compute."""
        return replace(self, only_looks=True, notes=[])

    def answer(self, kind: Kind[T], asked: Asked, compute: Callable[[], T]) -> Answer[T]:
        """Return the stored answer to a question, computed and watched over if there is none.

        A value that ``compute`` returns is the value of the answer; nothing reads it back.
        """
        identity = key(kind.name, asked)
        if self.only_looks:
            found = self.store.find(kind.name, identity)
            if found is None:
                raise MustCompute(identity)
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
            raise MustCompute(artefact.id)

    def stored(self, kind: Kind[T], identity: str) -> Answer[T]:
        """Return the answer that is stored under an id, or raise `NotStored`."""
        return Answer(self.read(kind.name, identity), kind, [], self._require_decodable)

    def read(self, kind: str, identity: str) -> Artefact:
        """Return the stored document of an id, or of the only one that begins so.

        Raises
        ------
        NotStored
            There is none.
        Ambiguous
            There are several; they are named.
        Damaged
            It is not what was stored, and cannot be computed again.
        """
        identity = self.completed(kind, identity)
        found = self.store.get(kind, identity)
        return self._mended(kind, identity) if found is None else found

    def _mended(self, kind: str, identity: str) -> Artefact:
        """Return the document of a row that holds another one, computed anew."""
        question = self.store.question(kind, identity)
        if question is None:
            raise NotStored(kind, identity)
        if self.only_looks:
            raise MustCompute(identity)
        return self.mend(self, kind, identity, question)

    def completed(self, kind: str, prefix: str) -> str:
        """Return the whole id that begins so; raises as `read`."""
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
        """Raise `TooLarge` if a limit of this installation is passed."""
        if count > most:
            raise TooLarge(field, f"must have at most {most} {what} here; it has {count}")
