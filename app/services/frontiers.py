"""Frontiers: what can be had for some hosts."""

from functools import partial

from app.artefacts import Artefact
from app.design_requests import FrontierRequest
from app.services import searches, topologies
from app.services.context import Context

__all__ = ["frontier"]


def frontier(context: Context, request: FrontierRequest) -> Artefact:
    """Return the stored frontier/1 document: the Pareto frontier for these hosts."""
    if not request.all_to_all:
        return searches.answer(context, request, partial(topologies.kept, context)).artefact
    # All that makes schedules takes longer to import than most frontiers to find.
    from app.services.cached_sources import CachedSources

    sources = CachedSources(context)
    return searches.answer(context, request, sources.keep, sources.routes).artefact
