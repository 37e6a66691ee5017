"""Move nested batches of tensors between main memory and a device."""

from collections.abc import Mapping
from typing import Any


def on_device(value: Any, device: Any) -> Any:
    """Return a value with all tensors on a device; tensors already there are not copied."""
    if hasattr(value, "to") and hasattr(value, "device"):
        return value.to(device)
    if isinstance(value, Mapping):
        return {key: on_device(one, device) for key, one in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(on_device(one, device) for one in value))
    if isinstance(value, list | tuple):
        return type(value)(on_device(one, device) for one in value)
    return value


def on_cpu(value: Any) -> Any:
    """Return a value with all tensors in main memory.

    >>> on_cpu([{"a": 1}, (2, "b")])
    [{'a': 1}, (2, 'b')]
    """
    return on_device(value, "cpu")
