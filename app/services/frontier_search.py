"""Searching for a frontier: done once, and every topology of it stored."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from topoloom.app.documents.frontier import FRONTIER, FrontierAnswer
from topoloom.app.documents.kind import Answer
from topoloom.app.documents.subject import Stored
from topoloom.app.requests.designs import FrontierRequest
from topoloom.app.requests.hosts import hosts_of
from topoloom.app.services.context import Context
from topoloom.synth.recipes.recipe import Recipe

if TYPE_CHECKING:
    from topoloom.schedules.routes.routing_choices import Exchange

__all__ = ["answer"]


def answer(
    context: Context,
    request: FrontierRequest,
    keep: Callable[[Recipe], Stored],
    routes: "Callable[[Recipe], Exchange] | None" = None,
) -> Answer[FrontierAnswer]:
    """Return the stored frontier beside its value.

    ``keep`` stores a topology; ``routes`` says what all-to-all takes on it, if that is asked.
    """
    settings = context.settings
    context.require_at_most("/nodes", request.nodes, settings.max_nodes, "nodes")
    links = request.nodes * request.degree
    context.require_at_most("/degree", links, settings.max_links, "links in all")

    def compute() -> FrontierAnswer:
        from topoloom.synth.kernels.numba_cache import load_alone
        from topoloom.synth.search.hosts import searched

        load_alone()
        found = searched(hosts_of(request))
        recipes = [point.recipe for point in found.points]
        # Several points may be on one topology.
        kept = {recipe: keep(recipe) for recipe in dict.fromkeys(recipes)}
        stored = tuple(kept[recipe] for recipe in recipes)
        taken = {recipe: routes(recipe) for recipe in kept} if routes else {}
        exchanges = tuple(taken[recipe] for recipe in recipes) if routes else ()
        return FrontierAnswer(request, found, stored, exchanges)

    return context.answer(FRONTIER, request.canonical(), compute)
