"""Frontiers: what can be had for some hosts."""

from app.design_requests import FrontierRequest
from app.services import searches
from app.services.context import Context
from app.store import Artefact

__all__ = ["frontier"]


def frontier(context: Context, request: FrontierRequest) -> Artefact:
    """Return the stored frontier/1 document: the Pareto frontier for these hosts."""
    from app.services.cached_sources import CachedSources

    sources = CachedSources(context)
    routes = sources.routes if request.all_to_all else None
    return searches.answer(context, request, sources.keep, routes).artefact
