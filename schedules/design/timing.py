"""How long a workload takes: at a point of the frontier, at the least, and today."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING

from schedules.baselines import PASSES, Baseline, Operation, assumed, baselines, bound_seconds
from schedules.codesign import ONE_SHOT, Offer, Routing, candidates, floor_seconds
from schedules.design.answer import Choice, Point, total
from schedules.design.question import Hosts, Speed
from schedules.design.sources import Sources
from schedules.model import Collective
from schedules.simulate import Lockstep, Network, lockstep
from schedules.switch_over import Candidate
from schedules.verify.costs import node_capacity
from schedules.workloads.tasks import Task, Workload
from synth.cost import Cost, all_to_all_bound, optimal_bandwidth
from synth.recipe import Recipe
from synth.search import Point as Measured

if TYPE_CHECKING:
    from schedules.alltoall.exchange import Exchange

__all__ = ["FOREST_NODES", "Timing"]

FOREST_NODES = 128
"""Up to so many hosts ForestColl's trees are looked at; they are packed for that."""

LARGEST_BYTES = 1 << 30
"""Trees are cut as finely as pays for so many bytes, or for the largest task."""


@dataclass(frozen=True)
class Timing:
    """How long a workload takes on some hosts, whose bounds are given.

    ``all_to_all`` has all-to-all looked at on every point, whatever is run.

    >>> from schedules.workloads.tasks import Task
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
        """The time of each task once that nothing on any topology can beat."""
        hosts = self.hosts
        routes = all_to_all_bound(hosts.nodes, hosts.degree, hosts.links)
        operations = map(self.speed.operation, self.workload.tasks)
        return tuple(floor_seconds(self.bounds, routes, one) for one in operations)

    @property
    def bound_seconds(self) -> Fraction:
        """The least time in as many passes as usual: two for an allreduce."""
        times = []
        for task, floor in zip(self.workload.tasks, self.floors, strict=True):
            passes = task.collective in PASSES
            operation = self.speed.operation(task)
            least = bound_seconds(self.bounds.steps, self.bounds.bandwidth, operation)
            times.append((task, least if passes else floor))
        return total(times)

    @property
    def baselines(self) -> tuple[Baseline, ...]:
        """What the same hosts take today for the whole workload.

        A baseline that serves some tasks only leaves the others to the shifted ring.
        """
        served = self._served(partial(baselines, links=self.hosts.links))
        names = dict.fromkeys(name for found in served for name in found)
        return tuple(
            self._summed([found.get(name) or found["shifted-ring"] for found in served], name)
            for name in names
        )

    @property
    def assumed(self) -> tuple[Baseline, ...]:
        """What the whole workload takes with more than cables, where that serves every task."""
        served = self._served(assumed)
        names = [name for name in served[0] if all(name in found for found in served)]
        return tuple(self._summed([found[name] for found in served], name) for name in names)

    def _served(
        self, opponents: Callable[[int, int, Operation], tuple[Baseline, ...]]
    ) -> list[dict[str, Baseline]]:
        """Return, by task, what serves it once."""
        hosts = self.hosts
        operations = map(self.speed.operation, self.workload.tasks)
        return [
            {one.name: one for one in opponents(hosts.nodes, hosts.degree, operation)}
            for operation in operations
        ]

    def _summed(self, used: list[Baseline], name: str) -> Baseline:
        pairs = list(zip(self.workload.tasks, used, strict=True))
        seconds = total((task, one.seconds) for task, one in pairs)
        steps = sum(one.steps * task.count for task, one in pairs)
        chunks = max(one.chunks for one in used)
        return Baseline(name, seconds, steps, chunks, used[0].assumption)

    def point(self, measured: Measured, sources: Sources) -> Point:
        """Return a point of the frontier with the fastest way to run every task."""
        asked = self.all_to_all or self.workload.exchanges
        exchange = sources.routes(measured.recipe) if asked else None
        offer = self._offer(measured, exchange, sources)
        largest = max(LARGEST_BYTES, self.workload.largest_bytes)
        ways = {
            collective: candidates(offer, self.speed.operation(Task(collective, 1)), largest)
            for collective in self.workload.collectives
        }
        tasks = self.workload.tasks
        choices = tuple(
            self._fastest(task, ways[task.collective], floor)
            for task, floor in zip(tasks, self.floors, strict=True)
        )
        usual = total((task, _usual(task, ways[task.collective])) for task in tasks)
        return Point(measured, exchange, usual, choices, tuple(ways.values()))

    def _offer(self, measured: Measured, exchange: "Exchange | None", sources: Sources) -> Offer:
        nodes, gather, scatter = self.hosts.nodes, measured.cost, measured.transpose
        worst = max(gather.bandwidth, scatter.bandwidth)
        passes = any(collective in PASSES for collective in self.workload.collectives)
        trees = None
        # Where both reach the optimal bandwidth no pipeline can beat them.
        if passes and worst > optimal_bandwidth(nodes) and nodes <= FOREST_NODES:
            trees = (
                self._pipeline(measured.recipe, Collective.ALLGATHER, sources),
                self._pipeline(measured.recipe, Collective.REDUCE_SCATTER, sources),
            )
        routings = _routings(exchange) if exchange else ()
        return Offer(nodes, gather, scatter, trees, routings, measured.algorithm)

    def _pipeline(self, recipe: Recipe, collective: Collective, sources: Sources) -> Lockstep:
        """Return ForestColl's trees for one byte in lock step."""
        forest, topology = sources.forest(recipe, collective)
        rate = self.speed.bytes_per_second / node_capacity(topology)
        return lockstep(forest, topology, Network(self.speed.alpha_seconds, rate), size_bytes=1)

    def _fastest(self, task: Task, ways: Sequence[Candidate], floor: Fraction) -> Choice:
        best = min(ways, key=lambda way: way.seconds(task.size_bytes))
        line = best.best(task.size_bytes)
        rounds = int(line.fixed_seconds / self.speed.alpha_seconds)
        return Choice(task, best.name, line.chunks, rounds, line.seconds(task.size_bytes), floor)


def _usual(task: Task, ways: Sequence[Candidate]) -> Fraction:
    """Return the time of a task in steps, or, of all-to-all, by the fastest routing."""
    usual = [way for way in ways if way.name in ONE_SHOT] or ways
    return min(way.seconds(task.size_bytes) for way in usual)


def _routings(exchange: "Exchange") -> tuple[Routing, ...]:
    return tuple(
        Routing(
            "shortest-paths" if way.method == "shortest-paths" and index == 0 else "mcf",
            Cost(way.hops, exchange.bandwidth(way)),
        )
        for index, way in enumerate(exchange.ways)
    )
