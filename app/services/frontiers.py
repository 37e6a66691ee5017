"""Frontiers: what can be had for some hosts."""

from functools import partial

from topoloom.app.requests.designs import FrontierRequest
from topoloom.app.services import frontier_search, topologies
from topoloom.app.services.context import Context
from topoloom.app.store.artifacts import Artefact

__all__ = ["frontier"]


def frontier(context: Context, request: FrontierRequest) -> Artefact:
    """Return the stored frontier/1 document: the Pareto frontier for these hosts."""
    if not request.all_to_all:
        return frontier_search.answer(context, request, partial(topologies.kept, context)).artefact
    # All that makes schedules takes longer to import than most frontiers to find.
    from topoloom.app.services.design_inputs import CachedSources

    sources = CachedSources(context)
    return frontier_search.answer(context, request, sources.keep, sources.routes).artefact
