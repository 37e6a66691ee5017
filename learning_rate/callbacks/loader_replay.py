"""Batches of a DataLoader that can be replayed, saved and resumed."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from topoloom.learning_rate.callbacks.batch_replay import Tape
from topoloom.learning_rate.callbacks.snapshot import generators, pytorch, set_generators
from topoloom.learning_rate.errors import InvalidOptions


class ReplayedLoader:
    """Endless batches of a DataLoader, or of another iterable, from a tape.

    The position can go back to every state for which `keep_only` holds batches.  `contents`
    resumes in another process: the loader begins its epoch with the same random generators and
    skips the batches of the epoch that were read.  A sampler's ``set_epoch`` is called.
    """

    def __init__(self, loader: Iterable[Any]) -> None:
        self._loader = loader
        self._tape: Tape[Any] = Tape()
        self._epoch, self._read, self._is_read = -1, 0, False
        self._iterator: Iterator[Any] = iter(())
        self._begin: dict[str, Any] = {}

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        self._is_read = True
        if not self._tape.replays:
            self._tape.store(self._next_of_loader())
        return self._tape.take()

    def _next_of_loader(self) -> Any:
        for _ in range(2):
            try:
                batch = next(self._iterator)
            except StopIteration:
                self._begin_epoch(self._epoch + 1)
            else:
                self._read += 1
                return batch
        raise InvalidOptions("/data", "must have a batch in every epoch")

    def _begin_epoch(self, epoch: int) -> None:
        self._epoch, self._read = epoch, 0
        self._begin = {"all": generators(), "own": [g.get_state() for g in self._generators()]}
        sampler: Any = getattr(self._loader, "sampler", None)
        if hasattr(sampler, "set_epoch"):
            sampler.set_epoch(epoch)
        self._iterator = iter(self._loader)

    def _generators(self) -> list[Any]:
        """Return the generators that the loader and its samplers have for themselves."""
        owners: list[Any] = [self._loader, getattr(self._loader, "sampler", None)]
        owners.append(getattr(self._loader, "batch_sampler", None))
        found = (getattr(owner, "generator", None) for owner in owners)
        kind = pytorch().Generator
        return list({id(one): one for one in found if isinstance(one, kind)}.values())

    def require_read(self) -> None:
        """Raise `InvalidOptions` where no batch was read since the last call."""
        if not self._is_read:
            raise InvalidOptions(
                "/data", "has its batches read from the callback: for batch in callback"
            )
        self._is_read = False

    def keep_only(self, states: Iterable[Mapping[str, Any]]) -> None:
        """Drop the batches that no replay from one of the states needs."""
        self._tape.keep_only(states)

    def state_dict(self) -> dict[str, Any]:
        """Return the position."""
        return self._tape.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go to a position; batches that a fork read are read here too."""
        while state["position"] > self._tape.end:
            self._tape.store(self._next_of_loader())
        self._tape.load_state_dict(state)

    def contents(self) -> dict[str, Any]:
        """Return the stored batches and the place in the loader, for another process."""
        place = {"epoch": self._epoch, "read": self._read, "begin": self._begin}
        return {**place, "tape": self._tape.contents()}

    def load_contents(self, contents: Mapping[str, Any]) -> None:
        """Restore what `contents` returned."""
        self._tape.load_contents(contents["tape"])
        self._iterator, self._epoch, self._read = iter(()), contents["epoch"], 0
        if self._epoch < 0:
            return
        present = generators()
        set_generators(contents["begin"]["all"])
        for own, state in zip(self._generators(), contents["begin"]["own"], strict=True):
            own.set_state(state)
        self._begin_epoch(self._epoch)
        for _ in range(contents["read"]):
            self._next_of_loader()
        set_generators(present)
