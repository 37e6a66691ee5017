"""Sources of searched or generated data for a design: a cache, or the generators."""

from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from topoloom.schedules.compare.stepped_time_models import Loads
from topoloom.schedules.generate.make_and_verify import verified_schedule
from topoloom.schedules.model.schedule import Collective, TreeSchedule
from topoloom.schedules.model.verified_schedule import ScheduleCosts
from topoloom.schedules.options import DEFAULT_OPTIONS, Options
from topoloom.synth.evaluation.measure import diameter, step_loads
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import Recipe
from topoloom.synth.search.frontier import Frontier, Point
from topoloom.synth.search.hosts import Hosts, frontier_of_hosts
from topoloom.synth.topology.rates import node_capacity
from topoloom.synth.topology.topology import Topology

if TYPE_CHECKING:
    from topoloom.schedules.routes.routing_choices import AllToAllChoices


class Sources(Protocol):
    """Data that a design needs."""

    def frontier(self, hosts: Hosts) -> Frontier:
        """Return the Pareto frontier with every point measured."""
        ...

    def routes(self, recipe: Recipe) -> "AllToAllChoices":
        """Return the cost of an all-to-all on a topology."""
        ...

    def schedule(
        self,
        recipe: Recipe,
        collective: Collective,
        algorithm: str,
        options: Options = DEFAULT_OPTIONS,
    ) -> ScheduleCosts:
        """Return the costs of a verified schedule, derived from its sends alone.

        Slack schedules have at most ``options.steps`` steps; shards have at most
        ``options.max_chunks`` chunks.

        Raises:
            TooLarge: The topology exceeds the limits of schedule generation.
        """
        ...

    def forest(self, recipe: Recipe, collective: Collective) -> tuple[TreeSchedule, Topology]:
        """Return verified trees of highest throughput, and their topology.

        Raises:
            TooLarge, TookTooLong: The topology exceeds the limits of tree packing.
        """
        ...

    def loads(self, point: Point) -> tuple[Loads, Loads]:
        """Return the link loads by step on a point, and on its transpose."""
        ...

    def hops(self, recipe: Recipe) -> int:
        """Return the largest distance between two hosts, in hops."""
        ...

    def tree_bandwidths(self, recipe: Recipe) -> tuple[Fraction, Fraction]:
        """Return the least T_B of any trees, and of any trees on the transpose."""
        ...


class Generators:
    """Sources that compute everything on each call, without a cache.

    >>> ring = frontier_of_hosts(Hosts(4, 1)).points[0].recipe
    >>> Generators().schedule(ring, Collective.ALLGATHER, "bfb").steps
    3
    """

    def frontier(self, hosts: Hosts) -> Frontier:
        """Return the Pareto frontier with every point measured."""
        return frontier_of_hosts(hosts)

    def routes(self, recipe: Recipe) -> "AllToAllChoices":
        """Return the cost of an all-to-all on a topology."""
        from topoloom.schedules.routes.routing_choices import routing_choices

        return routing_choices(build(recipe))

    def schedule(
        self,
        recipe: Recipe,
        collective: Collective,
        algorithm: str,
        options: Options = DEFAULT_OPTIONS,
    ) -> ScheduleCosts:
        """Return the costs of a verified schedule."""
        return verified_schedule(build(recipe), collective, algorithm, options).facts

    def forest(self, recipe: Recipe, collective: Collective) -> tuple[TreeSchedule, Topology]:
        """Return verified trees of highest throughput, and their topology."""
        topology = build(recipe)
        forest = verified_schedule(topology, collective, "forestcoll", Options()).schedule
        assert isinstance(forest, TreeSchedule)
        return forest, topology

    def loads(self, point: Point) -> tuple[Loads, Loads]:
        """Return the link loads by step on a point, and on its transpose."""
        return loads_on(build(point.recipe), point)

    def hops(self, recipe: Recipe) -> int:
        """Return the largest distance between two hosts, in hops."""
        return diameter(build(recipe))

    def tree_bandwidths(self, recipe: Recipe) -> tuple[Fraction, Fraction]:
        """Return the least T_B of any trees, and of any trees on the transpose."""
        return tree_bandwidths_on(build(recipe))


def loads_on(topology: Topology, point: Point) -> tuple[Loads, Loads]:
    """Return the link loads by step on the topology of a point, and on its transpose.

    >>> point = frontier_of_hosts(Hosts(4, 1)).points[0]
    >>> [part.shards for part in loads_on(build(point.recipe), point)][0]
    (Fraction(1, 1), Fraction(1, 1), Fraction(1, 1))
    """
    turned = topology.transpose()
    if point.within is None:
        return Loads(step_loads(topology)), Loads(step_loads(turned))
    from topoloom.schedules.steps import slack

    return (
        Loads(*slack.loads(topology, point.within)),
        Loads(*slack.loads(turned, point.within)),
    )


def tree_bandwidths_on(topology: Topology) -> tuple[Fraction, Fraction]:
    """Return the least T_B of any trees on a topology of hosts, and on its transpose.

    This is the optimum of `schedules.trees.forestcoll`, computed without trees.

    >>> tree_bandwidths_on(build(frontier_of_hosts(Hosts(4, 1)).points[0].recipe))
    (Fraction(3, 4), Fraction(3, 4))
    """
    from topoloom.schedules.trees.forestcoll import optimum

    unit = Fraction(node_capacity(topology), topology.node_count)
    gather, scatter = (optimum(topology, inward=inward) for inward in (False, True))
    return unit * gather.inverse_rate, unit * scatter.inverse_rate
