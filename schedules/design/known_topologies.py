"""Topologies of which the exact costs are known, and which of them are the best."""

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

__all__ = ["Known", "Rated", "best", "require_timed"]


@dataclass(frozen=True, slots=True)
class Known:
    """A topology for a host and port count, with costs as in `synth.search.frontier.Point`.

    ``recipe`` is None of a graph that somebody brought.  ``sources`` tell where it is known
    from: kinds of documents and their ids, or the atlas.  ``within`` is None for costs by
    breadth-first broadcast, else they are those of labels within so many steps.
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
        """What makes schedules of these costs, see `synth.search.frontier.Point.algorithm`."""
        return "bfb" if self.within is None else "slack"

    def worse(self) -> Cost:
        """Return the steps and the bandwidth of the worse of both directions."""
        one, other = self.cost, self.transpose
        return Cost(max(one.steps, other.steps), max(one.bandwidth, other.bandwidth))

    def dominates(self, other: "Known") -> bool:
        """Whether this is of the same size, and no worse in steps and bandwidth, both ways."""
        return self.nodes == other.nodes and all(
            mine.steps <= theirs.steps and mine.bandwidth <= theirs.bandwidth
            for mine, theirs in ((self.cost, other.cost), (self.transpose, other.transpose))
        )


@dataclass(frozen=True, slots=True)
class Rated:
    """A known topology, the bounds of its size, and its time of a workload, if one is given."""

    known: Known
    bounds: Cost
    seconds: Fraction | None = None
    bound_seconds: Fraction | None = None

    @property
    def gap(self) -> Cost:
        """By how much the worse direction misses the bounds: steps, and a share of bandwidth.

        >>> from fractions import Fraction
        >>> ring = Known(4, 1, *2 * [Cost(3, Fraction(3, 4))], "UniRing(4)", "uniring-4x1")
        >>> Rated(ring, Cost(3, Fraction(3, 4))).gap
        Cost(steps=0, bandwidth=Fraction(0, 1))
        """
        worse = self.known.worse()
        return Cost(worse.steps - self.bounds.steps, worse.bandwidth / self.bounds.bandwidth - 1)

    @property
    def rank(self) -> tuple[Fraction | int, Fraction, int, int, str]:
        """Orders by how far off the bounds, then by size and by how simple it is.

        With a workload by its time over its bound, without one by steps above their bound, then
        by bandwidth above its bound; of equals the most hosts, then the shortest recipe.
        """
        gap, text = self.gap, self.known.recipe or self.known.name
        last = -self.known.nodes, len(text), text
        if self.seconds is not None and self.bound_seconds:
            return self.seconds / self.bound_seconds, Fraction(gap.steps), *last
        return gap.steps, gap.bandwidth, *last


def best(
    known: Iterable[Known],
    links: Links,
    speed: Speed | None = None,
    workload: Workload | None = None,
) -> list[Rated]:
    """Return the topologies that no other known one of their size dominates, the best first.

    Of equal ones that by breadth-first broadcast is kept, then the shortest recipe.  Times are
    those of the usual passes by the algorithm of each, exact.  O(topologies of a size squared)
    at most.

    Examples
    --------
    >>> from fractions import Fraction
    >>> ring = Known(4, 2, *2 * [Cost(2, Fraction(3, 4))], "BiRing(4)", "biring-4x2")
    >>> worse = Known(4, 2, *2 * [Cost(2, Fraction(1))], "X(4)", "x-4x2")
    >>> [one.known.recipe for one in best([worse, ring], Links.UNIDIRECTIONAL)]
    ['BiRing(4)']
    """
    by_size: dict[tuple[int, int], list[Known]] = {}
    # Whatever dominates another, or equals it and is shorter, comes before it.
    for one in sorted(known, key=_simplest):
        kept = by_size.setdefault((one.nodes, one.degree), [])
        if not any(other.dominates(one) for other in kept):
            kept.append(one)
    rated: list[Rated] = []
    for (nodes, degree), alike in by_size.items():
        bounds = lower_bound(nodes, degree, links)
        for one in alike:
            if speed is None or workload is None:
                rated.append(Rated(one, bounds))
            else:
                times = _seconds(one, speed, workload), _bound(bounds, speed, workload)
                rated.append(Rated(one, bounds, *times))
    return sorted(rated, key=lambda one: one.rank)


def require_timed(workload: Workload) -> None:
    """Raise unless the time of a workload follows from what is known of a topology.

    Raises
    ------
    ScheduleError
        It holds an all-to-all, whose routes must be computed.
    """
    if workload.exchanges:
        raise ScheduleError(
            "/collective",
            "must not be all-to-all, nor run with one: its time takes routes, which a design finds",
        )


def _simplest(one: Known) -> tuple[Cost, Cost, int, int, int, str]:
    text = one.recipe or one.name
    return one.cost, one.transpose, one.within or 0, one.recipe is None, len(text), text


def _seconds(one: Known, speed: Speed, workload: Workload) -> Fraction:
    """Return the time of a workload by the algorithm that has these costs."""
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
    """Return the time that no topology can beat in as many passes as usual."""
    times = (
        task.count * bound_seconds(bounds.steps, bounds.bandwidth, speed.operation(task))
        for task in workload.tasks
    )
    return sum(times, Fraction(0))
