"""A workload is a list of tasks: so many times this collective on so many bytes."""

from collections.abc import Iterable
from dataclasses import dataclass

from schedules.model import Collective

__all__ = ["Task", "merged"]


@dataclass(frozen=True, slots=True)
class Task:
    """One collective, ``count`` times.

    ``size_bytes`` is M: the result of an allgather, the input of a reduce-scatter, the
    buffer of an allreduce, and what one rank has for all ranks together in an all-to-all.
    """

    collective: Collective
    size_bytes: int
    count: int = 1


def merged(tasks: Iterable[Task]) -> tuple[Task, ...]:
    """Return the tasks with equal ones counted together, largest first within a collective.

    >>> one = Task(Collective.ALLREDUCE, 8)
    >>> merged([one, Task(Collective.ALLREDUCE, 16), one])[1].count
    2
    """
    counts: dict[tuple[Collective, int], int] = {}
    for task in tasks:
        key = task.collective, task.size_bytes
        counts[key] = counts.get(key, 0) + task.count
    order = list(Collective)
    keys = sorted(counts, key=lambda key: (order.index(key[0]), -key[1]))
    return tuple(Task(collective, size, counts[collective, size]) for collective, size in keys)
