"""The inputs of a design: frontier, schedules and routes, cached or computed."""

import json
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from topoloom.app.documents.base import Stored
from topoloom.app.documents.schedule import Kept, option_key
from topoloom.app.requests.designs import DesignRequest
from topoloom.app.services import all_to_all, frontiers, schedules
from topoloom.app.services.context import Context
from topoloom.app.services.topologies import RecipeTopologies
from topoloom.schedules.compare.stepped_time_models import Loads
from topoloom.schedules.design import CurrentWiring, Design, Limits, ScheduleInUse, design
from topoloom.schedules.design.sources import loads_on, tree_bandwidths_on
from topoloom.schedules.model.schedule import Collective, Schedule, TreeSchedule
from topoloom.schedules.model.verified_schedule import ScheduleCosts
from topoloom.schedules.options import DEFAULT_OPTIONS, Options
from topoloom.synth.evaluation.measure import diameter
from topoloom.synth.recipes.recipe import Recipe
from topoloom.synth.search.frontier import Frontier, Point
from topoloom.synth.search.hosts import Hosts
from topoloom.synth.topology.topology import Topology

if TYPE_CHECKING:
    from topoloom.schedules.routes.routing_choices import AllToAllChoices

_Asked: TypeAlias = tuple[Recipe, Collective, str, str]

ROUTED_IN_DESIGNS = 256
"""Most hosts for which a design includes the routes of an all-to-all."""


def made(
    context: Context, request: DesignRequest, today: CurrentWiring | None
) -> "tuple[Design, CachedSources]":
    """Return the design for a request, and its stored inputs."""
    sources = CachedSources(context)
    settings = context.settings
    found = design(
        request.hosts,
        request.speed,
        request.merged_workload,
        sources,
        Limits(settings.max_scheduled_nodes, min(settings.max_routed_nodes, ROUTED_IN_DESIGNS)),
        all_to_all=bool(request.all_to_all),
        today=today,
    )
    return found, sources


class CachedSources:
    """The stored inputs of one design, with their ids.

    Implements `schedules.design.Sources`.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self.topologies = RecipeTopologies(context)
        self._stored: dict[Recipe, Stored] = {}
        # Several points may share a topology: it is read once.
        self._exchanges: dict[Recipe, AllToAllChoices] = {}
        self._forests: dict[tuple[Recipe, Collective], TreeSchedule] = {}
        self._schedules: dict[_Asked, tuple[str, ScheduleCosts]] = {}

    def frontier(self, hosts: Hosts) -> Frontier:
        """Return the frontier; store its topologies."""
        answer = frontiers.answer(self._context, hosts, self.topologies).value
        recipes = (point.recipe for point in answer.found.points)
        self._stored |= zip(recipes, answer.stored, strict=True)
        return answer.found

    def routes(self, recipe: Recipe) -> "AllToAllChoices":
        """Return the all-to-all choices on a topology."""
        if recipe not in self._exchanges:
            answer = all_to_all.exchange_on(self._context, self.topologies.load(recipe))
            self._exchanges[recipe] = answer.value.found
        return self._exchanges[recipe]

    def schedule(
        self,
        recipe: Recipe,
        collective: Collective,
        algorithm: str,
        options: Options = DEFAULT_OPTIONS,
    ) -> ScheduleCosts:
        """Return the costs of a verified schedule; store the schedule."""
        asked = recipe, collective, algorithm, _said(options)
        if asked not in self._schedules:
            self._made(recipe, collective, algorithm, options)
        return self._schedules[asked][1]

    def scheduled(
        self, recipe: Recipe, collective: Collective, algorithm: str, options: Options
    ) -> Schedule:
        """Return a verified schedule; store it."""
        return self._made(recipe, collective, algorithm, options).load()

    def loads(self, point: Point) -> tuple[Loads, Loads]:
        """Return the loads of links by step on a point, and on its transpose."""
        return loads_on(self.topologies.load(point.recipe).topology, point)

    def hops(self, recipe: Recipe) -> int:
        """Return the diameter: the most hops between two hosts."""
        return diameter(self.topologies.load(recipe).topology)

    def tree_bandwidths(self, recipe: Recipe) -> tuple[Fraction, Fraction]:
        """Return the least T_B of trees, on the topology and on its transpose."""
        return tree_bandwidths_on(self.topologies.load(recipe).topology)

    def forest(self, recipe: Recipe, collective: Collective) -> tuple[TreeSchedule, Topology]:
        """Return verified trees of highest throughput; store them."""
        if (recipe, collective) not in self._forests:
            forest = self._made(recipe, collective, "forestcoll").load()
            assert isinstance(forest, TreeSchedule)
            self._forests[recipe, collective] = forest
        return self._forests[recipe, collective], self.topologies.load(recipe).topology

    def stored(self, recipe: Recipe) -> Stored:
        """Return the stored form of a topology of the frontier."""
        return self._stored[recipe]

    def schedule_id(self, recipe: Recipe, used: ScheduleInUse) -> str:
        """Return the id of a schedule in use."""
        return self._schedules[recipe, used.collective, used.algorithm, _said(used.options)][0]

    def _made(
        self,
        recipe: Recipe,
        collective: Collective,
        algorithm: str,
        options: Options = DEFAULT_OPTIONS,
    ) -> Kept:
        loaded = self.topologies.load(recipe)
        answer = schedules.made(self._context, loaded, collective, algorithm, options)
        said = _said(options)
        self._schedules[recipe, collective, algorithm, said] = answer.id, answer.value.facts
        return answer.value


def _said(options: Options) -> str:
    """Return the options of an algorithm as a unique text."""
    return json.dumps(option_key(options), sort_keys=True)
