"""The answer of a design: all points of the frontier with times, the best, and its schedules."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeAlias

from topoloom.schedules.baselines import Baseline
from topoloom.schedules.compare.crossover import Candidate, FastestRange, fastest_ranges
from topoloom.schedules.design.request import Speed
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.model.verified_schedule import ScheduleCosts
from topoloom.schedules.options import DEFAULT_OPTIONS, Options
from topoloom.schedules.workloads.tasks import Task, Workload
from topoloom.synth.evaluation.cost import Cost
from topoloom.synth.search.frontier import Point as Measured
from topoloom.synth.search.hosts import Hosts
from topoloom.synth.topology.notebook import html_table

if TYPE_CHECKING:
    from topoloom.schedules.routes.routing_choices import AllToAllChoices
    from topoloom.synth.wiring.ilp.objective import Goal

Weighed: TypeAlias = Literal["moves", "seconds", "drained"]
"""Secondary objectives; the values of `synth.wiring.Objective`, whose import takes 0.3 s."""


@dataclass(frozen=True, slots=True)
class Change:
    """The changes from today's wiring to a topology.

    ``moves`` is None, and ``refused`` states the reason, where the topology does not fit the plant.
    ``lower_bound`` is a lower bound on moves; ``optimal`` means that ``moves`` is the minimum.
    ``seconds`` and ``drained`` are those of the plan in one stage; ``goal`` is present where one
    of them is the objective.
    """

    moves: int | None
    lower_bound: int = 0
    kept: int = 0
    optimal: bool = False
    seconds: Fraction = Fraction(0)
    drained: int = 0
    goal: "Goal | None" = None
    refused: str = ""

    def taken(self, weighed: Weighed) -> Fraction:
        """Return the moves, seconds or drained hosts of the plan.

        >>> change = Change(4, seconds=Fraction(5, 2), drained=3)
        >>> str(change.taken("moves")), str(change.taken("seconds")), str(change.taken("drained"))
        ('4', '5/2', '3')
        """
        if weighed == "seconds":
            return self.seconds
        return Fraction(self.drained if weighed == "drained" else self.moves or 0)


@dataclass(frozen=True, slots=True)
class Choice:
    """The algorithm of a task at a point, with its pieces and rounds.

    ``seconds`` is the time of one run, ``floor_seconds`` the lower bound for any algorithm on any
    topology of these hosts.  ``max_chunks`` is the maximum chunks per shard where chunks cost
    time; None for the number that loses no bandwidth.
    """

    task: Task
    algorithm: str
    chunks: int
    rounds: int
    seconds: Fraction
    floor_seconds: Fraction
    max_chunks: int | None = None


@dataclass(frozen=True, slots=True)
class DesignPoint:
    """A point of the frontier, timed for a workload.

    Attributes:
        exchange: Cost of all-to-all on the point, where the workload has one.
        usual_seconds: Time of the workload in the point's steps, and of its all-to-alls by their
            fastest routing.
        choices: The fastest algorithm of each task, in the order of the tasks.
        candidates: All algorithms of each collective, in the order of `Workload.collectives`.
        trees_at_least: Lower bound on the workload's time by trees, where trees were bounded but
            not packed.
    """

    measured: Measured
    exchange: "AllToAllChoices | None"
    usual_seconds: Fraction
    choices: tuple[Choice, ...]
    candidates: tuple[tuple[Candidate, ...], ...]
    trees_at_least: Fraction | None = None

    @property
    def seconds(self) -> Fraction:
        """Time of the workload with the fastest algorithm for every message size."""
        return total((one.task, one.seconds) for one in self.choices)

    @property
    def switch_over(self) -> tuple[tuple[FastestRange, ...], ...]:
        """The fastest algorithm by range of sizes, for each collective."""
        return tuple(fastest_ranges(ways) for ways in self.candidates)

    @property
    def simplicity(self) -> tuple[int, int, str]:
        """The tie-break between points of equal time: fewer steps, then the shorter recipe."""
        text = str(self.measured.recipe)
        return self.measured.cost.steps, len(text), text


@dataclass(frozen=True, slots=True)
class ScheduleInUse:
    """A verified schedule of an algorithm in use, or the reason for none.

    ``options`` are the options of the algorithm: its number of steps and chunks.
    """

    collective: Collective
    algorithm: str
    facts: ScheduleCosts | None
    left_out: str = ""
    options: Options = DEFAULT_OPTIONS


@dataclass(frozen=True, slots=True)
class Design:
    """The answer: all points of the frontier, the best, and its schedules.

    Attributes:
        bounds: Lower bounds on the steps and T_B of one pass, for any topology of these hosts.
        bound_seconds: Lower bound on the workload's time for any topology, in the usual number of
            passes.
        best: The point of least time: by the usual algorithms for a single collective, by the
            fastest algorithms for a list of tasks.
        schedule: For a single collective: the verified schedule on the best point.  None for a
            list, whose schedules are in ``used``.
        co_design: The point of least time by the fastest algorithm for every size; ``used`` has a
            schedule for each of these algorithms.
        baselines: Times of the whole workload on the same hosts by today's algorithms.
        assumed: The same with hardware beyond cables, such as a switch without latency.
        changes: Changes from today's wiring to each point, where given; else empty.
        weighed: Objective of these changes: moves, seconds or drained hosts.
    """

    hosts: Hosts
    speed: Speed
    workload: Workload
    bounds: Cost
    bound_seconds: Fraction
    points: tuple[DesignPoint, ...]
    best: DesignPoint
    schedule: ScheduleInUse | None
    co_design: DesignPoint
    used: tuple[ScheduleInUse, ...]
    baselines: tuple[Baseline, ...]
    assumed: tuple[Baseline, ...] = ()
    changes: tuple[Change, ...] = ()
    weighed: Weighed = "moves"

    @property
    def times(self) -> tuple[Fraction, ...]:
        """The times of all points, as used to choose the best."""
        single = self.workload.single
        return tuple(point.usual_seconds if single else point.seconds for point in self.points)

    @property
    def best_seconds(self) -> Fraction:
        """The time of the best point."""
        return self.best.usual_seconds if self.workload.single else self.best.seconds

    @property
    def trees_at_least(self) -> Fraction | None:
        """The least lower bound on times by unpacked trees, over all points."""
        least = (point.trees_at_least for point in self.points)
        return min((one for one in least if one is not None), default=None)

    @property
    def floor_seconds(self) -> Fraction:
        """Lower bound on the workload's time for any algorithm on any topology."""
        return total((one.task, one.floor_seconds) for one in self.co_design.choices)

    def _repr_html_(self) -> str:
        """Return the answer and the timed points as a table for notebooks."""
        rows = (
            (point.measured.recipe, point.measured.cost.steps, f"{float(seconds) * 1e6:.6g} µs")
            for point, seconds in zip(self.points, self.times, strict=True)
        )
        caption = (
            f"Best: {self.best.measured.recipe}, {float(self.best_seconds) * 1e6:.6g} µs; no "
            f"topology takes less than {float(self.bound_seconds) * 1e6:.6g} µs"
        )
        return html_table(caption, ("recipe", "steps", "time"), rows)


def total(times: Iterable[tuple[Task, Fraction]]) -> Fraction:
    """Return the total time of tasks, each repeated as stated, from the times of one run.

    >>> total([(Task(Collective.ALLGATHER, 1, 3), Fraction(1, 2))])
    Fraction(3, 2)
    """
    return sum((task.count * seconds for task, seconds in times), Fraction(0))
