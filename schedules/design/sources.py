"""Where a design gets what must be searched or generated: a cache, or the generators."""

from typing import TYPE_CHECKING, Protocol

from schedules.design.question import Hosts
from schedules.model import Collective, TreeSchedule
from schedules.options import Options
from schedules.verified import Facts, verified
from synth.build import build
from synth.recipe import Recipe
from synth.search import Frontier
from synth.search import frontier as search
from synth.topology import Topology

if TYPE_CHECKING:
    from schedules.alltoall.exchange import Exchange

__all__ = ["Generators", "Sources", "searched"]


class Sources(Protocol):
    """What a design asks for while it is made."""

    def frontier(self, hosts: Hosts) -> Frontier:
        """Return the Pareto frontier, every point measured."""
        ...

    def routes(self, recipe: Recipe) -> "Exchange":
        """Return what an all-to-all takes on a topology."""
        ...

    def schedule(
        self, recipe: Recipe, collective: Collective, algorithm: str, steps: int | None = None
    ) -> Facts:
        """Return what a verified schedule costs, counted from its sends alone.

        Labels are those within so many ``steps``.

        Raises
        ------
        TooLarge
            The topology is beyond what schedules are generated for.
        """
        ...

    def forest(self, recipe: Recipe, collective: Collective) -> tuple[TreeSchedule, Topology]:
        """Return verified trees of highest throughput, and what they run on."""
        ...


class Generators:
    """The sources that compute everything anew and keep nothing.

    >>> Generators().schedule(search(4, 1).points[0].recipe, Collective.ALLGATHER, "bfb").steps
    3
    """

    def frontier(self, hosts: Hosts) -> Frontier:
        """Return the Pareto frontier, every point measured."""
        return searched(hosts)

    def routes(self, recipe: Recipe) -> "Exchange":
        """Return what an all-to-all takes on a topology."""
        from schedules.alltoall.exchange import exchange

        return exchange(build(recipe))

    def schedule(
        self, recipe: Recipe, collective: Collective, algorithm: str, steps: int | None = None
    ) -> Facts:
        """Return what a verified schedule costs."""
        return verified(build(recipe), collective, algorithm, Options(steps=steps)).facts

    def forest(self, recipe: Recipe, collective: Collective) -> tuple[TreeSchedule, Topology]:
        """Return verified trees of highest throughput, and what they run on."""
        topology = build(recipe)
        forest = verified(topology, collective, "forestcoll", Options()).schedule
        assert isinstance(forest, TreeSchedule)
        return forest, topology


def searched(hosts: Hosts) -> Frontier:
    """Return the Pareto frontier for some hosts; see `synth.search.frontier`.

    >>> [str(point.recipe) for point in searched(Hosts(12, 4)).points]
    ['Circulant(12, 2, 3)']
    """
    return search(
        hosts.nodes,
        hosts.degree,
        hosts.links,
        parallel_links=hosts.parallel_links,
        vertex_transitive=hosts.vertex_transitive,
        families=hosts.families,
        max_steps=hosts.max_steps,
        schedule=hosts.schedule,
    )
