"""Patch plans: the port connections to change, from the current wiring."""

from typing import TYPE_CHECKING

from topoloom.app.documents.base import Subject
from topoloom.app.documents.patch_plan import PATCH_PLAN, PlanAnswer, script_of, text_of
from topoloom.app.documents.topology import LAUNCH_MEDIA_TYPES
from topoloom.app.requests.patch_plans import PatchPlanRequest
from topoloom.app.requests.renamed import MEMBERS
from topoloom.app.services import topologies
from topoloom.app.services.context import Context
from topoloom.app.services.plants import plant_of
from topoloom.app.store.artifacts import Artefact, Asked
from topoloom.schedules.errors import NotExportable
from topoloom.synth.errors import DoesNotFit

if TYPE_CHECKING:
    from topoloom.synth.topology.topology import Topology
    from topoloom.synth.wiring import PatchPlan, Plant
    from topoloom.synth.wiring.plans.document_writer import Rate
    from topoloom.synth.wiring.plans.stages import Limits
from topoloom.synth.naming.suggestions import one_of

FORMATS = {
    "json": "application/json",
    "csv": "text/csv",
    "sonic-cli": "text/x-sonic-ocs",
    "sonic-patch": "application/vnd.topoloom.sonic-patch+json",
    "sonic-config": "application/vnd.topoloom.sonic-config+json",
    "polatis-netconf": "application/xml",
    "polatis-scpi": "text/x-polatis-scpi",
    "calient-tl1": "text/x-calient-tl1",
    "dicon": "text/x-dicon",
    "netbox-csv": "text/x-netbox-cables",
    "html": "text/html",
    "dot": "text/vnd.graphviz",
    "graphml": "application/graphml+xml",
    "deployment": "application/vnd.topoloom.deployment+json",
    **LAUNCH_MEDIA_TYPES,
}
"""Format of a patch plan -> its media type."""


def create(context: Context, request: PatchPlanRequest) -> Artefact:
    """Return the stored patch-plan/1 document that answers a request."""
    loaded = topologies.load(context, request.topology, field="/topology")
    topology = loaded.topology
    plant = _plant(request, topology, context)
    context.note(*(one.text for one in plant.assumed))
    asked = {"topology_id": loaded.id, **_asked(plant, request)}

    def compute() -> PlanAnswer:
        plan = _planned(request, topology, plant)
        limits = _limits(request)
        return PlanAnswer(
            Subject.of(loaded.id, topology), plan, limits, _rate(context, topology, limits)
        )

    return context.answer(PATCH_PLAN, asked, compute).artefact


def _limits(request: PatchPlanRequest) -> "Limits":
    from topoloom.synth.wiring.plans.stages import Limits

    return Limits(request.max_links_down, request.stay_connected, request.make_before_break)


def _planned(request: PatchPlanRequest, topology: "Topology", plant: "Plant") -> "PatchPlan":
    from topoloom.synth.wiring import Objective, plan_moves
    from topoloom.synth.wiring.placement.host_placement import plan_placed

    plan = plan_placed if request.host_assignment == "free" else plan_moves
    goal = Objective(request.objective)
    try:
        return plan(topology, plant, spares=request.use_spare_ports, objective=goal)
    except DoesNotFit as error:
        raise DoesNotFit("/topology", error.rule) from None


def _rate(context: Context, topology: "Topology", limits: "Limits") -> "Rate | None":
    """Return the function of the remaining throughput of a stage; None if it is too slow."""
    if not limits.any or topology.node_count > min(MOST_RATED, context.settings.max_optimum_nodes):
        return None
    if not topology.link_count:
        return None
    from topoloom.schedules.trees.rates.topology_rate import optimum
    from topoloom.synth.wiring.plans.stages import connected

    whole = optimum(topology).inverse_rate if connected(topology) else None
    return lambda left: None if whole is None else whole / optimum(left).inverse_rate


MOST_RATED = 64
"""Most hosts for which plans state the remaining throughput of every stage."""


def export(artefact: Artefact, form: str) -> str:
    """Return a stored patch plan in one of `FORMATS`.

    Raises:
        NotExportable: The format does not exist, or cannot express this plan.
    """
    require_available(form)
    if form in ("json", "csv"):
        return text_of(artefact, form)
    from topoloom.synth.wiring.devices import FORMATS as DEVICES

    try:
        return DEVICES[form].write(script_of(artefact))
    except DoesNotFit as error:
        raise NotExportable("/format", error.rule) from None


def require_available(form: str) -> None:
    """Raise `NotExportable` unless patch plans have this format."""
    if form not in FORMATS:
        raise NotExportable("/format", one_of(form, FORMATS))


def _plant(request: PatchPlanRequest, topology: "Topology", context: Context) -> "Plant":
    hosts = topology.node_count if request.hosts is None else request.hosts
    ports = request.ports_per_host
    ports = max(1, topology.degree) if ports is None else ports
    return plant_of(
        request.plant, request.panels, hosts, ports, request.current_wiring, context.note
    )


def _asked(plant: "Plant", request: PatchPlanRequest) -> Asked:
    """Return the cache key of the plan, without the topology."""
    from topoloom.synth.wiring.plant import plant_document

    made = plant.uniform
    # The key omits default values and has former names, so that earlier plans keep their ids.
    chosen = {
        name: value
        for name in (
            "spares",
            "place",
            "objective",
            "max_links_down",
            "stay_connected",
            "make_first",
        )
        if (value := getattr(request, MEMBERS.get(name, name)))
        not in (None, False, "fixed", "moves")
    }
    if made is None:
        return {"plant": plant_document(plant), **chosen}
    return {
        **chosen,
        "panels": made.layout.value,
        "hosts": made.hosts,
        "lanes": made.lanes,
        "present": [list(pair) for pair in plant.present.pairs],
    }
