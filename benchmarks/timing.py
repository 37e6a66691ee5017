"""Time a call, and print the result."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Timed:
    """Seconds of repeated calls, and the result of the last."""

    median: float
    best: float
    result: Any

    def __str__(self) -> str:
        return f"{1000 * self.median:>11.2f}{1000 * self.best:>11.2f}"


def timed(call: Callable[[], Any], repeat: int) -> Timed:
    """Call ``repeat`` times; the caller must warm up kernels before."""
    seconds = []
    result = None
    for _ in range(repeat):
        start = time.perf_counter()
        result = call()
        seconds.append(time.perf_counter() - start)
    return Timed(statistics.median(seconds), min(seconds), result)
