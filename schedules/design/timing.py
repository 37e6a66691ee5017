"""How long a workload takes: at a point of the frontier, at the least, and today."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING

from schedules.baselines import PASSES, Baseline, Operation, assumed, baselines, bound_seconds
from schedules.codesign import Offer, Routing, candidates, floor_seconds
from schedules.design.answer import Choice, Point, total
from schedules.design.question import Hosts, Speed
from schedules.design.sources import Sources
from schedules.errors import TookTooLong, TooLarge
from schedules.facts import Facts
from schedules.model import Collective
from schedules.passes import Loads, Pass
from schedules.simulate import Lockstep, Network, lockstep
from schedules.switch_over import Candidate
from schedules.verify.costs import node_capacity
from schedules.workloads.tasks import Task, Workload
from synth.cost import Cost, all_to_all_bound, optimal_bandwidth
from synth.recipe import Bidirected, DegreeExpansion, LineGraph, Power, Product, Recipe
from synth.search import Point as Measured

if TYPE_CHECKING:
    from schedules.alltoall.exchange import Exchange

__all__ = ["FOREST_NODES", "LARGEST_BYTES", "LIFTED_NODES", "Timing", "usual_way"]

FOREST_NODES = 128
"""Up to so many hosts ForestColl's trees are looked at; they are packed for that."""

LIFTED_NODES = 1024
"""Up to so many hosts lifted schedules are looked at; they are made for that."""

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
        usual = total(
            (task, usual_way(measured, ways[task.collective]).seconds(task.size_bytes))
            for task in tasks
        )
        return Point(measured, exchange, usual, choices, tuple(ways.values()))

    def _offer(self, measured: Measured, exchange: "Exchange | None", sources: Sources) -> Offer:
        nodes, gather, scatter = self.hosts.nodes, measured.cost, measured.transpose
        worst = max(gather.bandwidth, scatter.bandwidth)
        passes = any(collective in PASSES for collective in self.workload.collectives)
        trees = None
        # Where both reach the optimal bandwidth no pipeline can beat them.
        if passes and worst > optimal_bandwidth(nodes) and nodes <= FOREST_NODES:
            trees = self._forests(measured.recipe, sources)
        return Offer(
            nodes,
            gather,
            scatter,
            trees,
            _routings(exchange) if exchange else (),
            measured.algorithm,
            sources.loads(measured) if passes and self.speed.chunk_seconds else None,
            self._lifted(measured, sources) if passes else None,
            self.hosts.degree,
        )

    def _lifted(self, measured: Measured, sources: Sources) -> tuple[Pass, Pass] | None:
        """Return both passes of a lifted schedule, where it could be better.

        Where no dimensions are taken one by one, it brings every shard as early as can be, and so
        is no better than breadth-first broadcast.
        """
        nodes, recipe = self.hosts.nodes, measured.recipe
        worst = max(measured.cost.bandwidth, measured.transpose.bandwidth)
        if nodes > LIFTED_NODES or worst == optimal_bandwidth(nodes) or not _by_dimensions(recipe):
            return None
        try:
            gather, scatter = (
                _pass(sources.schedule(recipe, collective, "lifted"), nodes, self.hosts.degree)
                for collective in (Collective.ALLGATHER, Collective.REDUCE_SCATTER)
            )
        except TooLarge:
            return None
        return gather, scatter

    def _forests(self, recipe: Recipe, sources: Sources) -> tuple[Lockstep, Lockstep] | None:
        """Return ForestColl's trees for one byte in lock step, both ways; None past its limits."""
        try:
            return (
                self._pipeline(recipe, Collective.ALLGATHER, sources),
                self._pipeline(recipe, Collective.REDUCE_SCATTER, sources),
            )
        except (TooLarge, TookTooLong):
            return None

    def _pipeline(self, recipe: Recipe, collective: Collective, sources: Sources) -> Lockstep:
        forest, topology = sources.forest(recipe, collective)
        speed = self.speed
        network = Network(
            speed.alpha_seconds,
            speed.bytes_per_second / node_capacity(topology),
            speed.overhead_seconds,
            chunk_seconds=speed.chunk_seconds,
        )
        return lockstep(forest, topology, network, size_bytes=1)

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


def usual_way(measured: Measured, ways: Sequence[Candidate]) -> Candidate:
    """Return the candidate in the steps of a point, or, of all-to-all, all its routings as one."""
    for way in ways:
        if way.name == measured.algorithm:
            return way
    return Candidate("routed", tuple(line for way in ways for line in way.lines))


def _pass(facts: Facts, nodes: int, degree: int) -> Pass:
    """Return a pass of a schedule that is cut as it is."""
    assert facts.steps is not None and facts.bandwidth is not None
    whole = facts.bandwidth * Fraction(nodes, degree)
    return Pass(Cost(facts.steps, facts.bandwidth), Loads((whole,), facts.chunks_per_shard or 1))


def _by_dimensions(recipe: Recipe) -> bool:
    match recipe:
        case Power() | Product():
            return True
        case LineGraph(_, of) | DegreeExpansion(_, of) | Bidirected(of):
            return _by_dimensions(of)
    return False


def _routings(exchange: "Exchange") -> tuple[Routing, ...]:
    return tuple(
        Routing(
            "shortest-paths" if way.method == "shortest-paths" and index == 0 else "mcf",
            Cost(way.hops, exchange.bandwidth(way)),
        )
        for index, way in enumerate(exchange.ways)
    )
