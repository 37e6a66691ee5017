"""Kinds of stored answers: how a domain value is kept, and how it is read again."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from topoloom.app.store.artifacts import Artefact, Computed

__all__ = ["Answer", "Kind", "Readable"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """A kind of answer: its name in the store, and what is kept of a value under an id."""

    name: str
    encode: Callable[[T, str], Computed]


@dataclass(frozen=True, slots=True)
class Readable(Kind[T]):
    """A kind whose values are computed with again: what was stored can be read back."""

    decode: Callable[[Artefact], T]


class Answer(Generic[T]):
    """A stored answer beside its value.

    One that was computed just now has the value it was made from; a stored one is decoded
    when its value is asked for, once; ``require_decodable`` raises if it must not be here.
    """

    def __init__(
        self,
        artefact: Artefact,
        kind: Readable[T],
        computed: list[T],
        require_decodable: Callable[[Artefact], None] | None = None,
    ) -> None:
        self.artefact = artefact
        self._kind = kind
        self._values = computed
        self._require_decodable = require_decodable

    @property
    def id(self) -> str:
        """What the answer is stored under."""
        return self.artefact.id

    @property
    def value(self) -> T:
        """The domain value."""
        if not self._values:
            if self._require_decodable is not None:
                self._require_decodable(self.artefact)
            self._values = [self._kind.decode(self.artefact)]
        return self._values[0]
