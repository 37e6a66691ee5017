"""LRU cache of recent results, limited by total size, shared by related computations.

`functools.lru_cache` limits the number of values, not their sizes.  With cachetools, which adds a
dependency and no lock, the class would be nine lines shorter.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np

Value = TypeVar("Value")


class LruCache(Generic[Value]):
    """Cache of the most recently used values, with an upper limit on the sum of their sizes.

    >>> recent = LruCache(most=10)
    >>> recent.keep(b"a", "first", 6), recent.keep(b"b", "second", 6), recent.get(b"a")
    ('first', 'second', None)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[bytes, tuple[Value, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: bytes) -> Value | None:
        """Return the value of a key, or None."""
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][0]

    def keep(self, key: bytes, value: Value, size: int) -> Value:
        """Store a value unless the key exists or the value is too large; return the value."""
        with self._lock:
            if key in self._kept or size > self._most:
                return self._kept.get(key, (value, size))[0]
            self._kept[key] = value, size
            total = sum(size for _, size in self._kept.values())
            while total > self._most:
                _, (_, freed) = self._kept.popitem(last=False)
                total -= freed
            return value


def digest_of(arrays: Iterable[Any], *others: Any) -> bytes:
    """Return a digest of arrays and of other inputs of a result."""
    digest = hashlib.blake2b(repr(others).encode(), digest_size=20)
    for part in arrays:
        there = np.asarray(part)
        digest.update(repr(there.shape).encode())
        digest.update(np.ascontiguousarray(there).data)
    return digest.digest()
