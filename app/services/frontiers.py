"""Frontiers: searched once, with all their topologies stored."""

from typing import TYPE_CHECKING

from topoloom.app.documents.base import Stored
from topoloom.app.documents.frontier import FRONTIER, FrontierAnswer, frontier_key
from topoloom.app.requests.designs import FrontierRequest
from topoloom.app.services.context import Context
from topoloom.app.services.topologies import RecipeTopologies
from topoloom.app.store.artifacts import Answer, Artefact

if TYPE_CHECKING:
    from topoloom.synth.search.hosts import Hosts


def frontier(context: Context, request: FrontierRequest) -> Artefact:
    """Return the stored frontier/1 document: the Pareto frontier for these hosts."""
    topologies, all_to_all = RecipeTopologies(context), bool(request.all_to_all)
    return answer(context, request.hosts, topologies, all_to_all=all_to_all).artefact


def answer(
    context: Context, hosts: "Hosts", topologies: RecipeTopologies, *, all_to_all: bool = False
) -> Answer[FrontierAnswer]:
    """Return the stored frontier and its value.

    ``topologies`` stores the topologies of the frontier.  With ``all_to_all`` the frontier also
    has the cost of all-to-all on each topology.
    """
    settings = context.settings
    context.require_at_most("/nodes", hosts.nodes, settings.max_nodes, "nodes")
    links = hosts.nodes * hosts.degree
    context.require_at_most("/degree", links, settings.max_links, "links in all")
    asked = frontier_key(hosts, all_to_all=all_to_all)

    def compute() -> FrontierAnswer:
        from topoloom.synth.kernels.numba_cache import load_alone
        from topoloom.synth.search.hosts import frontier_of_hosts

        load_alone()
        found = frontier_of_hosts(hosts)
        recipes = [point.recipe for point in found.points]
        # Several points may share a topology.
        loaded = {recipe: topologies.load(recipe) for recipe in dict.fromkeys(recipes)}
        stored = tuple(Stored(loaded[one].id, loaded[one].topology.name) for one in recipes)
        exchanges = ()
        if all_to_all:
            # This import loads all schedule generators, which most frontiers do not need.
            from topoloom.app.services.all_to_all import exchange_on

            taken = {recipe: exchange_on(context, loaded[recipe]).value.found for recipe in loaded}
            exchanges = tuple(taken[recipe] for recipe in recipes)
        return FrontierAnswer(asked, found, stored, exchanges)

    return context.answer(FRONTIER, asked, compute)
