"""Rates of forests by tree height, with times for a data size."""

from typing import TYPE_CHECKING

from topoloom.app.requests.schedules import ExportRequest, ScheduleRequest
from topoloom.app.services.context import Context
from topoloom.app.services.schedule_speed import on_of
from topoloom.app.services.topologies import StoredTopology, asked_options, note_speeds
from topoloom.schedules.model.schedule import Collective

if TYPE_CHECKING:
    from topoloom.schedules.compare.height_tradeoff import HeightPoint


def curve(
    context: Context, loaded: StoredTopology, request: ScheduleRequest, on: ExportRequest
) -> "list[HeightPoint]":
    """Return the verified points of `schedules.compare.height_tradeoff.height_tradeoff`.

    Raises:
        TooLarge: The topology has more nodes than the limit of forests.
    """
    from topoloom.schedules.compare.height_tradeoff import height_tradeoff as found

    limit = context.settings.max_forest_nodes
    context.require_at_most("/topology", loaded.node_count, limit, "nodes")
    options = asked_options(request, loaded)
    collective = Collective.of(request.collective)
    note_speeds(context, loaded.topology, on.alpha_us, on.node_gbps, timed=on.bytes is not None)
    return found(loaded.topology, collective, options, on_of(on, loaded.topology))
