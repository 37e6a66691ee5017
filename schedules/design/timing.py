"""Times of a workload: at a point of the frontier, as a lower bound, and by today's algorithms."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING

from topoloom.schedules.baselines import (
    PASSES,
    Baseline,
    Operation,
    assumed_baselines,
    baselines,
    bound_seconds,
)
from topoloom.schedules.compare.crossover import Candidate, Line
from topoloom.schedules.compare.topology_algorithms import (
    ORDER,
    TopologyCosts,
    floor_seconds,
    topology_candidates,
)
from topoloom.schedules.design.answer import Choice, DesignPoint, total
from topoloom.schedules.design.forest_pruning import (
    EVERY_SIZE_NODES,
    FOREST_NODES,
    LEAST_GAIN,
    TreeBounds,
    forest_line,
    may_win,
    packable,
    packed_trees,
)
from topoloom.schedules.design.point_algorithms import point_costs
from topoloom.schedules.design.request import Speed
from topoloom.schedules.design.sources import Sources
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.simulate import Lockstep
from topoloom.schedules.workloads.tasks import Task, Workload
from topoloom.synth.evaluation.cost import Cost, all_to_all_bound, optimal_bandwidth
from topoloom.synth.search.frontier import Point as Measured
from topoloom.synth.search.hosts import Hosts

if TYPE_CHECKING:
    from topoloom.schedules.routes.routing_choices import AllToAllChoices

LARGEST_BYTES = 1 << 30
"""Trees are cut optimally up to this size, or up to the largest task."""


@dataclass(frozen=True)
class Timing:
    """Times of a workload on hosts with given bounds.

    ``all_to_all`` adds all-to-all on every point, whatever the workload.

    >>> from topoloom.schedules.workloads.tasks import Task
    >>> work = Workload((Task(Collective.ALLGATHER, 10**6),))
    >>> speed = Speed(Fraction(10**10), Fraction(1, 10**5))
    >>> timing = Timing(Hosts(4, 1), speed, work, Cost(3, Fraction(3, 4)))
    >>> float(timing.bound_seconds), [one.name for one in timing.baselines]
    (0.000105, ['shifted-ring', 'permutation-rings'])
    """

    hosts: Hosts
    speed: Speed
    workload: Workload
    bounds: Cost
    all_to_all: bool = False

    @cached_property
    def floors(self) -> tuple[Fraction, ...]:
        """Lower bounds on the time of each task once, for any algorithm on any topology."""
        hosts = self.hosts
        routes = all_to_all_bound(hosts.nodes, hosts.degree, hosts.links)
        operations = map(self.speed.operation, self.workload.tasks)
        return tuple(floor_seconds(self.bounds, routes, one) for one in operations)

    @property
    def bound_seconds(self) -> Fraction:
        """Lower bound on the time in the usual number of passes: two for an allreduce."""
        times = []
        for task, floor in zip(self.workload.tasks, self.floors, strict=True):
            passes = task.collective in PASSES
            operation = self.speed.operation(task)
            least = bound_seconds(self.bounds.steps, self.bounds.bandwidth, operation)
            times.append((task, least if passes else floor))
        return total(times)

    @property
    def baselines(self) -> tuple[Baseline, ...]:
        """Times of the whole workload on the same hosts by today's algorithms.

        A baseline that serves some tasks only uses the shifted ring for the others.
        """
        served = self._served(partial(baselines, links=self.hosts.links))
        names = dict.fromkeys(name for found in served for name in found)
        return tuple(
            self._summed([found.get(name) or found["shifted-ring"] for found in served], name)
            for name in names
        )

    @property
    def assumed(self) -> tuple[Baseline, ...]:
        """Times of the whole workload with hardware beyond cables, where that serves every task."""
        served = self._served(assumed_baselines)
        names = [name for name in served[0] if all(name in found for found in served)]
        return tuple(self._summed([found[name] for found in served], name) for name in names)

    def _served(
        self, baselines: Callable[[int, int, Operation], tuple[Baseline, ...]]
    ) -> list[dict[str, Baseline]]:
        """Return the baselines that serve each task once."""
        hosts = self.hosts
        operations = map(self.speed.operation, self.workload.tasks)
        return [
            {one.name: one for one in baselines(hosts.nodes, hosts.degree, operation)}
            for operation in operations
        ]

    def _summed(self, used: list[Baseline], name: str) -> Baseline:
        pairs = list(zip(self.workload.tasks, used, strict=True))
        seconds = total((task, one.seconds) for task, one in pairs)
        steps = sum(one.steps * task.count for task, one in pairs)
        chunks = max(one.chunks for one in used)
        return Baseline(name, seconds, steps, chunks, used[0].assumption)

    def point(self, measured: Measured, sources: Sources) -> DesignPoint:
        """Return a point of the frontier with the fastest algorithm for every task.

        With few hosts, trees are included where they may win; otherwise the point has a lower
        bound on their time.
        """
        asked = self.all_to_all or self.workload.exchanges
        exchange = sources.routes(measured.recipe) if asked else None
        offer = point_costs(measured, exchange, self.hosts, self.speed, self.workload, sources)
        plain = self._timed(measured, exchange, offer)
        reach = self._reach(measured, sources)
        if reach is None:
            return plain
        if self.hosts.nodes <= EVERY_SIZE_NODES:
            reach = TreeBounds(reach.hops, *sources.tree_bandwidths(measured.recipe))
            trees = self._packed(plain, sources) if self._may_win(plain, reach) else None
            if trees is not None:
                return self._timed(measured, exchange, replace(offer, trees=trees))
        return replace(plain, trees_at_least=self._trees_at_least(plain, reach))

    def with_trees(
        self, points: Sequence[DesignPoint], fastest: Fraction, sources: Sources
    ) -> tuple[DesignPoint, ...]:
        """Return the points, with trees where these may be clearly faster than the fastest.

        With few hosts, the points already include trees.
        """
        if self.hosts.nodes <= EVERY_SIZE_NODES:
            return tuple(points)
        found = []
        for point in points:
            weighed = self._weighed(point, (1 - LEAST_GAIN) * fastest, sources)
            fastest = min(fastest, weighed.seconds)
            found.append(weighed)
        return tuple(found)

    def _weighed(self, point: DesignPoint, enough: Fraction, sources: Sources) -> DesignPoint:
        """Return a point with trees if their lower bound is at most ``enough``."""
        measured = point.measured
        if point.trees_at_least is None or point.trees_at_least > enough:
            return point
        hops = self._hops(measured, sources)
        reach = TreeBounds(hops, *sources.tree_bandwidths(measured.recipe))
        least = self._trees_at_least(point, reach)
        trees = None
        if least <= enough and packable(measured.recipe, self.hosts.nodes, self.hosts.degree):
            trees = self._packed(point, sources)
        if trees is None:
            return replace(point, trees_at_least=least)
        offer = point_costs(
            measured, point.exchange, self.hosts, self.speed, self.workload, sources
        )
        return self._timed(measured, point.exchange, replace(offer, trees=trees))

    def _timed(
        self, measured: Measured, exchange: "AllToAllChoices | None", offer: TopologyCosts
    ) -> DesignPoint:
        largest = max(LARGEST_BYTES, self.workload.largest_bytes)
        ways = {
            collective: topology_candidates(
                offer, self.speed.operation(Task(collective, 1)), largest
            )
            for collective in self.workload.collectives
        }
        tasks = self.workload.tasks
        choices = tuple(
            self._fastest(task, ways[task.collective], floor)
            for task, floor in zip(tasks, self.floors, strict=True)
        )
        usual = total(
            (task, usual_candidate(measured, ways[task.collective]).seconds(task.size_bytes))
            for task in tasks
        )
        return DesignPoint(measured, exchange, usual, choices, tuple(ways.values()))

    def _hops(self, measured: Measured, sources: Sources) -> int:
        if measured.within is None:
            return measured.cost.steps
        return sources.hops(measured.recipe)

    def _reach(self, measured: Measured, sources: Sources) -> TreeBounds | None:
        """Return lower bounds of trees on any topology of this diameter; None if trees cannot win.

        No pipeline is faster where both passes reach the optimal bandwidth.
        """
        nodes = self.hosts.nodes
        least = optimal_bandwidth(nodes)
        worst = max(measured.cost.bandwidth, measured.transpose.bandwidth)
        passes = any(collective in PASSES for collective in self.workload.collectives)
        if not passes or worst == least or nodes > FOREST_NODES:
            return None
        return TreeBounds(self._hops(measured, sources), least, least)

    def _line(self, collective: Collective, reach: TreeBounds) -> Line:
        work = self.speed.operation(Task(collective, 1))
        return forest_line(reach, self.hosts.nodes, self.hosts.degree, work)

    def _may_win(self, point: DesignPoint, reach: TreeBounds) -> bool:
        largest = max(LARGEST_BYTES, self.workload.largest_bytes)
        return any(
            may_win(self._line(collective, reach), ways, largest)
            for collective, ways in zip(self.workload.collectives, point.candidates, strict=True)
            if collective in PASSES
        )

    def _trees_at_least(self, point: DesignPoint, reach: TreeBounds) -> Fraction:
        """Return a lower bound on the workload's time with trees wherever they may help."""
        times = []
        for choice in point.choices:
            task, seconds = choice.task, choice.seconds
            if task.collective in PASSES:
                seconds = min(seconds, self._line(task.collective, reach).seconds(task.size_bytes))
            times.append((task, seconds))
        return total(times)

    def _packed(self, point: DesignPoint, sources: Sources) -> tuple[Lockstep | None, ...] | None:
        passes = {
            which for collective in self.workload.collectives for which in ORDER.get(collective, ())
        }
        return packed_trees(point.measured.recipe, passes, self.speed, sources)

    def _fastest(self, task: Task, ways: Sequence[Candidate], floor: Fraction) -> Choice:
        best = min(ways, key=lambda way: way.seconds(task.size_bytes))
        line = best.best(task.size_bytes)
        return Choice(
            task,
            best.name,
            line.chunks,
            line.rounds,
            line.seconds(task.size_bytes),
            floor,
            line.max_chunks,
        )


def usual_candidate(measured: Measured, ways: Sequence[Candidate]) -> Candidate:
    """Return the candidate in the steps of a point; for all-to-all, all its routings as one."""
    for way in ways:
        if way.name == measured.algorithm:
            return way
    return Candidate("routed", tuple(line for way in ways for line in way.lines))
