"""What is to be run: the tasks of a request, their times today, and the least times."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from app.schemas import DesignRequest
from schedules.baselines import PASSES, Baseline, Workload, baselines, bound_seconds
from schedules.codesign import floor_seconds
from schedules.model import Collective
from schedules.workloads.presets import preset
from schedules.workloads.tasks import Task, merged
from synth.cost import Cost, Links, all_to_all_bound

__all__ = ["Job", "job_of"]


@dataclass(frozen=True, slots=True)
class Job:
    """The tasks of a request on its hosts; ``title`` says what a preset is."""

    request: DesignRequest
    tasks: tuple[Task, ...]
    title: str = ""

    @property
    def collectives(self) -> tuple[Collective, ...]:
        """Every collective once, in the order of the tasks."""
        return tuple(dict.fromkeys(task.collective for task in self.tasks))

    @property
    def largest_bytes(self) -> int:
        """The size of the largest task."""
        return max(task.size_bytes for task in self.tasks)

    def work(self, task: Task) -> Workload:
        """Return a task with the speeds of the hosts."""
        request = self.request
        return Workload(
            task.collective, task.size_bytes, request.bytes_per_second, request.alpha_seconds
        )

    def bound_seconds(self, bounds: Cost) -> Fraction:
        """Return the least time in as many passes as usual: two for an allreduce."""
        total = Fraction(0)
        for task in self.tasks:
            work = self.work(task)
            if task.collective in PASSES:
                least = bound_seconds(bounds.steps, bounds.bandwidth, work)
            else:
                least = self.floor_seconds(task, bounds)
            total += task.count * least
        return total

    def floor_seconds(self, task: Task, bounds: Cost) -> Fraction:
        """Return the time of a task once that nothing can beat."""
        request = self.request
        routes = all_to_all_bound(request.nodes, request.degree, Links(request.links))
        return floor_seconds(bounds, routes, self.work(task))

    def baselines(self) -> list[dict[str, Any]]:
        """Return what the same hosts take today.

        A baseline that serves some tasks only leaves the others to the shifted ring.
        """
        request = self.request
        served = [
            {entry.name: entry for entry in baselines(request.nodes, request.degree, work)}
            for work in map(self.work, self.tasks)
        ]
        names = dict.fromkeys(name for found in served for name in found)
        return [_summed(name, served, self.tasks) for name in names]


def job_of(request: DesignRequest) -> Job:
    """Return the tasks of a request, equal ones counted together.

    Raises
    ------
    UnknownPreset
        There is no preset of that name.
    """
    if request.preset is not None:
        known = preset(request.preset)
        return Job(request, known.tasks, known.title)
    if request.workload is not None:
        tasks = (
            Task(Collective.of(task.collective), task.bytes, task.count)
            for task in request.workload
        )
        return Job(request, merged(tasks))
    return Job(request, (Task(Collective.of(request.collective), request.bytes),))


def _summed(
    name: str, served: list[dict[str, Baseline]], tasks: tuple[Task, ...]
) -> dict[str, Any]:
    used = [found.get(name) or found["shifted-ring"] for found in served]
    times = (entry.seconds * task.count for entry, task in zip(used, tasks, strict=True))
    return {
        "name": name,
        "seconds": float(sum(times, Fraction(0))),
        "steps": sum(entry.steps * task.count for entry, task in zip(used, tasks, strict=True)),
        "chunks": max(entry.chunks for entry in used),
    }
