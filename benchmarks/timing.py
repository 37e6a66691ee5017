"""Timing a call, and printing what came out."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Timed:
    """Seconds of repeated calls, and what the last one returned."""

    median: float
    best: float
    result: Any

    def __str__(self) -> str:
        return f"{1000 * self.median:>11.2f}{1000 * self.best:>11.2f}"


def timed(call: Callable[[], Any], repeat: int) -> Timed:
    """Call ``repeat`` times; whatever must be warm has to be warmed before."""
    seconds = []
    result = None
    for _ in range(repeat):
        start = time.perf_counter()
        result = call()
        seconds.append(time.perf_counter() - start)
    return Timed(statistics.median(seconds), min(seconds), result)
