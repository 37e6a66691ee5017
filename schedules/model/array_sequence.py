"""What the tables of routes and of trees share as sequences."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar, overload

T = TypeVar("T")


class ArraySequence(Sequence[T]):
    """A sequence whose items are made from arrays when they are read.

    It equals any sequence with equal items.
    """

    __slots__ = ()

    @abstractmethod
    def item(self, at: int) -> T:
        """Return the item at a place from 0 to the length less 1."""

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        places = range(len(self))[index]
        return self.item(places) if isinstance(places, int) else tuple(map(self.item, places))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))
