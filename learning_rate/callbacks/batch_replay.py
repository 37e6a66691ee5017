"""A tape of batches: replay earlier batches of a loader that cannot rewind.

Training frameworks prefetch batches and cannot put them back.  A tape stores each batch that
arrives and returns the batch at its position.  After a rewind it replays the stored batches in
their order, then the batches that arrived meanwhile.  No batch is lost, and every candidate
sees the same batches.
"""

from collections import deque
from typing import Any, Generic, TypeVar

from topoloom.learning_rate.errors import InvalidOptions

T = TypeVar("T")


class Tape(Generic[T]):
    """The last ``most`` batches, and a position among them.

    A rewind beyond the oldest stored batch stops at that batch.

    >>> tape = Tape(10)
    >>> [tape.exchanged(batch) for batch in "abc"]
    ['a', 'b', 'c']
    >>> tape.load_state_dict({"position": 1})
    >>> [tape.exchanged(batch) for batch in "defg"]
    ['b', 'c', 'd', 'e']
    """

    def __init__(self, most: int = 1024) -> None:
        if most < 1:
            raise InvalidOptions("/most", "must be at least 1")
        self._held: deque[T] = deque()
        self._most, self._first, self._position = most, 0, 0

    def exchanged(self, batch: T) -> T:
        """Store a batch and return the batch at the position."""
        self._held.append(batch)
        due = self._held[self._position - self._first]
        self._position += 1
        while len(self._held) > self._most and self._first < self._position:
            self._held.popleft()
            self._first += 1
        return due

    def state_dict(self) -> dict[str, Any]:
        """Return the position."""
        return {"position": self._position}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go back to a position."""
        self._position = max(self._first, min(state["position"], self._first + len(self._held)))
