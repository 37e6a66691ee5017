"""Rates of forests by the height of their trees, with times for a size of data."""

from typing import TYPE_CHECKING

from app.schedule_requests import ExportRequest, ScheduleRequest
from app.services.context import Context
from app.services.speeds import on_of
from app.services.topologies import StoredTopology, asked_options
from schedules.model import Collective

if TYPE_CHECKING:
    from schedules.heights import Point

__all__ = ["curve"]


def curve(
    context: Context, loaded: StoredTopology, request: ScheduleRequest, on: ExportRequest
) -> "list[Point]":
    """Return the points of `schedules.heights.curve`, checked by the independent checker.

    Raises
    ------
    TooLarge
        The topology has more nodes than forests are made for.
    """
    from schedules.heights import curve as found

    limit = context.settings.max_forest_nodes
    context.require_at_most("/topology", loaded.node_count, limit, "nodes")
    options = asked_options(request, loaded)
    collective = Collective.of(request.collective)
    return found(loaded.topology, collective, options, on_of(on, loaded.topology))
