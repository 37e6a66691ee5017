"""What runs on the one topology of a job: the member ``co_design`` of design/1."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pydantic import Field

from topoloom.app.documents.base import Document, Identity, Stored, omitted
from topoloom.app.documents.frontier import algorithm_of
from topoloom.synth.recipes.recipe import Recipe

if TYPE_CHECKING:
    from topoloom.schedules.design import Choice, Design, Used


class TaskDocument(Document):
    """One collective of the workload."""

    collective: str = Field(description="what is run")
    bytes: int = Field(description="on how many bytes", ge=1)
    count: int = Field(description="how often", ge=1)


class PlannedTask(TaskDocument):
    """What runs a task, and how long it takes once."""

    algorithm: str = Field(description="the fastest for this size")
    chunks: int = Field(description="into how many pieces messages are cut", ge=1)
    max_chunks: int = omitted("where chunks cost time: into how many a shard is cut at most", ge=1)
    steps: int = Field(description="rounds, each as long as one hop latency at least", ge=0)
    seconds: float = Field(description="time of once")
    floor_seconds: float = Field(
        description="time of once that no algorithm on any topology of these hosts can beat"
    )


class SwitchDocument(Document):
    """From so many bytes on this algorithm is the fastest on the topology."""

    collective: str = Field(description="of which collective")
    from_bytes: int = Field(description="smallest size for which it is the fastest", ge=1)
    algorithm: str = Field(description="the fastest from there on")


class UsedSchedule(Document):
    """A verified schedule of an algorithm in use."""

    collective: str = Field(description="the collective of the workload")
    algorithm: str = Field(description="the algorithm in use")
    within_steps: int = omitted("slack: within how many steps of each pass", ge=1)
    max_chunks: int = omitted("where chunks cost time: at most so many a shard", ge=1)
    id: Identity | None = Field(description="what it is stored under; null where left out")
    left_out: str = omitted("why there is no schedule")


class LeftOutAlgorithm(Document):
    """An algorithm that was weighed and not made, and why."""

    name: str = Field(description="which algorithm")
    at_least_seconds: float = Field(
        description="time of the workload that it cannot beat, on any point where it was not made"
    )
    reason: str = Field(description="why it was not made")


class PointSeconds(Document):
    """The time of a point of the frontier, used in the same way."""

    topology_id: Identity = Field(description="the point")
    seconds: float = Field(description="time of the workload there")


class CoDesign(Document):
    """One topology, and the fastest algorithm for every message size."""

    recipe: str = Field(description="how the topology is made")
    name: str = Field(description="its short name")
    topology_id: Identity = Field(description="what the topology is stored under")
    algorithm: str = Field(description="of the point: bfb or slack")
    within_steps: int = omitted("of the point: within how many steps of each pass", ge=1)
    seconds: float = Field(description="time of the workload")
    floor_seconds: float = Field(description="time of the workload that nothing can beat")
    tasks: list[PlannedTask] = Field(description="what runs each task")
    switch_over: list[SwitchDocument] = Field(description="which algorithm from which size on")
    schedules: list[UsedSchedule] = Field(description="verified schedules of all that is used")
    points: list[PointSeconds] = Field(description="every point of the frontier, in its order")
    left_out: list[LeftOutAlgorithm] = omitted("algorithms that were weighed and not made")


def of(
    design: "Design",
    topology: Callable[[Recipe], Stored],
    schedule: "Callable[[Recipe, Used], str]",
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
            SwitchDocument(
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
    """Return what is said of trees that were not packed, if they were weighed."""
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


def said_of(used: "Used") -> dict[str, Any]:
    """Return what was asked of an algorithm, as members of a document."""
    said = {"within_steps": used.options.steps, "max_chunks": used.options.max_chunks}
    return {name: value for name, value in said.items() if value is not None}


def _task(choice: "Choice") -> PlannedTask:
    more = {} if choice.max_chunks is None else {"max_chunks": choice.max_chunks}
    return PlannedTask(
        collective=choice.task.collective.value,
        bytes=choice.task.size_bytes,
        count=choice.task.count,
        algorithm=choice.algorithm,
        chunks=choice.chunks,
        steps=choice.rounds,
        seconds=float(choice.seconds),
        floor_seconds=float(choice.floor_seconds),
        **more,
    )


def _used(recipe: Recipe, used: "Used", schedule: "Callable[[Recipe, Used], str]") -> UsedSchedule:
    left_out = used.facts is None
    more: dict[str, Any] = said_of(used) | ({"left_out": used.left_out} if left_out else {})
    return UsedSchedule(
        collective=used.collective.value,
        algorithm=used.algorithm,
        id=None if left_out else schedule(recipe, used),
        **more,
    )
