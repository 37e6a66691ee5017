"""Patch plans: which port to plug where, from the wiring of today."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from app.artefacts import Asked
from app.documents.patch_plan import PATCH_PLAN, PlanAnswer, text_of
from app.documents.subject import Subject
from app.schemas import PatchPlanRequest
from app.services import topologies
from app.services.context import Context
from app.store import Artefact
from schedules.errors import NotExportable
from synth.errors import DoesNotFit, SynthError

if TYPE_CHECKING:
    from synth.topology import Topology
    from synth.wiring import Plant, Present

__all__ = ["FORMATS", "create", "export", "require_available"]

FORMATS = {"json": "application/json", "csv": "text/csv"}
"""The formats a patch plan comes in, and their media types."""


def create(context: Context, request: PatchPlanRequest) -> Artefact:
    """Return the stored patch-plan/1 document that answers a request."""
    loaded = topologies.load(context, request.topology, field="/topology")
    topology = loaded.topology
    plant = _plant(request, topology)
    plant = plant.with_present(_present(request.present, plant))
    asked = {"topology_id": loaded.id, **_asked(plant, request)}

    def compute() -> PlanAnswer:
        from synth.wiring import plan_moves

        try:
            plan = plan_moves(topology, plant, spares=request.spares)
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


def _plant(request: PatchPlanRequest, topology: "Topology") -> "Plant":
    """Return the plant of a request: as given, or of a regular layout."""
    from synth.wiring import uniform
    from synth.wiring.plant import read_plant_values

    if request.plant is not None:
        with _within("/plant"):
            return read_plant_values(request.plant)
    return uniform(
        request.panels,
        topology.node_count if request.hosts is None else request.hosts,
        max(1, topology.degree) if request.lanes is None else request.lanes,
    )


def _asked(plant: "Plant", request: PatchPlanRequest) -> Asked:
    """Return what the answer depends on, topology aside."""
    from synth.wiring.plant import plant_document

    made = plant.uniform
    if made is None:
        asked: Asked = {"plant": plant_document(plant)}
        return asked | {"spares": True} if request.spares else asked
    return {
        "panels": made.layout.value,
        "hosts": made.hosts,
        "lanes": made.lanes,
        "present": [list(pair) for pair in plant.present.pairs],
    }


def _present(document: Any, plant: "Plant") -> "Present":
    """Return the wiring of today, as a request has it."""
    from synth.wiring.present import read_present

    if document is None:
        return plant.present
    with _within("/present"):
        return read_present(document, plant)


@contextmanager
def _within(place: str) -> Iterator[None]:
    """Say of what is wrong in a part of a request where that part is."""
    try:
        yield
    except SynthError as error:
        raise type(error)(place + error.field, error.rule) from None
