"""What a design says: every point of the frontier as timed, the best, what runs on it."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeAlias

from topoloom.schedules.baselines import Baseline
from topoloom.schedules.compare.crossover import Candidate, Range, ranges
from topoloom.schedules.design.request import Speed
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.model.verified_schedule import Facts
from topoloom.schedules.options import NOTHING_ASKED, Options
from topoloom.schedules.workloads.tasks import Task, Workload
from topoloom.synth.evaluation.cost import Cost
from topoloom.synth.search.frontier import Point as Measured
from topoloom.synth.search.hosts import Hosts

if TYPE_CHECKING:
    from topoloom.schedules.routes.routing_choices import Exchange
    from topoloom.synth.wiring.ilp.objective import Goal

__all__ = ["Change", "Choice", "Design", "Point", "Used", "Weighed", "total"]

Weighed: TypeAlias = Literal["moves", "seconds", "drained"]
"""What is weighed against time; the values of `synth.wiring.Objective`, which takes a third of a
second to load."""


@dataclass(frozen=True, slots=True)
class Change:
    """How a topology is reached from today's wiring.

    ``moves`` is None, and ``refused`` says why, where it does not fit the plant.  No plan has
    fewer moves than ``lower_bound``; with ``optimal`` none has fewer than ``moves``.  ``seconds``
    and ``drained`` are what the same plan takes in one stage; ``goal`` is there where one of
    these is weighed.
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
        """Return what the plan takes of moves, seconds or drained hosts.

        >>> change = Change(4, seconds=Fraction(5, 2), drained=3)
        >>> str(change.taken("moves")), str(change.taken("seconds")), str(change.taken("drained"))
        ('4', '5/2', '3')
        """
        if weighed == "seconds":
            return self.seconds
        return Fraction(self.drained if weighed == "drained" else self.moves or 0)


@dataclass(frozen=True, slots=True)
class Choice:
    """What runs a task at a point: an algorithm, in how many pieces and rounds.

    ``seconds`` is the time of once, ``floor_seconds`` that which no algorithm on any
    topology of these hosts can beat.  ``max_chunks`` is into how many chunks a shard is cut at
    most, where chunks cost time; None for as many as lose no bandwidth.
    """

    task: Task
    algorithm: str
    chunks: int
    rounds: int
    seconds: Fraction
    floor_seconds: Fraction
    max_chunks: int | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the frontier as this workload finds it.

    Attributes
    ----------
    exchange : Exchange or None
        What all-to-all takes there, where the workload holds one.
    usual_seconds : Fraction
        Time of the workload in the point's steps, and of its all-to-alls by their fastest routing.
    choices : tuple of Choice
        The fastest way to run each task, in the order of the tasks.
    candidates : tuple of tuple of Candidate
        All ways to run each collective, in the order of `Workload.collectives`.
    trees_at_least : Fraction or None
        Time of the workload that trees there cannot beat, where they were weighed and not packed.
    """

    measured: Measured
    exchange: "Exchange | None"
    usual_seconds: Fraction
    choices: tuple[Choice, ...]
    candidates: tuple[tuple[Candidate, ...], ...]
    trees_at_least: Fraction | None = None

    @property
    def seconds(self) -> Fraction:
        """Time of the workload with the fastest algorithm for every message size."""
        return total((one.task, one.seconds) for one in self.choices)

    @property
    def switch_over(self) -> tuple[tuple[Range, ...], ...]:
        """Which algorithm is fastest from which size on, of each collective."""
        return tuple(ranges(ways) for ways in self.candidates)

    @property
    def simplicity(self) -> tuple[int, int, str]:
        """What decides between points of equal time: fewer steps, then a shorter recipe."""
        text = str(self.measured.recipe)
        return self.measured.cost.steps, len(text), text


@dataclass(frozen=True, slots=True)
class Used:
    """A verified schedule of an algorithm in use, or why there is none.

    ``options`` are what was asked of the algorithm: within how many steps, in how many chunks.
    """

    collective: Collective
    algorithm: str
    facts: Facts | None
    left_out: str = ""
    options: Options = NOTHING_ASKED


@dataclass(frozen=True, slots=True)
class Design:
    """The answer: all points of the frontier, the best, and what runs on it.

    Attributes
    ----------
    bounds : Cost
        Steps and T_B of one pass that no topology of these hosts can undercut.
    bound_seconds : Fraction
        Time of the workload that no topology can beat in as many passes as usual.
    best : Point
        The point of least time: by the usual algorithms for a single collective, by the
        fastest ones for a list of tasks.
    schedule : Used or None
        Of a single collective: the verified schedule on the best point; None for a list,
        whose schedules are in ``used``.
    co_design : Point
        The point of least time by the fastest algorithm for every size, with ``used``, a
        schedule for each of these.
    baselines : tuple of Baseline
        What the same hosts take today for the whole workload.
    assumed : tuple of Baseline
        What they would take with more than cables, such as a switch that costs no latency.
    changes : tuple of Change
        How each point is reached from today's wiring, where that was given; else empty.
    weighed : str
        What of these changes is weighed against time: moves, seconds or drained hosts.
    """

    hosts: Hosts
    speed: Speed
    workload: Workload
    bounds: Cost
    bound_seconds: Fraction
    points: tuple[Point, ...]
    best: Point
    schedule: Used | None
    co_design: Point
    used: tuple[Used, ...]
    baselines: tuple[Baseline, ...]
    assumed: tuple[Baseline, ...] = ()
    changes: tuple[Change, ...] = ()
    weighed: Weighed = "moves"

    @property
    def times(self) -> tuple[Fraction, ...]:
        """The times of all points by which the best is chosen."""
        single = self.workload.single
        return tuple(point.usual_seconds if single else point.seconds for point in self.points)

    @property
    def best_seconds(self) -> Fraction:
        """The time for which the best point was chosen."""
        return self.best.usual_seconds if self.workload.single else self.best.seconds

    @property
    def trees_at_least(self) -> Fraction | None:
        """The least time that trees which were not packed can take, on any point."""
        least = (point.trees_at_least for point in self.points)
        return min((one for one in least if one is not None), default=None)

    @property
    def floor_seconds(self) -> Fraction:
        """Time of the workload that no algorithm on any topology can beat."""
        return total((one.task, one.floor_seconds) for one in self.co_design.choices)


def total(times: Iterable[tuple[Task, Fraction]]) -> Fraction:
    """Return the time of all tasks, each as often as it is run, from the times of once.

    >>> total([(Task(Collective.ALLGATHER, 1, 3), Fraction(1, 2))])
    Fraction(3, 2)
    """
    return sum((task.count * seconds for task, seconds in times), Fraction(0))
