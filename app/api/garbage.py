"""Garbage collections of the service: often, so that each one stops answers for a short time."""

import asyncio
import gc
from itertools import count

YOUNG_OBJECTS = 2_000
"""New objects before Python collects the young ones itself, in about a millisecond.

With the threshold of commands, 50,000, collections stop all answers for 30 to 200 ms.
"""

COLLECT_EVERY = 0.05
"""Seconds between two collections of young objects.

Python counts new objects less freed ones, which are few while new connections replace others.
Young objects then gather, and one collection stops all answers for 10 to 30 ms.
"""

OLDER_EVERY = 200
"""Collections of young objects for each one that includes their survivors, in 10 ms."""

ALL_EVERY = 6_000
"""Collections of young objects for each one of all objects, in 50 ms beside a thousand connections.

Answers leave few reference cycles.
"""


def collect_often() -> None:
    """Collect garbage at intervals on the running event loop; exempt the objects of the start.

    A full collection with these objects stops all answers for 0.1 s.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, ALL_EVERY, ALL_EVERY)
    loop, numbers = asyncio.get_running_loop(), count(1)

    def collect() -> None:
        number = next(numbers)
        generation = 2 if number % ALL_EVERY == 0 else 1 if number % OLDER_EVERY == 0 else 0
        gc.collect(generation)
        loop.call_later(COLLECT_EVERY, collect)

    collect()
