"""Save and restore the training state bit for bit: parts and random generators."""

import copy
import os
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from topoloom.learning_rate.errors import CannotRestore, MissingExtra


class Stateful(Protocol):
    """A model, optimizer, scheduler, gradient scaler, data position: anything of the kind."""

    def state_dict(self) -> Any:
        """Return the state."""
        ...

    def load_state_dict(self, state: Any, /) -> Any:
        """Go back to a state."""
        ...


def pytorch() -> Any:
    """Return the module torch; `MissingExtra` where it is not installed."""
    try:
        import torch
    except ImportError:
        raise MissingExtra("/torch", "is not installed: pip install 'topoloom[execute]'") from None
    return torch


def take(parts: Mapping[str, Stateful]) -> dict[str, Any]:
    """Return a copy of the states of all parts and of every random generator."""
    torch = pytorch()
    generators: dict[str, Any] = {"python": random.getstate(), "torch": torch.get_rng_state()}
    generators["numpy"] = _numpy_state()
    if torch.cuda.is_available():
        generators["cuda"] = torch.cuda.get_rng_state_all()
    states = {name: part.state_dict() for name, part in parts.items()}
    return copy.deepcopy({"parts": states, "generators": generators})


def put_back(snapshot: Mapping[str, Any], parts: Mapping[str, Stateful]) -> None:
    """Put the states back; `CannotRestore` names the part that does not fit.

    Every part is tried; where one fails, the others are put back as they were before.
    """
    torch = pytorch()
    if set(snapshot["parts"]) != set(parts):
        raise CannotRestore("/parts", f"must be {', '.join(sorted(snapshot['parts']))}")
    before = {name: copy.deepcopy(part.state_dict()) for name, part in parts.items()}
    for name, part in parts.items():
        try:
            part.load_state_dict(copy.deepcopy(snapshot["parts"][name]))
        except Exception as error:
            for undone, state in before.items():
                if undone != name:
                    parts[undone].load_state_dict(state)
            raise CannotRestore(f"/parts/{name}", f"does not fit: {error}") from error
    generators = snapshot["generators"]
    random.setstate(_as_tuples(generators["python"]))
    torch.set_rng_state(generators["torch"].cpu())
    _set_numpy_state(generators["numpy"])
    if "cuda" in generators and torch.cuda.is_available():
        torch.cuda.set_rng_state_all([state.cpu() for state in generators["cuda"]])


def _numpy_state() -> list[Any]:
    name, keys, *rest = np.random.get_state()
    return [name, [int(key) for key in keys], *rest]


def _set_numpy_state(state: list[Any]) -> None:
    np.random.set_state((state[0], np.array(state[1], dtype=np.uint32), *state[2:]))


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, list | tuple) else value


class Storage(Protocol):
    """Where checkpoints are kept by name."""

    def put(self, slot: str, snapshot: dict[str, Any]) -> None:
        """Keep a snapshot, in place of an older one of the name."""
        ...

    def get(self, slot: str) -> dict[str, Any]:
        """Return a snapshot."""
        ...

    def keep_only(self, slots: tuple[str, ...]) -> None:
        """Forget all others."""
        ...

    def slots(self) -> list[str]:
        """Return the names of what is kept."""
        ...


class Memory:
    """Checkpoints in memory."""

    def __init__(self) -> None:
        self._snapshots: dict[str, dict[str, Any]] = {}

    def put(self, slot: str, snapshot: dict[str, Any]) -> None:
        """Keep a snapshot."""
        self._snapshots[slot] = snapshot

    def get(self, slot: str) -> dict[str, Any]:
        """Return a snapshot."""
        if slot not in self._snapshots:
            raise CannotRestore(f"/{slot}", "there is no such checkpoint")
        return self._snapshots[slot]

    def keep_only(self, slots: tuple[str, ...]) -> None:
        """Forget all others."""
        self._snapshots = {slot: self._snapshots[slot] for slot in slots if slot in self._snapshots}

    def slots(self) -> list[str]:
        """Return the names of what is kept."""
        return sorted(self._snapshots)


class Disk:
    """Checkpoints as files ``<slot>.pt`` of a folder, each written whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def put(self, slot: str, snapshot: dict[str, Any]) -> None:
        """Keep a snapshot."""
        write(self._folder / f"{slot}.pt", snapshot)

    def get(self, slot: str) -> dict[str, Any]:
        """Return a snapshot."""
        return read(self._folder / f"{slot}.pt")

    def keep_only(self, slots: tuple[str, ...]) -> None:
        """Forget all others."""
        for path in self._folder.glob("*.pt"):
            if path.stem not in slots:
                path.unlink()

    def slots(self) -> list[str]:
        """Return the names of what is kept."""
        return sorted(path.stem for path in self._folder.glob("*.pt"))


def write(path: Path, snapshot: dict[str, Any]) -> None:
    """Write a snapshot so that a reader finds the old file or the new one, never a part."""
    partial = path.with_name(path.name + ".partial")
    with partial.open("wb") as file:
        pytorch().save(snapshot, file)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def read(path: Path) -> dict[str, Any]:
    """Read a snapshot; nothing in it is executed. `CannotRestore` where that fails."""
    torch = pytorch()
    try:
        return torch.load(path, weights_only=True, map_location="cpu")
    except FileNotFoundError:
        raise CannotRestore(f"/{path.stem}", "there is no such checkpoint") from None
    except Exception as error:
        raise CannotRestore(f"/{path.stem}", f"is no checkpoint: {error}") from error
