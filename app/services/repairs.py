"""Repairs of a completed plan after faults, and the cost of each repair."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from topoloom.app.documents import repairs as documents
from topoloom.app.documents import survey as survey_documents
from topoloom.app.documents.base import Presented
from topoloom.app.documents.patch_plan import content_of, subject_of
from topoloom.app.documents.repairs import RateLeft, Weighed
from topoloom.app.requests.patch_plans import RepairsRequest
from topoloom.app.requests.stored_documents import FaultAnalysisQuestion, RepairsQuestion
from topoloom.app.services import topologies
from topoloom.app.services.context import Context
from topoloom.app.services.patch_plans import MOST_RATED
from topoloom.synth.errors import DoesNotFit

if TYPE_CHECKING:
    from topoloom.schedules.trees.rates.topology_rate import Optimum
    from topoloom.synth.topology.topology import Topology
    from topoloom.synth.wiring import PatchPlan
    from topoloom.synth.wiring.devices import Script
    from topoloom.synth.wiring.operations.worst_failures import Failure


def of_stored(context: Context, question: RepairsQuestion) -> Presented:
    """Return the repairs/1 document of a stored plan.

    Raises:
        InvalidWiring: A fault names a part that the plant of the plan does not have.
        DoesNotFit: The requested repair is not possible.
    """
    script, plan = _carried_out(context, question.id)
    most = min(MOST_RATED, context.settings.max_optimum_nodes)
    return with_chosen(script, plan, question.on, most)


def fault_analysis_of_stored(context: Context, question: FaultAnalysisQuestion) -> Presented:
    """Return the survey/1 document of a stored plan.

    Raises:
        DoesNotFit: The number of failures exceeds the limit of an analysis.
    """
    script, plan = _carried_out(context, question.id)
    asked = question.on
    found = failure_effects(
        plan, asked.at_once, min(MOST_RATED, context.settings.max_optimum_nodes)
    )
    return survey_documents.of(script.plan_id, asked.at_once, found, asked.worst)


def _carried_out(context: Context, identity: str) -> "tuple[Script, PatchPlan]":
    """Return the script of a stored plan, and the plan."""
    from topoloom.synth.wiring.devices import read_script
    from topoloom.synth.wiring.plans.document_reader import read_plan

    artefact = context.read("patch-plan", identity)
    document, plant = content_of(artefact)
    wired = topologies.load_subject(context, subject_of(artefact)).topology
    return read_script(document, plant), read_plan(document, plant, wired)


def with_chosen(
    script: "Script",
    plan: "PatchPlan",
    asked: RepairsRequest,
    most_rated: int,
) -> Presented:
    """Return the repairs/1 document of a plan, with the plan of the chosen repair."""
    from topoloom.synth.wiring import to_document
    from topoloom.synth.wiring.plant import plant_document

    possible = ranked_repairs(plan, asked.faults, most_rated)
    nodes = plan.topology.node_count
    if asked.repair is None:
        return documents.of(script, possible, nodes)
    chosen = next((found for found in possible if found.repair.way == asked.repair), None)
    if chosen is None:
        there = ", ".join(found.repair.way.value for found in possible) or "none"
        raise DoesNotFit("/repair", f"{asked.repair} is not possible here; there is {there}")
    repaired = chosen.repair.plan
    told = {"plan": to_document(repaired), "plant": plant_document(repaired.plant)}
    return documents.of(script, possible, nodes, told)


def ranked_repairs(
    plan: "PatchPlan", faults: Mapping[str, Sequence[str]], most_rated: int
) -> tuple[Weighed, ...]:
    """Return the repairs for faults of a completed plan, fewest moves first."""
    from topoloom.synth.wiring.operations.faults import read_faults
    from topoloom.synth.wiring.operations.repair import repairs
    from topoloom.synth.wiring.plans.stages import stages_of

    found = read_faults(faults, plan.plant.with_present(plan.final))
    rated = _Rates(plan.topology, most_rated)
    return tuple(
        Weighed(way, stages_of(way.plan), rated.of(way.plan.topology))
        for way in repairs(plan, found)
    )


def failure_effects(plan: "PatchPlan", at_once: int, most_rated: int) -> "tuple[Failure, ...]":
    """Return the effects of all failures of ``at_once`` parts of a plan, the worst first."""
    from topoloom.synth.wiring.operations.worst_failures import survey

    rated = _Rates(plan.topology, most_rated)

    def share(left: "Topology") -> Fraction | None:
        found = rated.of(left)
        return None if found is None else found.share

    return survey(plan, at_once, share)


class _Rates:
    """Optimal allgather rates of topologies relative to a healthy one, each computed once."""

    def __init__(self, healthy: "Topology", most: int) -> None:
        self._known: dict[str, Optimum | None] = {}
        self._most = most
        self._healthy = healthy

    def of(self, topology: "Topology") -> RateLeft | None:
        """Return the remaining rate; None if either topology is too large or disconnected."""
        best, healthy = self._best(topology), self._best(self._healthy)
        if best is None or healthy is None:
            return None
        share = _speed(best) / _speed(healthy)
        return RateLeft(best.inverse_rate, best.trees_per_root, share)

    def _best(self, topology: "Topology") -> "Optimum | None":
        from topoloom.schedules.trees.rates.topology_rate import optimum
        from topoloom.synth.wiring.plans.stages import connected

        if topology.digest not in self._known:
            small = 1 < topology.node_count <= self._most
            known = optimum(topology) if small and connected(topology) else None
            self._known[topology.digest] = known
        return self._known[topology.digest]


def _speed(best: "Optimum") -> Fraction:
    """Return the algbw: bytes of all shards divided by their time."""
    return best.compute_nodes / best.inverse_rate
