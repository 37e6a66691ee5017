"""Designs: the best topology for a workload, and its schedules."""

from fractions import Fraction
from typing import TYPE_CHECKING

from topoloom.app.documents.design import DESIGN, DesignAnswer
from topoloom.app.requests.designs import DesignRequest
from topoloom.app.requests.options.patch_plans import PANELS
from topoloom.app.services.context import Context
from topoloom.app.services.plants import plant_of
from topoloom.app.store.artifacts import Artefact

if TYPE_CHECKING:
    from topoloom.schedules.design import CurrentWiring


def create(context: Context, request: DesignRequest) -> Artefact:
    """Return the stored design/1 document that answers a request.

    `schedules.design.design` selects the best topology.
    """
    today = today_of(request, context)
    if today is not None:
        context.note(*(one.text for one in today.plant.assumed))

    def compute() -> DesignAnswer:
        from topoloom.app.services.design_inputs import made

        found, sources = made(context, request, today)
        return DesignAnswer(request, found, sources.stored, sources.schedule_id)

    return context.answer(DESIGN, request.canonical(), compute).artefact


def today_of(request: DesignRequest, context: Context) -> "CurrentWiring | None":
    """Return the current wiring, or None if the request does not consider it."""
    if not request.rewired:
        return None
    from topoloom.schedules.design import CurrentWiring

    plant = plant_of(
        request.plant,
        request.panels or PANELS.default,
        request.nodes,
        request.degree,
        request.current_wiring,
        context.note,
    )
    seconds = request.max_rewiring_seconds
    return CurrentWiring(
        plant,
        request.host_assignment == "free",
        bool(request.use_spare_ports),
        request.max_moves,
        None if seconds is None else Fraction(seconds),
        request.max_drained,
        request.objective or "moves",
    )
