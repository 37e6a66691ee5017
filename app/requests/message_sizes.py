"""Request for times by data size: hosts, workload and a range of sizes."""

from fractions import Fraction
from functools import cached_property
from typing import Any

from pydantic import model_validator

from topoloom.app.requests.base import Bytes
from topoloom.app.requests.designs import (
    FrontierRequest,
    TaskRequest,
    TimedRequest,
    workload_preset,
)
from topoloom.app.requests.options import cluster, sweeps_and_jobs
from topoloom.app.requests.options.collectives import CollectiveName
from topoloom.schedules.errors import UnknownPreset
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.workloads.tasks import Task, merge_tasks

_STEPS_PER_DOUBLING = 4

_WAYS = ("collective", "workload", "preset")
_RANGE = 2**10, 2**30
"""Default range of sizes of one collective."""
_AROUND = Fraction(1, 1024), 4
"""Default range of sizes of a workload, as multiples of its data."""


class SizesRequest(TimedRequest):
    """Hosts, workload and a range of data sizes."""

    collective: CollectiveName = cluster.COLLECTIVE.field()
    workload: list[TaskRequest] = cluster.WORKLOAD.field()
    preset: str = cluster.PRESET.field(min_length=1, max_length=100)
    least: Bytes = sweeps_and_jobs.LEAST_BYTES.field(alias="from")
    most: Bytes = sweeps_and_jobs.MOST_BYTES.field(alias="to")

    @model_validator(mode="after")
    def _exactly_one(self) -> "SizesRequest":
        if sum(getattr(self, name) is not None for name in _WAYS) != 1:
            raise ValueError("must have exactly one of collective, workload and preset")
        try:
            least, most = self.range
        except UnknownPreset:
            # The caller of `tasks` reports the unknown preset, with the known names.
            return self
        if not least < most:
            raise ValueError("from must be smaller than to")
        return self

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks of the workload; a single collective has size 1 and is scaled to each size."""
        if self.preset is not None:
            return workload_preset(self.preset).tasks
        if self.workload is not None:
            return merge_tasks(
                Task(Collective.of(task.collective), task.bytes, task.count)
                for task in self.workload
            )
        return (Task(Collective.of(self.collective), 1),)

    def canonical(self) -> dict[str, Any]:
        """Return the request as plain JSON values, with defaults and members `from` and `to`."""
        return self.model_dump(mode="json", exclude_none=True, by_alias=True)

    @property
    def total_bytes(self) -> int:
        """The data of all tasks, times their counts."""
        return sum(task.size_bytes * task.count for task in self.tasks)

    @property
    def range(self) -> tuple[int, int]:
        """The smallest and the largest size."""
        usual = _RANGE
        if self.collective is None:
            usual = tuple(max(1, int(self.total_bytes * factor)) for factor in _AROUND)
        least = usual[0] if self.least is None else self.least
        return least, usual[1] if self.most is None else self.most

    def frontier(self) -> FrontierRequest:
        """Return the request for the drawn frontier, with all-to-all costs if the tasks need it."""
        members = {name: getattr(self, name) for name in FrontierRequest.model_fields}
        if any(task.collective is Collective.ALL_TO_ALL for task in self.tasks):
            members["all_to_all"] = True
        return FrontierRequest.model_validate(
            {name: value for name, value in members.items() if value is not None}
        )


def sizes(least: int, most: int) -> list[int]:
    """Return sizes from ``least`` to ``most``, evenly spaced on a logarithmic axis.

    >>> sizes(1000, 2000)
    [1000, 1189, 1414, 1682, 2000]
    """
    sizes, number = [], 0
    while (size := round(least * 2 ** (number / _STEPS_PER_DOUBLING))) < most:
        sizes.append(size)
        number += 1
    # Small sizes can round to the same number of bytes.
    return [*dict.fromkeys(sizes), most]
