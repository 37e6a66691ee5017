"""Operations on topologies, schedules, designs and plots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from topoloom.app.client.openapi_operations import operation, without_underscores
from topoloom.app.client.transport import Transport

if TYPE_CHECKING:
    from topoloom.app.client import types


class Questions(Transport):
    """Operations on topologies, schedules, designs and plots."""

    @operation("createDesign")
    def design(self, **question: Unpack[types.DesignRequest]) -> types.DesignDocument:
        """Return the design/1 document of a request: POST /v1/designs."""
        return self._post("/v1/designs", question)

    @operation("createDesigns")
    def design_all(self, *, designs: list[dict[str, Any]]) -> types.BatchDocument:
        """Return an answer or a problem for each of up to 100 requests, as ``items``."""
        return self._post("/v1/designs/batch", {"designs": designs})

    @operation("designBoxes")
    def design_boxes(self, **question: Unpack[types.BoxDesignRequest]) -> types.BoxDesignDocument:
        """Return the box-design/1 document of boxes of accelerators: POST /v1/box-designs."""
        return self._post("/v1/box-designs", question)

    @operation("scheduleGroups")
    def schedule_groups(
        self, **question: Unpack[types.GroupScheduleRequest]
    ) -> types.GroupScheduleDocument:
        """Return the group-schedule/1 document of process groups: POST /v1/group-schedules."""
        return self._post("/v1/group-schedules", question)

    @operation("simulateIteration")
    def iteration(self, **question: Unpack[types.IterationRequest]) -> types.IterationDocument:
        """Return the iteration/1 document of a training job: POST /v1/iterations."""
        return self._post("/v1/iterations", question)

    @operation("findBest")
    def best(self, **question: Any) -> types.BestDocument:
        """Return the best/1 document: the best known topologies, without a search."""
        return self._get_json("/v1/best", without_underscores(question))

    @operation("createFrontier")
    def frontier(self, **question: Unpack[types.FrontierRequest]) -> types.FrontierDocument:
        """Return the frontier/1 document of some hosts: POST /v1/frontiers."""
        return self._post("/v1/frontiers", question)

    @operation("createTopology")
    def topology(self, **source: Unpack[types.TopologySource]) -> types.TopologyDocument:
        """Build or register a topology; return its topology/1 document: POST /v1/topologies."""
        return self._post("/v1/topologies", source)

    @operation("createSchedule")
    def schedule(self, **question: Unpack[types.ScheduleRequest]) -> types.ScheduleSummary:
        """Return the summary of a verified schedule, with its id: POST /v1/schedules."""
        return self._post("/v1/schedules", question)

    @operation("createSimulation")
    def simulation(
        self, **question: Unpack[types.TimedScheduleRequest]
    ) -> types.SimulationDocument:
        """Return the simulation/1 document of any schedule, stored: POST /v1/simulations."""
        return self._post("/v1/simulations", question)

    @operation("createVerification")
    def verify(self, **question: Unpack[types.VerifyRequest]) -> types.VerificationDocument:
        """Return the verification/1 document of any schedule: POST /v1/verifications."""
        return self._post("/v1/verifications", question)

    @operation("createComparison")
    def compare(self, **question: Unpack[types.ComparisonRequest]) -> types.ComparisonDocument:
        """Return the comparison/1 document of ``designs=[id, ...]`` or ``schedules=[...]``.

        Alternatively, compare all algorithms for a ``collective`` on a ``topology``, a source as in
        `topology`.
        """
        return self._post("/v1/comparisons", question)

    @operation("createCost")
    def cost(self, **question: Unpack[types.CostRequest]) -> types.CostDocument:
        """Return the cost/1 document of a ``topology``, a source as in `topology`."""
        return self._post("/v1/costs", question)

    @operation("createOptimum")
    def optimum_of(
        self, **question: Unpack[types.TopologyOptimumRequest]
    ) -> types.OptimumDocument | types.AllToAllDocument | types.GroupOptimumDocument:
        """Return the optimum/1 document of a ``topology``, a source as in `topology`.

        For an all-to-all return all-to-all/1, and with ``groups`` group-optimum/1.
        """
        return self._post("/v1/optima", question)

    @operation("findNetworkCurves")
    def network_curves(
        self, **question: Unpack[types.NetworkCurvesRequest]
    ) -> types.NetworkCurvesDocument:
        """Return network-curves/1, a trace over latency and bandwidth: POST /v1/network-curves."""
        return self._post("/v1/network-curves", question)

    @operation("scheduleOxcAllreduce")
    def oxc_allreduce(self, **question: Any) -> list[list[int]]:
        """Return source, target, step and bytes of each flow: POST /api/oxc/allreduce."""
        return self._post("/api/oxc/allreduce", question)

    @operation("drawFrontier")
    def draw_frontier(self, **question: Any) -> bytes:
        """Return a Pareto frontier as SVG: POST /v1/plots/frontier."""
        return self._post("/v1/plots/frontier", without_underscores(question))

    @operation("drawSizes")
    def draw_sizes(self, **question: Any) -> bytes:
        """Return times by data size as SVG: POST /v1/plots/sizes."""
        return self._post("/v1/plots/sizes", without_underscores(question))

    @operation("drawLoad")
    def draw_load(self, **question: Any) -> bytes:
        """Return the link loads of a stored schedule as SVG: POST /v1/plots/load."""
        return self._post("/v1/plots/load", without_underscores(question))

    @operation("drawFaultAnalysis")
    def draw_faults(self, **question: Any) -> bytes:
        """Return the effect of every single fault as SVG: POST /v1/plots/fault-analysis."""
        return self._post("/v1/plots/fault-analysis", without_underscores(question))

    @operation("drawIterations")
    def draw_iterations(self, **question: Any) -> bytes:
        """Return the times of a sweep of iterations as SVG: POST /v1/plots/iterations."""
        return self._post("/v1/plots/iterations", without_underscores(question))

    @operation("drawTree")
    def draw_tree(self, **question: Any) -> bytes:
        """Return a tree of a stored schedule as SVG: POST /v1/plots/tree."""
        return self._post("/v1/plots/tree", without_underscores(question))

    # Former names, and short forms for stored documents.

    def survey_plot(self, **question: Any) -> bytes:
        """Return the answer of `draw_faults`, which replaces this method."""
        return self.draw_faults(**question)

    def simulate(
        self, schedule_id: str, **question: Unpack[types.SimulationRequest]
    ) -> types.SimulationDocument:
        """Return the simulation/1 document of a stored schedule."""
        return self.simulation(schedule_id=schedule_id, **question)

    def measure(self, topology_id: str) -> types.CostDocument:
        """Return the cost/1 document of a stored topology."""
        return self.cost(topology={"id": topology_id})

    def optimum(
        self, topology_id: str, **query: Unpack[types.OptimumQuery]
    ) -> types.OptimumDocument | types.AllToAllDocument:
        """Return the optimum/1 document of a stored topology, for a ``collective``."""
        return self._post("/v1/optima", {"topology": {"id": topology_id}, **query})
