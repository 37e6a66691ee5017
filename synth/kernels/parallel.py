"""Kernels in threads: they release the interpreter's lock."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_T = TypeVar("_T")
_U = TypeVar("_U")


def at_once(run: Callable[[_T], _U], pieces: Iterable[_T], workers: int) -> list[_U]:
    """Return the results of all pieces, in their order, computed by some threads.

    >>> at_once(abs, [1, -2, 3], workers=2)
    [1, 2, 3]
    """
    if workers == 1:
        return list(map(run, pieces))
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(run, pieces))
