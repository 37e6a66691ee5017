"""Where checkpoints are: in memory or in files, by name."""

import os
from pathlib import Path
from typing import Any, Protocol

from topoloom.learning_rate.callbacks.snapshot import pytorch, synchronize
from topoloom.learning_rate.errors import CannotRestore


class Storage(Protocol):
    """Checkpoints by name."""

    def put(self, slot: str, snapshot: dict[str, Any]) -> None:
        """Keep a snapshot, in place of an older one of the name."""
        ...

    def get(self, slot: str) -> dict[str, Any]:
        """Return a snapshot."""
        ...

    def keep_only(self, slots: tuple[str, ...]) -> None:
        """Drop all other snapshots."""
        ...

    def slots(self) -> list[str]:
        """Return the names, oldest checkpoint first."""
        ...


class Memory:
    """Checkpoints in memory."""

    def __init__(self) -> None:
        self._snapshots: dict[str, dict[str, Any]] = {}

    def put(self, slot: str, snapshot: dict[str, Any]) -> None:
        """Keep a snapshot."""
        self._snapshots.pop(slot, None)
        self._snapshots[slot] = snapshot

    def get(self, slot: str) -> dict[str, Any]:
        """Return a snapshot."""
        if slot not in self._snapshots:
            raise CannotRestore(f"/{slot}", "there is no such checkpoint")
        return self._snapshots[slot]

    def keep_only(self, slots: tuple[str, ...]) -> None:
        """Drop all other snapshots."""
        self._snapshots = {k: v for k, v in self._snapshots.items() if k in slots}

    def slots(self) -> list[str]:
        """Return the names, oldest checkpoint first."""
        return list(self._snapshots)


class Disk:
    """Checkpoints as files ``topoloom-<slot>.pt`` of a folder, each written whole or not at all.

    Other files of the folder are left alone.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._slots: list[str] = []
        folder.mkdir(parents=True, exist_ok=True)

    def _path(self, slot: str) -> Path:
        return self._folder / f"topoloom-{slot}.pt"

    def put(self, slot: str, snapshot: dict[str, Any]) -> None:
        """Keep a snapshot."""
        write(self._path(slot), snapshot)
        self._slots = [*(other for other in self._slots if other != slot), slot]

    def get(self, slot: str) -> dict[str, Any]:
        """Return a snapshot."""
        return read(self._path(slot))

    def keep_only(self, slots: tuple[str, ...]) -> None:
        """Drop all other snapshots, those of an earlier process too."""
        self._slots = [slot for slot in self._slots if slot in slots]
        kept = set(map(self._path, self._slots))
        for path in self._folder.glob("topoloom-*.pt"):
            if path not in kept:
                path.unlink()

    def slots(self) -> list[str]:
        """Return the names, oldest checkpoint first."""
        return list(self._slots)


def write(path: Path, snapshot: dict[str, Any]) -> None:
    """Write a snapshot so that a reader finds the old file or the new one, never a part."""
    synchronize()
    partial = path.with_name(path.name + ".partial")
    with partial.open("wb") as file:
        pytorch().save(snapshot, file)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def read(path: Path, *, lazily: bool = False) -> dict[str, Any]:
    """Read a snapshot; nothing in it is executed. `CannotRestore` where that fails.

    With ``lazily`` tensors stay in the file until they are used.
    """
    torch = pytorch()
    try:
        return torch.load(path, weights_only=True, map_location="cpu", mmap=lazily)
    except FileNotFoundError:
        raise CannotRestore(f"/{path.stem}", "there is no such checkpoint") from None
    except Exception as error:
        raise CannotRestore(f"/{path.stem}", f"is no checkpoint: {error}") from error
