"""A tape of batches: replay earlier batches of a loader that cannot rewind.

Training frameworks prefetch batches and cannot put them back.  A tape stores each batch that
arrives and returns the batch at its position.  After a rewind it replays the stored batches in
their order, then the batches that arrived meanwhile, so every candidate sees the same batches.

A tape holds the batches since the oldest position that may be restored (`Tape.keep_only`), and
the batches that wait for their turn.  The limits ``most`` and ``most_bytes`` hold for the waiting
batches: where they are reached, a batch that arrives during a replay is dropped, and is not
trained on.
"""

import logging
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, Generic, TypeVar

from topoloom.learning_rate.errors import InvalidOptions

T = TypeVar("T")
GIBIBYTE = 2**30
LOG = logging.getLogger("topoloom.learning_rate")


class Tape(Generic[T]):
    """Stored batches, and a position among them.

    >>> tape = Tape()
    >>> tape.keep_only([tape.state_dict()])
    >>> [tape.exchanged(batch) for batch in "abc"]
    ['a', 'b', 'c']
    >>> tape.load_state_dict({"position": 1})
    >>> [tape.exchanged(batch) for batch in "defg"]
    ['b', 'c', 'd', 'e']
    """

    def __init__(self, most: int = 1024, most_bytes: int = GIBIBYTE) -> None:
        if most < 0:
            raise InvalidOptions("/remembered", "must not be negative")
        self._held: deque[T] = deque()
        self._most, self._most_bytes = most, most_bytes
        self._first, self._position, self.dropped = 0, 0, 0
        self._oldest: int | None = None

    @property
    def end(self) -> int:
        """The position behind the last stored batch."""
        return self._first + len(self._held)

    @property
    def replays(self) -> bool:
        """Whether a stored batch is next."""
        return self._position < self.end

    def exchanged(self, batch: T) -> T:
        """Store a batch and return the batch at the position."""
        if self.replays and self._is_full(batch):
            self.dropped += 1
            if self.dropped == 1:
                LOG.warning(
                    "batches that arrive during a replay are dropped: %d batches wait; "
                    "the option `remembered` and memory limit their number",
                    self.end - self._position,
                )
        else:
            self.store(batch)
        return self.take()

    def store(self, batch: T) -> None:
        """Store a batch."""
        self._held.append(batch)

    def take(self) -> T:
        """Return the stored batch at the position, and advance."""
        due = self._held[self._position - self._first]
        self._position += 1
        self._trim()
        return due

    def keep_only(self, states: Iterable[Mapping[str, Any]]) -> None:
        """Drop the batches that no replay from one of the states needs."""
        self._oldest = min((state["position"] for state in states), default=None)
        self._trim()

    def _trim(self) -> None:
        oldest = self._position if self._oldest is None else min(self._oldest, self._position)
        while self._held and self._first < oldest:
            self._held.popleft()
            self._first += 1

    def _is_full(self, batch: T) -> bool:
        waiting = self.end - self._position
        return waiting >= self._most or waiting * bytes_of(batch) >= self._most_bytes

    def state_dict(self) -> dict[str, Any]:
        """Return the position."""
        return {"position": self._position}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go back to a position; `InvalidOptions` where its batches were dropped."""
        position = state["position"]
        if not self._first <= position <= self.end:
            raise InvalidOptions("/position", f"{position} is not on the tape")
        self._position = position

    def contents(self) -> dict[str, Any]:
        """Return the stored batches with the positions, for another process."""
        return {"first": self._first, "held": list(self._held), "oldest": self._oldest}

    def load_contents(self, contents: Mapping[str, Any]) -> None:
        """Restore what `contents` returned; the position is that of the first batch."""
        self._held, self._first = deque(contents["held"]), contents["first"]
        self._oldest, self._position = contents["oldest"], contents["first"]


def bytes_of(value: Any) -> int:
    """Return the bytes of all tensors in a nested value.

    >>> bytes_of({"a": [1, "b"]})
    0
    """
    if hasattr(value, "element_size"):
        return value.element_size() * value.nelement()
    if isinstance(value, Mapping):
        return sum(map(bytes_of, value.values()))
    return sum(map(bytes_of, value)) if isinstance(value, list | tuple) else 0
