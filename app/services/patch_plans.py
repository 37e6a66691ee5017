"""Patch plans: which port to plug where, from the wiring of today."""

from typing import TYPE_CHECKING, Any

from app.documents.patch_plan import PATCH_PLAN, PlanAnswer, text_of
from app.documents.subject import Subject
from app.schemas import PatchPlanRequest
from app.services import topologies
from app.services.context import Context
from app.store import Artefact
from schedules.errors import NotExportable
from synth.errors import DoesNotFit, SynthError

if TYPE_CHECKING:
    from synth.wiring.panels import Panels
    from synth.wiring.present import Present

__all__ = ["FORMATS", "create", "export", "require_available"]

FORMATS = {"json": "application/json", "csv": "text/csv"}
"""The formats a patch plan comes in, and their media types."""


def create(context: Context, request: PatchPlanRequest) -> Artefact:
    """Return the stored patch-plan/1 document that answers a request."""
    from synth.wiring import Layout, Panels

    loaded = topologies.load(context, request.topology, field="/topology")
    topology = loaded.topology
    panels = Panels(
        Layout(request.panels),
        topology.node_count if request.hosts is None else request.hosts,
        max(1, topology.degree) if request.lanes is None else request.lanes,
    )
    present = _present(request.present, panels)
    asked = {
        "topology_id": loaded.id,
        "panels": request.panels,
        "hosts": panels.hosts,
        "lanes": panels.lanes,
        "present": [list(pair) for pair in present.pairs],
    }

    def compute() -> PlanAnswer:
        from synth.wiring import plan_moves

        try:
            plan = plan_moves(topology, panels, present)
        except DoesNotFit as error:
            raise DoesNotFit("/topology", error.rule) from None
        return PlanAnswer(Subject.of(loaded.id, topology), plan)

    return context.keep(PATCH_PLAN, asked, compute)


def export(artefact: Artefact, form: str) -> str:
    """Return a stored patch plan in one of `FORMATS`."""
    require_available(form)
    return text_of(artefact, form)


def require_available(form: str) -> None:
    """Raise `NotExportable` unless patch plans come in this format."""
    if form not in FORMATS:
        raise NotExportable("/format", f"must be one of {', '.join(FORMATS)}; not {form!r}")


def _present(document: Any, panels: "Panels") -> "Present":
    """Return the wiring of today, as a request has it."""
    from synth.wiring.present import Present, read_present

    if document is None:
        return Present()
    try:
        return read_present(document, panels)
    except SynthError as error:
        raise type(error)("/present" + error.field, error.rule) from None
