"""The main job: the best topology for a workload, with all that stands behind it."""

from app.documents.design import DESIGN, DesignAnswer
from app.documents.questions import hosts_of, speed_of, workload_of
from app.schemas import DesignRequest
from app.services.context import Context
from app.store import Artefact

__all__ = ["create"]


def create(context: Context, request: DesignRequest) -> Artefact:
    """Return the stored design/1 document that answers a request.

    What is best, and why, is decided by `schedules.design.design`.
    """

    def compute() -> DesignAnswer:
        from app.services.cached_sources import CachedSources
        from schedules.design import Limits, design

        sources = CachedSources(context)
        settings = context.settings
        found = design(
            hosts_of(request),
            speed_of(request),
            workload_of(request),
            sources,
            Limits(settings.max_scheduled_nodes, settings.max_routed_nodes),
            all_to_all=bool(request.all_to_all),
        )
        return DesignAnswer(request, found, sources.stored, sources.schedule_id)

    return context.keep(DESIGN, request.canonical(), compute)
