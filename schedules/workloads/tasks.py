"""A workload is a list of tasks: repeated collectives with sizes in bytes."""

from collections.abc import Iterable
from dataclasses import dataclass

from topoloom.schedules.model.schedule import Collective


@dataclass(frozen=True, slots=True)
class Task:
    """One collective, ``count`` times.

    ``size_bytes`` is M: the result of an allgather, the input of a reduce-scatter, the
    buffer of an allreduce, or all data that one rank sends in an all-to-all.
    """

    collective: Collective
    size_bytes: int
    count: int = 1


@dataclass(frozen=True, slots=True)
class Workload:
    """The collectives of a job: its tasks, equal ones counted together.

    ``preset`` is the name and ``title`` the description of a known training step; both are
    empty for any other list of tasks.  ``single`` means that the request is one collective, not
    a list.

    >>> work = Workload((Task(Collective.ALLREDUCE, 8), Task(Collective.ALLREDUCE, 2, 5)))
    >>> work.collectives, work.largest_bytes
    ((<Collective.ALLREDUCE: 'allreduce'>,), 8)
    """

    tasks: tuple[Task, ...]
    preset: str = ""
    title: str = ""
    single: bool = False

    @property
    def collectives(self) -> tuple[Collective, ...]:
        """Every collective once, in the order of the tasks."""
        return tuple(dict.fromkeys(task.collective for task in self.tasks))

    @property
    def largest_bytes(self) -> int:
        """The size of the largest task."""
        return max(task.size_bytes for task in self.tasks)

    @property
    def exchanges(self) -> bool:
        """Whether some task is an all-to-all."""
        return Collective.ALL_TO_ALL in self.collectives


def merge_tasks(tasks: Iterable[Task]) -> tuple[Task, ...]:
    """Return the tasks with equal ones counted together, largest first within a collective.

    >>> one = Task(Collective.ALLREDUCE, 8)
    >>> merge_tasks([one, Task(Collective.ALLREDUCE, 16), one])[1].count
    2
    """
    counts: dict[tuple[Collective, int], int] = {}
    for task in tasks:
        key = task.collective, task.size_bytes
        counts[key] = counts.get(key, 0) + task.count
    order = list(Collective)
    keys = sorted(counts, key=lambda key: (order.index(key[0]), -key[1]))
    return tuple(Task(collective, size, counts[collective, size]) for collective, size in keys)
