"""Checkpoints of all parts of a training, and the batches that replays from them need."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from topoloom.learning_rate.callbacks.ranks import Ranks
from topoloom.learning_rate.callbacks.snapshot import Stateful, generators, put_back, take
from topoloom.learning_rate.callbacks.storage import Disk, Memory, Storage
from topoloom.learning_rate.state_machine.state import UNTRAINED


class Checkpoints:
    """Checkpoints by name, in main memory or in files of a folder.

    `keep_only` also trims the stored batches of the part ``data``, and `document` contains them.
    The checkpoint of the untrained model restores all parts but ``data`` and the random generators:
    training begins again with the next batches, so that the batches of the whole run need not be
    stored, and what is compared on the same batches has the same noise.
    """

    def __init__(self, parts: Mapping[str, Stateful], folder: Path | None) -> None:
        self._parts = parts
        self._data: Any = parts.get("data")
        self._storage: Storage = Memory() if folder is None else Disk(folder)
        self._positions: dict[str, Any] = {}

    def slots(self) -> list[str]:
        """Return the names, oldest checkpoint first."""
        return self._storage.slots()

    def save(self, slot: str) -> None:
        """Make a checkpoint."""
        self._put(slot, take(self._parts))

    def restore(self, slot: str) -> None:
        """Restore a checkpoint."""
        snapshot = self._storage.get(slot)
        if slot == UNTRAINED:
            present = {} if self._data is None else {"data": self._data.state_dict()}
            parts = {**snapshot["parts"], **present}
            snapshot = {**snapshot, "parts": parts, "generators": generators()}
        put_back(snapshot, self._parts)

    def keep_only(self, slots: tuple[str, ...]) -> None:
        """Drop all other checkpoints, and the batches that only they need."""
        self._storage.keep_only(slots)
        names = self._storage.slots()
        self._positions = {slot: self._positions[slot] for slot in names if slot != UNTRAINED}
        self._trim()

    def document(self) -> dict[str, Any]:
        """Return the present state and all checkpoints, for `load`."""
        slots = {slot: self._storage.get(slot) for slot in self._storage.slots()}
        return {"now": take(self._parts), "slots": slots, "batches": self._batches()}

    def load(self, document: Mapping[str, Any]) -> None:
        """Restore the state and the checkpoints that `document` returned."""
        self.load_present(document)
        self._storage.keep_only(())
        for slot, snapshot in document["slots"].items():
            self._put(slot, snapshot)
        self._trim()

    def present(self) -> dict[str, Any]:
        """Return the present state without the checkpoints, for `load_present`."""
        return {"now": take(self._parts), "batches": self._batches()}

    def load_present(self, document: Mapping[str, Any]) -> None:
        """Restore the present state of a document, and leave the checkpoints alone."""
        if (batches := document.get("batches")) is not None:
            self._data.load_contents(batches)
        put_back(document["now"], self._parts)

    def _put(self, slot: str, snapshot: dict[str, Any]) -> None:
        self._storage.put(slot, snapshot)
        if slot != UNTRAINED:
            self._positions[slot] = snapshot["parts"].get("data")

    def _batches(self) -> dict[str, Any] | None:
        return self._data.contents() if hasattr(self._data, "contents") else None

    def _trim(self) -> None:
        if hasattr(self._data, "keep_only"):
            self._data.keep_only(self._positions.values())


def own_folder(folder: str | Path | None, ranks: Ranks | None) -> Path | None:
    """Return the folder of this rank's checkpoints."""
    if folder is None:
        return None
    return Path(folder) if ranks is None else Path(folder) / f"rank-{ranks.rank}"
