"""The member ``co_design`` of design/1: one topology and the fastest algorithms on it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pydantic import Field

from topoloom.app.documents.base import Document, Identity, Stored, given_members, omitted
from topoloom.app.documents.frontier import algorithm_of

if TYPE_CHECKING:
    from topoloom.schedules.design import Choice, Design, ScheduleInUse
    from topoloom.synth.recipes.recipe import Recipe


class TaskDocument(Document):
    """One collective of the workload."""

    collective: str = Field(description="collective to run")
    bytes: int = Field(description="data size", ge=1)
    count: int = Field(description="number of runs", ge=1)


class PlannedTask(TaskDocument):
    """Algorithm and time of a task."""

    algorithm: str = Field(description="fastest algorithm for this size")
    chunks: int = Field(description="chunks per message", ge=1)
    max_chunks: int = omitted("limit of chunks per shard, if chunks cost time", ge=1)
    steps: int = Field(description="rounds, each of at least one hop latency", ge=0)
    seconds: float = Field(description="time of one run")
    floor_seconds: float = Field(
        description="lower bound of the time of one run, over all topologies of the hosts"
    )


class FastestAlgorithm(Document):
    """The fastest algorithm on the topology, from a message size on."""

    collective: str = Field(description="collective")
    from_bytes: int = Field(description="smallest size for which the algorithm is fastest", ge=1)
    algorithm: str = Field(description="fastest algorithm from this size on")


class UsedSchedule(Document):
    """A verified schedule of the design."""

    collective: str = Field(description="collective of the workload")
    algorithm: str = Field(description="algorithm")
    within_steps: int = omitted("slack: limit of steps per pass", ge=1)
    max_chunks: int = omitted("limit of chunks per shard, if chunks cost time", ge=1)
    id: Identity | None = Field(description="id of the schedule; null if absent")
    left_out: str = omitted("reason for the absence of a schedule")


class LeftOutAlgorithm(Document):
    """An algorithm without a schedule, with the reason."""

    name: str = Field(description="name of the algorithm")
    at_least_seconds: float = Field(
        description="lower bound of its time of the workload, on the points without a schedule"
    )
    reason: str = Field(description="reason")


class PointSeconds(Document):
    """The time of a point of the frontier with the fastest algorithms."""

    topology_id: Identity = Field(description="id of the topology")
    seconds: float = Field(description="time of the workload on the topology")


class CoDesign(Document):
    """One topology, with the fastest algorithm for every message size."""

    recipe: str = Field(description="recipe of the topology")
    name: str = Field(description="short name of the topology")
    topology_id: Identity = Field(description="id of the topology")
    algorithm: str = Field(description="schedules of the point: bfb or slack")
    within_steps: int = omitted("slack: limit of steps per pass", ge=1)
    seconds: float = Field(description="time of the workload")
    floor_seconds: float = Field(description="lower bound of the time of the workload")
    tasks: list[PlannedTask] = Field(description="algorithm and time of each task")
    switch_over: list[FastestAlgorithm] = Field(description="fastest algorithm by message size")
    schedules: list[UsedSchedule] = Field(description="verified schedules of all used algorithms")
    points: list[PointSeconds] = Field(description="all points of the frontier, in order")
    left_out: list[LeftOutAlgorithm] = omitted("algorithms without a schedule")


def of(
    design: "Design",
    topology: "Callable[[Recipe], Stored]",
    schedule: "Callable[[Recipe, ScheduleInUse], str]",
) -> CoDesign:
    """Return the co-design of a design, whose topologies and schedules are stored."""
    point = design.co_design
    recipe = point.measured.recipe
    stored = topology(recipe)
    return CoDesign(
        recipe=str(recipe),
        name=stored.name,
        topology_id=stored.id,
        **algorithm_of(point.measured),
        seconds=float(point.seconds),
        floor_seconds=float(design.floor_seconds),
        tasks=[_task(choice) for choice in point.choices],
        switch_over=[
            FastestAlgorithm(
                collective=collective.value, from_bytes=part.first_bytes, algorithm=part.name
            )
            for collective, parts in zip(
                design.workload.collectives, point.switch_over, strict=True
            )
            for part in parts
        ],
        schedules=[_used(recipe, used, schedule) for used in design.used],
        points=[
            PointSeconds(topology_id=topology(one.measured.recipe).id, seconds=float(one.seconds))
            for one in design.points
        ],
        **_left_out(design),
    )


def _left_out(design: "Design") -> dict[str, Any]:
    """Return the entry for trees that were estimated and not packed, if any."""
    least, fastest = design.trees_at_least, design.co_design.seconds
    if least is None:
        return {}
    if least >= fastest:
        reason = "no trees can be faster on any point of the frontier"
    else:
        percent = 100 * (1 - least / fastest)
        reason = f"trees could take {float(percent):.2g} % less at most"
    left = LeftOutAlgorithm(name="forestcoll", at_least_seconds=float(least), reason=reason)
    return {"left_out": [left]}


def option_members(used: "ScheduleInUse") -> dict[str, Any]:
    """Return the options of an algorithm, as members of a document."""
    return given_members(within_steps=used.options.steps, max_chunks=used.options.max_chunks)


def _task(choice: "Choice") -> PlannedTask:
    return PlannedTask(
        collective=choice.task.collective.value,
        bytes=choice.task.size_bytes,
        count=choice.task.count,
        algorithm=choice.algorithm,
        chunks=choice.chunks,
        steps=choice.rounds,
        seconds=float(choice.seconds),
        floor_seconds=float(choice.floor_seconds),
        **given_members(max_chunks=choice.max_chunks),
    )


def _used(
    recipe: "Recipe", used: "ScheduleInUse", schedule: "Callable[[Recipe, ScheduleInUse], str]"
) -> UsedSchedule:
    left_out = used.facts is None
    more: dict[str, Any] = option_members(used) | ({"left_out": used.left_out} if left_out else {})
    return UsedSchedule(
        collective=used.collective.value,
        algorithm=used.algorithm,
        id=None if left_out else schedule(recipe, used),
        **more,
    )
