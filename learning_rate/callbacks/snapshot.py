"""Save and restore the training state bit for bit: parts and random generators."""

import copy
import random
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from topoloom.learning_rate.errors import CannotRestore, MissingExtra


class Stateful(Protocol):
    """A model, an optimizer, a gradient scaler, a data position: an object with a state."""

    def state_dict(self) -> Any:
        """Return the state."""
        ...

    def load_state_dict(self, state: Any, /) -> Any:
        """Restore a state."""
        ...


def pytorch() -> Any:
    """Return the module torch; `MissingExtra` where it is not installed."""
    try:
        import torch
    except ImportError:
        raise MissingExtra("/torch", "is not installed: pip install torch") from None
    return torch


def take(parts: Mapping[str, Stateful]) -> dict[str, Any]:
    """Return a copy of the states of all parts and of every random generator.

    The copy is in main memory.  Tensors of a CUDA device are copied into pinned memory by the
    current stream, so the trainer does not wait; `synchronize` waits for the copies.
    """
    states = {name: part.state_dict() for name, part in parts.items()}
    memo: dict[int, Any] = {}
    _to_main_memory(states, memo)
    return {"parts": copy.deepcopy(states, memo), "generators": generators()}


def put_back(snapshot: Mapping[str, Any], parts: Mapping[str, Stateful]) -> None:
    """Restore the states; `CannotRestore` names the part that does not fit.

    After an error the parts before the named one are restored, and the others are not.
    """
    if set(snapshot["parts"]) != set(parts):
        raise CannotRestore("/parts", f"must be {', '.join(sorted(snapshot['parts']))}")
    synchronize()
    for name, part in parts.items():
        try:
            # Optimizers adopt tensors of the state instead of copying them.
            part.load_state_dict(copy.deepcopy(snapshot["parts"][name]))
        except Exception as error:
            raise CannotRestore(f"/parts/{name}", f"does not fit: {error}") from error
    set_generators(snapshot["generators"])


def synchronize() -> None:
    """Wait until all copies of `take` are complete."""
    torch = pytorch()
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()


def generators() -> dict[str, Any]:
    """Return the states of the random generators of Python, NumPy and PyTorch."""
    torch = pytorch()
    name, keys, *rest = np.random.get_state()
    states: dict[str, Any] = {
        "python": random.getstate(),
        "torch": torch.get_rng_state(),
        "numpy": [name, [int(key) for key in keys], *rest],
    }
    if torch.cuda.is_available():
        states["cuda"] = torch.cuda.get_rng_state_all()
    return states


def set_generators(states: Mapping[str, Any]) -> None:
    """Restore the states that `generators` returned."""
    torch = pytorch()
    random.setstate(_as_tuples(states["python"]))
    torch.set_rng_state(states["torch"].cpu())
    name, keys, *rest = states["numpy"]
    np.random.set_state((name, np.array(keys, dtype=np.uint32), *rest))
    if "cuda" in states and torch.cuda.is_available():
        torch.cuda.set_rng_state_all([state.cpu() for state in states["cuda"]])


def _to_main_memory(value: Any, copies: dict[int, Any]) -> None:
    """Add a copy of each tensor of a nested value to ``copies``, by the tensor's identity."""
    torch = pytorch()
    if type(value) in (torch.Tensor, torch.nn.Parameter):
        copies[id(value)] = _copy(value.detach())
    elif isinstance(value, Mapping):
        for member in value.values():
            _to_main_memory(member, copies)
    elif isinstance(value, list | tuple):
        for member in value:
            _to_main_memory(member, copies)


def _copy(tensor: Any) -> Any:
    if tensor.device.type != "cuda":
        return tensor.clone().cpu()
    pinned = pytorch().empty_like(tensor, device="cpu", pin_memory=True)
    return pinned.copy_(tensor, non_blocking=True)


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, list | tuple) else value
