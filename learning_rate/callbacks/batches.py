"""Shuffled mini-batches whose position can be saved and restored."""

import random
from collections.abc import Iterator
from typing import Any

from topoloom.learning_rate.errors import CannotRestore, InvalidOptions


class ResumableBatches:
    """Endless batches of indices 0 to size - 1, shuffled each epoch from a seed.

    The order is a function of (seed, epoch), so a position is three numbers and every
    candidate sees the same batches.  An incomplete last batch is dropped.

    >>> batches = ResumableBatches(5, 2, seed=0)
    >>> first = next(batches)
    >>> position = batches.state_dict()
    >>> following = [next(batches) for _ in range(3)]
    >>> batches.load_state_dict(position)
    >>> following == [next(batches) for _ in range(3)]
    True
    """

    def __init__(self, size: int, batch_size: int, seed: int = 0) -> None:
        if not 1 <= batch_size <= size:
            raise InvalidOptions("/batch_size", f"must be 1 to {size}, the size of the data")
        self._size, self._batch_size, self._seed = size, batch_size, seed
        self._go_to(0, 0)

    def _go_to(self, epoch: int, position: int) -> None:
        order = list(range(self._size))
        random.Random(f"{self._seed}/{epoch}").shuffle(order)
        self._epoch, self._position, self._order = epoch, position, order

    def __iter__(self) -> Iterator[list[int]]:
        return self

    def __next__(self) -> list[int]:
        if self._position + self._batch_size > self._size:
            self._go_to(self._epoch + 1, 0)
        batch = self._order[self._position : self._position + self._batch_size]
        self._position += self._batch_size
        return batch

    def state_dict(self) -> dict[str, int]:
        """Return the seed and the position."""
        return {
            "epoch": self._epoch,
            "position": self._position,
            "seed": self._seed,
            "size": self._size,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go back to a position."""
        if state["size"] != self._size:
            raise CannotRestore("/data/size", f"must be {self._size}, the size of the data")
        if (state["seed"], state["epoch"]) != (self._seed, self._epoch):
            self._seed = state["seed"]
            self._go_to(state["epoch"], 0)
        self._position = state["position"]
