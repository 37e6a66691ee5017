"""Operations on patch plans: plans, progress, repairs, worst failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from topoloom.app.client.arguments import part
from topoloom.app.client.openapi_operations import operation
from topoloom.app.client.transport import Transport

if TYPE_CHECKING:
    from topoloom.app.client import types


class Wiring(Transport):
    """Operations on patch plans: plans, progress, repairs, worst failures."""

    @operation("createPatchPlan")
    def patch_plan(self, **question: Unpack[types.PatchPlanRequest]) -> types.PatchPlanDocument:
        """Return the patch-plan/1 document of a wiring: POST /v1/patch-plans."""
        return self._post("/v1/patch-plans", question)

    @operation("readPatchProgress")
    def patch_progress(self, plan_id: str) -> types.PatchProgress:
        """Return the patch-progress/1 document of a stored patch plan."""
        return self._get_json(f"/v1/patch-plans/{part(plan_id)}/progress")

    @operation("observePatchPlan")
    def observe_patch(
        self, plan_id: str, version: int = 0, **question: Unpack[types.ObservationRequest]
    ) -> types.PatchProgress:
        """Report an observation of panels; ``version`` is the last known progress version."""
        place = f"/v1/patch-plans/{part(plan_id)}/observations"
        return self._post(place, question, {"If-Match": f'"{version}"'})

    @operation("giveUpPatchPlan")
    def give_up_patch(self, plan_id: str) -> None:
        """Delete the observations of a plan, and release its plant."""
        self._delete(f"/v1/patch-plans/{part(plan_id)}/progress")

    @operation("repairPatchPlan")
    def repairs(
        self, plan_id: str, **question: Unpack[types.RepairsRequest]
    ) -> types.RepairsDocument:
        """Return the repairs/1 document for dead parts of a stored patch plan."""
        return self._post(f"/v1/patch-plans/{part(plan_id)}/repairs", question)

    @operation("analyzePatchPlanFaults")
    def fault_analysis(
        self, plan_id: str, **question: Unpack[types.FaultAnalysisRequest]
    ) -> types.SurveyDocument:
        """Return the survey/1 document of the worst failures of a stored patch plan."""
        return self._post(f"/v1/patch-plans/{part(plan_id)}/fault-analysis", question)

    def survey(
        self, plan_id: str, **question: Unpack[types.FaultAnalysisRequest]
    ) -> types.SurveyDocument:
        """Return the answer of `fault_analysis`, which replaces this method."""
        return self.fault_analysis(plan_id, **question)

    @operation("crossWirePlant")
    def cross_wiring(
        self, **question: Unpack[types.CrossWiringRequest]
    ) -> types.CrossWiringDocument:
        """Return the cross-wiring/1 document of a plant: receive fibers to exchange."""
        return self._post("/v1/patch-plans/cross-wiring", question)
