"""Topologies with known exact costs, and the best of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from topoloom.schedules.baselines import bound_seconds, seconds
from topoloom.schedules.design.request import Speed
from topoloom.schedules.errors import ScheduleError
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.workloads.tasks import Workload
from topoloom.synth.evaluation.cost import Cost, Links, lower_bound


@dataclass(frozen=True, slots=True)
class KnownTopology:
    """A topology for a host and port count, with costs as in `synth.search.frontier.Point`.

    ``recipe`` is None for an uploaded graph.  ``sources`` name the origins: kinds of documents and
    their ids, or the atlas.  ``within`` is None for costs by breadth-first broadcast, else the
    number of steps of the slack schedule.
    """

    nodes: int
    degree: int
    cost: Cost
    transpose: Cost
    recipe: str | None
    name: str
    topology_id: str | None = None
    sources: tuple[tuple[str, str], ...] = ()
    within: int | None = None

    @property
    def algorithm(self) -> Literal["bfb", "slack"]:
        """The algorithm of these costs, see `synth.search.frontier.Point.algorithm`."""
        return "bfb" if self.within is None else "slack"

    def worse(self) -> Cost:
        """Return the larger steps and the larger bandwidth of both directions."""
        one, other = self.cost, self.transpose
        return Cost(max(one.steps, other.steps), max(one.bandwidth, other.bandwidth))

    def dominates(self, other: "KnownTopology") -> bool:
        """Whether this has the same size, and no worse steps and bandwidth in both directions."""
        return self.nodes == other.nodes and all(
            mine.steps <= theirs.steps and mine.bandwidth <= theirs.bandwidth
            for mine, theirs in ((self.cost, other.cost), (self.transpose, other.transpose))
        )


@dataclass(frozen=True, slots=True)
class RatedTopology:
    """A known topology, the bounds of its size, and its time for a workload, where given."""

    known: KnownTopology
    bounds: Cost
    seconds: Fraction | None = None
    bound_seconds: Fraction | None = None

    @property
    def gap(self) -> Cost:
        """The excess of the worse direction over the bounds: steps, and a share of bandwidth.

        >>> from fractions import Fraction
        >>> ring = KnownTopology(4, 1, *2 * [Cost(3, Fraction(3, 4))], "UniRing(4)", "uniring-4x1")
        >>> RatedTopology(ring, Cost(3, Fraction(3, 4))).gap
        Cost(steps=0, bandwidth=Fraction(0, 1))
        """
        worse = self.known.worse()
        return Cost(worse.steps - self.bounds.steps, worse.bandwidth / self.bounds.bandwidth - 1)

    @property
    def rank(self) -> tuple[Fraction | int, Fraction, int, int, str]:
        """The sort key: distance to the bounds, then size, then simplicity.

        The distance is the time over its bound with a workload; else steps above their bound, then
        bandwidth above its bound.  Ties go to the most hosts, then to the shortest recipe.
        """
        gap, text = self.gap, self.known.recipe or self.known.name
        last = -self.known.nodes, len(text), text
        if self.seconds is not None and self.bound_seconds:
            return self.seconds / self.bound_seconds, Fraction(gap.steps), *last
        return gap.steps, gap.bandwidth, *last


def best_topologies(
    known: Iterable[KnownTopology],
    links: Links,
    speed: Speed | None = None,
    workload: Workload | None = None,
) -> list[RatedTopology]:
    """Return the topologies that no other known one of their size dominates, the best first.

    Ties go to breadth-first broadcast, then to the shortest recipe.  Times are exact and those
    of the usual passes by the algorithm of each topology.  At most O(topologies of a size squared).

    >>> from fractions import Fraction
    >>> ring = KnownTopology(4, 2, *2 * [Cost(2, Fraction(3, 4))], "BiRing(4)", "biring-4x2")
    >>> worse = KnownTopology(4, 2, *2 * [Cost(2, Fraction(1))], "X(4)", "x-4x2")
    >>> [one.known.recipe for one in best_topologies([worse, ring], Links.UNIDIRECTIONAL)]
    ['BiRing(4)']
    """
    by_size: dict[tuple[int, int], list[KnownTopology]] = {}
    # A topology that dominates another, or equals it and is simpler, precedes it.
    for one in sorted(known, key=_simplest):
        kept = by_size.setdefault((one.nodes, one.degree), [])
        if not any(other.dominates(one) for other in kept):
            kept.append(one)
    rated: list[RatedTopology] = []
    for (nodes, degree), alike in by_size.items():
        bounds = lower_bound(nodes, degree, links)
        for one in alike:
            if speed is None or workload is None:
                rated.append(RatedTopology(one, bounds))
            else:
                times = _seconds(one, speed, workload), _bound(bounds, speed, workload)
                rated.append(RatedTopology(one, bounds, *times))
    return sorted(rated, key=lambda one: one.rank)


def require_timed(workload: Workload) -> None:
    """Raise unless the time of a workload follows from the known costs of a topology.

    Raises:
        ScheduleError: The workload has an all-to-all, whose routes must be computed.
    """
    if workload.exchanges:
        raise ScheduleError(
            "/collective",
            "must not be or include all-to-all: its time requires routes, which a design computes",
        )


def _simplest(one: KnownTopology) -> tuple[Cost, Cost, int, int, int, str]:
    text = one.recipe or one.name
    return one.cost, one.transpose, one.within or 0, one.recipe is None, len(text), text


def _seconds(one: KnownTopology, speed: Speed, workload: Workload) -> Fraction:
    """Return the time of a workload by the algorithm of these costs."""
    total = Fraction(0)
    for task in workload.tasks:
        passes: Sequence[Cost] = {
            Collective.ALLGATHER: (one.cost,),
            Collective.REDUCE_SCATTER: (one.transpose,),
            Collective.ALLREDUCE: (one.transpose, one.cost),
        }[task.collective]
        operation = speed.operation(task)
        total += task.count * sum(
            (seconds(cost.steps, cost.bandwidth, operation) for cost in passes), Fraction(0)
        )
    return total


def _bound(bounds: Cost, speed: Speed, workload: Workload) -> Fraction:
    """Return the lower bound for any topology in the usual number of passes."""
    times = (
        task.count * bound_seconds(bounds.steps, bounds.bandwidth, speed.operation(task))
        for task in workload.tasks
    )
    return sum(times, Fraction(0))
