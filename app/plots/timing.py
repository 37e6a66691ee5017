"""Times over sizes: what is run, scaled to a size, on topologies, baselines and at the bound."""

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import Any

from pydantic import model_validator

from app.design_requests import FrontierRequest, TaskRequest, TimedRequest
from app.options import cluster, pages
from app.options.collectives import CollectiveName
from app.quantities import Bytes
from schedules.baselines import PASSES, Operation, baselines, bound_seconds
from schedules.codesign import ONE_SHOT, Offer, Routing, candidates, floor_seconds
from schedules.errors import UnknownPreset
from schedules.model import Collective
from schedules.workloads.presets import preset
from schedules.workloads.tasks import Task, merged
from synth.cost import Cost, Links, all_to_all_bound

__all__ = ["SizesRequest", "Times", "costs_of", "sizes"]

_STEPS_PER_DOUBLING = 4
_WAYS = ("collective", "workload", "preset")
_RANGE = 2**10, 2**30
"""Sizes of one collective."""
_AROUND = Fraction(1, 1024), 4
"""Sizes of a workload, beside what it moves."""


class SizesRequest(TimedRequest):
    """What is run on which hosts, for sizes of its data between two."""

    collective: CollectiveName = cluster.COLLECTIVE.field()
    workload: list[TaskRequest] = cluster.WORKLOAD.field()
    preset: str = cluster.PRESET.field(min_length=1, max_length=100)
    least: Bytes = pages.LEAST_BYTES.field(alias="from")
    most: Bytes = pages.MOST_BYTES.field(alias="to")

    @model_validator(mode="after")
    def _one_way(self) -> "SizesRequest":
        if sum(getattr(self, name) is not None for name in _WAYS) != 1:
            raise ValueError("must say what is run by exactly one of collective, workload, preset")
        try:
            least, most = self.range
        except UnknownPreset:
            # Said by whoever asks for the tasks, with the names that there are.
            return self
        if not least < most:
            raise ValueError("from must be smaller than to")
        return self

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """What is run; one collective has size 1, for it is drawn at every size."""
        if self.preset is not None:
            return preset(self.preset).tasks
        if self.workload is not None:
            return merged(
                Task(Collective.of(task.collective), task.bytes, task.count)
                for task in self.workload
            )
        return (Task(Collective.of(self.collective), 1),)

    def canonical(self) -> dict[str, Any]:
        """Return the request as plain JSON values, defaults filled in, by its own words."""
        return self.model_dump(mode="json", exclude_none=True, by_alias=True)

    @property
    def total_bytes(self) -> int:
        """The data of all tasks together, each as often as it is run."""
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
        """Return the question whose points are drawn; with all-to-all where that is run."""
        asked = {name: getattr(self, name) for name in FrontierRequest.model_fields}
        if any(task.collective is Collective.ALL_TO_ALL for task in self.tasks):
            asked["all_to_all"] = True
        return FrontierRequest.model_validate(
            {name: value for name, value in asked.items() if value is not None}
        )


def sizes(least: int, most: int) -> list[int]:
    """Return sizes from ``least`` to ``most``, evenly on a logarithmic axis.

    >>> sizes(1000, 2000)
    [1000, 1189, 1414, 1682, 2000]
    """
    found, number = [], 0
    while (size := round(least * 2 ** (number / _STEPS_PER_DOUBLING))) < most:
        found.append(size)
        number += 1
    # Small ones are rounded to the same number of bytes.
    return [*dict.fromkeys(found), most]


class Times:
    """Seconds of what is run, its data scaled to so many bytes in all.

    The bytes of every task grow alike, rounded to whole bytes, at least 1.
    """

    def __init__(self, request: SizesRequest, bounds: dict[str, Any]) -> None:
        self.request = request
        self.bounds = Cost(bounds["steps"], Fraction(bounds["bandwidth"]))

    def _scaled(self, size_bytes: int) -> Iterator[tuple[int, Operation]]:
        """Yield how often each task is run, and the task with the speeds of the hosts."""
        request, total = self.request, self.request.total_bytes
        for task in request.tasks:
            size = max(1, round(Fraction(task.size_bytes * size_bytes, total)))
            yield (
                task.count,
                Operation(task.collective, size, request.bytes_per_second, request.alpha_seconds),
            )

    def on(self, entry: dict[str, Any], size_bytes: int) -> Fraction:
        """Return the time at a point of a frontier/1: its steps, or the fastest routing."""
        scaled = list(self._scaled(size_bytes))
        largest = max(work.size_bytes for _, work in scaled)
        offer = _offer(entry)
        total = Fraction(0)
        for count, work in scaled:
            ways = candidates(offer, work, largest)
            usual = [way for way in ways if way.name in ONE_SHOT] or ways
            total += count * min(way.seconds(work.size_bytes) for way in usual)
        return total

    def bound(self, size_bytes: int) -> Fraction:
        """Return the time that no topology of these hosts can beat in the usual passes."""
        request = self.request
        routes = all_to_all_bound(request.nodes, request.degree, Links(request.links))
        total = Fraction(0)
        for count, work in self._scaled(size_bytes):
            if work.collective in PASSES:
                least = bound_seconds(self.bounds.steps, self.bounds.bandwidth, work)
            else:
                least = floor_seconds(self.bounds, routes, work)
            total += count * least
        return total

    def baselines(self, size_bytes: int) -> dict[str, Fraction]:
        """Return the time of every baseline that these hosts can run.

        One that serves some tasks only leaves the others to the shifted ring.
        """
        nodes, degree = self.request.nodes, self.request.degree
        links = Links(self.request.links)
        served = [
            (count, {found.name: found.seconds for found in baselines(nodes, degree, work, links)})
            for count, work in self._scaled(size_bytes)
        ]
        names = dict.fromkeys(name for _, found in served for name in found)
        return {
            name: sum(
                (count * found.get(name, found["shifted-ring"]) for count, found in served),
                Fraction(0),
            )
            for name in names
        }


def costs_of(entry: dict[str, Any], collective: Collective) -> Cost:
    """Return steps and T_B of a collective at a point of a frontier/1, in steps or by routes."""
    offer = _offer(entry)
    used = {
        Collective.ALLGATHER: [offer.gather],
        Collective.REDUCE_SCATTER: [offer.scatter],
        Collective.ALLREDUCE: [offer.scatter, offer.gather],
        Collective.ALL_TO_ALL: [routing.cost for routing in offer.routings[-1:]],
    }[collective]
    bandwidth = sum((cost.bandwidth for cost in used), Fraction(0))
    return Cost(sum(cost.steps for cost in used), bandwidth)


def _offer(entry: dict[str, Any]) -> Offer:
    """Return what a point of a frontier/1 document can run."""
    routings = entry.get("all_to_all", {}).get("routings", ())
    return Offer(
        entry["nodes"],
        _cost(entry),
        _cost(entry["transpose"]),
        routings=tuple(Routing(routing["method"], _cost(routing)) for routing in routings),
        algorithm=entry["algorithm"],
    )


def _cost(facts: dict[str, Any]) -> Cost:
    return Cost(facts["steps"], Fraction(facts["bandwidth"]))
