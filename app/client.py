"""A client of the service for programs: the standard library alone.

Every method asks and waits for the answer; the same question is answered once, so repeating one
is harmless: a service that is busy, or starts just now, is asked again.  What the service
refuses is raised as the problem that it answered with.

Each operation of the OpenAPI document has a method, which names it by `operation`; a test holds
the methods and their parameters against that document.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, Unpack
from urllib.parse import quote

from app.client_transport import (
    FieldError,
    NotFound,
    Refused,
    ServiceError,
    Transport,
    Unreachable,
)
from app.client_types import (
    DesignRequest,
    ListQuery,
    ObservationRequest,
    OptimumQuery,
    PatchPlanRequest,
    RepairsRequest,
    ScheduleRequest,
    SimulationRequest,
    SurveyRequest,
    TopologySource,
)

__all__ = [
    "Client",
    "FieldError",
    "NotFound",
    "Refused",
    "ServiceError",
    "Unreachable",
    "operation",
]

T = TypeVar("T", bound=Callable[..., Any])


def operation(*names: str) -> Callable[[T], T]:
    """Say which operations of the OpenAPI document a method asks for, by their ids."""

    def named(method: T) -> T:
        method.__dict__["operations"] = names
        return method

    return named


KINDS = {
    "Design": "Designs",
    "Topology": "Topologies",
    "Schedule": "Schedules",
    "PatchPlan": "PatchPlans",
    "Frontier": "Frontiers",
    "Cost": "Costs",
    "Optimum": "Optima",
    "Verification": "Verifications",
    "Simulation": "Simulations",
    "Comparison": "Comparisons",
    "Plot": "Plots",
    "Sweep": "Sweeps",
}
"""What stored documents are called in the names of operations, one and many."""


def _of_kinds(verb: str, noun: str = "") -> list[str]:
    return [f"{verb}{kind}{noun}" for kind in KINDS]


class Client(Transport):
    """Asks a running service; questions and answers are those of ``docs/api.md``.

    Parameters
    ----------
    base_url : str
        Where it listens, ``http`` or ``https``.
    key : str or None
        An API key, where the service asks for one.
    timeout_seconds : float
        How long to wait for one answer, all attempts and pauses together.
    attempts : int
        How often a question is asked at most while the service is busy (429) or not ready
        (503).  Pauses double, from half a second on, and are as long as the service says.

    Raises
    ------
    ValueError
        The address is none, or a number is not positive.

    Examples
    --------
    >>> client = Client("http://127.0.0.1:1", timeout_seconds=1)
    >>> client.is_ready()
    False
    """

    @operation("createDesign")
    def design(self, **question: Unpack[DesignRequest]) -> dict[str, Any]:
        """Return the design/1 document that answers a question: POST /v1/designs."""
        return self._post("/v1/designs", question)

    @operation("createDesigns")
    def design_all(self, *, designs: list[dict[str, Any]]) -> dict[str, Any]:
        """Return an answer or a problem for each of up to 100 questions, as ``items``."""
        return self._post("/v1/designs/batch", {"designs": designs})

    @operation("findBest")
    def best(self, **question: Any) -> dict[str, Any]:
        """Return the best/1 document: the best topologies that are known, without a search."""
        return self._get_json("/v1/best", _worded(question))

    @operation("createFrontier")
    def frontier(self, **question: Any) -> dict[str, Any]:
        """Return the frontier/1 document of some hosts: POST /v1/frontiers."""
        return self._post("/v1/frontiers", question)

    @operation("createTopology")
    def topology(self, **source: Unpack[TopologySource]) -> dict[str, Any]:
        """Build or register a topology; return its topology/1 document: POST /v1/topologies."""
        return self._post("/v1/topologies", source)

    @operation("createSchedule")
    def schedule(self, **question: Unpack[ScheduleRequest]) -> dict[str, Any]:
        """Return what a verified schedule is and costs, with its id: POST /v1/schedules."""
        return self._post("/v1/schedules", question)

    @operation("createPatchPlan")
    def patch_plan(self, **question: Unpack[PatchPlanRequest]) -> dict[str, Any]:
        """Return the patch-plan/1 document of a wiring: POST /v1/patch-plans."""
        return self._post("/v1/patch-plans", question)

    @operation("readPatchProgress")
    def patch_progress(self, plan_id: str) -> dict[str, Any]:
        """Return the patch-progress/1 document of a stored patch plan."""
        return self._get_json(f"/v1/patch-plans/{_part(plan_id)}/progress")

    @operation("observePatchPlan")
    def observe_patch(
        self, plan_id: str, version: int = 0, **question: Unpack[ObservationRequest]
    ) -> dict[str, Any]:
        """Tell what was seen of a plan's panels; ``version`` is that of the progress known."""
        place = f"/v1/patch-plans/{_part(plan_id)}/observations"
        return self._post(place, question, {"If-Match": f'"{version}"'})

    @operation("giveUpPatchPlan")
    def give_up_patch(self, plan_id: str) -> None:
        """Forget what was seen of a plan, which then holds its plant no more."""
        self._ask(f"/v1/patch-plans/{_part(plan_id)}/progress", None, self.attempts, "DELETE")

    @operation("repairPatchPlan")
    def repairs(self, plan_id: str, **question: Unpack[RepairsRequest]) -> dict[str, Any]:
        """Return the repairs/1 document of what is dead of a stored patch plan."""
        return self._post(f"/v1/patch-plans/{_part(plan_id)}/repairs", question)

    @operation("surveyPatchPlan")
    def survey(self, plan_id: str, **question: Unpack[SurveyRequest]) -> dict[str, Any]:
        """Return the survey/1 document of the worst failures of a stored patch plan."""
        return self._post(f"/v1/patch-plans/{_part(plan_id)}/survey", question)

    @operation("simulateSchedule")
    def simulate(self, schedule_id: str, **question: Unpack[SimulationRequest]) -> dict[str, Any]:
        """Return the simulation/1 document of a stored schedule."""
        return self._post(f"/v1/schedules/{_part(schedule_id)}/simulation", question)

    @operation("createSimulation")
    def simulation(self, **question: Any) -> dict[str, Any]:
        """Return the simulation/1 document of any schedule, stored: POST /v1/simulations."""
        return self._post("/v1/simulations", question)

    @operation("createVerification")
    def verify(self, **question: Any) -> dict[str, Any]:
        """Return the verification/1 document of any schedule: POST /v1/verify."""
        return self._post("/v1/verify", question)

    @operation("createComparison")
    def compare(self, **question: Any) -> dict[str, Any]:
        """Return the comparison/1 document of ``designs=[id, ...]`` or ``schedules=[...]``."""
        return self._post("/v1/comparisons", question)

    @operation("createCost")
    def cost(self, **question: Any) -> dict[str, Any]:
        """Return the cost/1 document of any ``topology``, named as in `topology`."""
        return self._post("/v1/costs", question)

    @operation("createOptimum")
    def optimum_of(self, **question: Any) -> dict[str, Any]:
        """Return the optimum/1 document of any ``topology``, named as in `topology`."""
        return self._post("/v1/optima", question)

    @operation("drawFrontier")
    def draw_frontier(self, **question: Any) -> bytes:
        """Return a Pareto frontier as SVG: GET /v1/plots/frontier."""
        return self._get("/v1/plots/frontier", _worded(question))

    @operation("drawSizes")
    def draw_sizes(self, **question: Any) -> bytes:
        """Return times over the size of the data as SVG: GET /v1/plots/sizes."""
        return self._get("/v1/plots/sizes", _worded(question))

    @operation("drawLoad")
    def draw_load(self, **question: Any) -> bytes:
        """Return how busy a stored schedule keeps each link as SVG: GET /v1/plots/load."""
        return self._get("/v1/plots/load", _worded(question))

    @operation("drawSurvey")
    def survey_plot(self, **question: Any) -> bytes:
        """Return what every single fault leaves as SVG: GET /v1/plots/survey."""
        return self._get("/v1/plots/survey", _worded(question))

    @operation("drawTree")
    def draw_tree(self, **question: Any) -> bytes:
        """Return a tree of a stored schedule as SVG: GET /v1/plots/tree."""
        return self._get("/v1/plots/tree", _worded(question))

    @operation("readCost")
    def measure(self, topology_id: str) -> dict[str, Any]:
        """Return the cost/1 document of a stored topology."""
        return self._get_json(f"/v1/topologies/{_part(topology_id)}/cost")

    @operation("readOptimum")
    def optimum(self, topology_id: str, **query: Unpack[OptimumQuery]) -> dict[str, Any]:
        """Return the optimum/1 document of a stored topology, such as of ``collective=``."""
        return self._get_json(f"/v1/topologies/{_part(topology_id)}/optimum", query)

    @operation(
        *(f"read{name}" for name in KINDS if name not in ("Cost", "Optimum")),
        "readStoredCost",
        "readStoredOptimum",
        "readLrSession",
    )
    def read(self, kind: str, identity: str, form: str | None = None, **query: Any) -> bytes:
        """Return a stored document as it is written, in any of its formats.

        ``kind`` is a part of the path, such as ``"designs"``, ``"patch-plans"`` or ``"verify"``;
        ``query`` is what a format is told, such as ``dialect="rccl"``.
        """
        if form is not None:
            query = {"format": form, **query}
        return self._get(f"/v1/{_part(kind)}/{_part(identity)}", query)

    @operation(*(f"list{plural}" for plural in KINDS.values()))
    def stored(self, kind: str, **query: Unpack[ListQuery]) -> dict[str, Any]:
        """Return one page of what is stored of a kind: GET /v1/designs and the like."""
        return self._get_json(f"/v1/{_part(kind)}", query)

    @operation("listLrSessions")
    def lr_sessions(self, **query: Any) -> dict[str, Any]:
        """Return one page of sessions: GET /v1/lr-sessions."""
        return self._get_json("/v1/lr-sessions", query)

    @operation("createLrSession")
    def lr_session(self, **question: Any) -> dict[str, Any]:
        """Begin to tune a learning rate; return lr-session/1 with the trainer's lease."""
        return self._post("/v1/lr-sessions", question)

    @operation("attachLrSession")
    def lr_attach(self, session_id: str, **question: Any) -> dict[str, Any]:
        """Become a session's trainer, perhaps from an earlier observation on."""
        return self._post(_lr(session_id, "/lease"), question)

    @operation("observeLrSession")
    def lr_observe(self, session_id: str, **observation: Any) -> dict[str, Any]:
        """Report losses; return the answer, which has the next action."""
        return self._post(_lr(session_id, "/observations"), observation)

    @operation("cancelLrSession")
    def lr_cancel(self, session_id: str) -> dict[str, Any]:
        """End a session before its run is over."""
        return self._post(_lr(session_id, "/cancel"), {})

    @operation("readLrHistory")
    def lr_history(self, session_id: str, form: str = "json", after: int = 0) -> bytes:
        """Return a session's history as it is written: ``json``, ``csv`` or ``svg``."""
        return self._get(_lr(session_id, "/history"), {"format": form, "after": after})

    @operation("deleteLrSession")
    def lr_delete(self, session_id: str) -> None:
        """Delete a session and all that was observed."""
        self._ask(_lr(session_id), None, self.attempts, "DELETE")

    @operation(*_of_kinds("read", "Labels"))
    def labels(self, kind: str, identity: str) -> dict[str, Any]:
        """Return the labels of a stored document, and whether it is pinned."""
        return self._get_json(_place(kind, identity, "labels"))

    @operation(*_of_kinds("label"))
    def label(self, kind: str, identity: str, label: str) -> dict[str, Any]:
        """Put a label on a stored document."""
        return self._send("PUT", _place(kind, identity, "labels", label))

    @operation(*_of_kinds("unlabel"))
    def unlabel(self, kind: str, identity: str, label: str) -> dict[str, Any]:
        """Take a label from a stored document."""
        return self._send("DELETE", _place(kind, identity, "labels", label))

    @operation(*_of_kinds("pin"))
    def pin(self, kind: str, identity: str) -> dict[str, Any]:
        """Keep a stored document: it is neither deleted nor let go."""
        return self._send("PUT", _place(kind, identity, "pin"))

    @operation(*_of_kinds("unpin"))
    def unpin(self, kind: str, identity: str) -> dict[str, Any]:
        """Let a stored document go again."""
        return self._send("DELETE", _place(kind, identity, "pin"))

    @operation(*_of_kinds("delete"))
    def delete(self, kind: str, identity: str) -> None:
        """Delete a stored document; a pinned one is refused."""
        self._ask(_place(kind, identity), None, self.attempts, "DELETE")

    @operation("listFamilies")
    def families(self) -> dict[str, Any]:
        """Return the families of bases and the operators of recipes, as ``items``."""
        return self._get_json("/v1/families")

    @operation("listFabrics")
    def fabrics(self) -> dict[str, Any]:
        """Return the fabrics known by name, as ``items``."""
        return self._get_json("/v1/fabrics")

    @operation("listPresets")
    def presets(self) -> dict[str, Any]:
        """Return the workloads known by name, as ``items``."""
        return self._get_json("/v1/presets")

    @operation("readCache")
    def cache(self) -> dict[str, Any]:
        """Return the cache/1 document: how much is stored, and how much may be."""
        return self._get_json("/v1/cache")

    @operation("createSweep")
    def sweep(self, **question: Any) -> dict[str, Any]:
        """Return the sweep/1 document that answers one question of many: POST /v1/sweeps."""
        return self._post("/v1/sweeps", question)

    @operation("listJobs")
    def jobs(self, **query: Any) -> dict[str, Any]:
        """Return one page of jobs: GET /v1/jobs."""
        return self._get_json("/v1/jobs", query)

    @operation("readJob")
    def job(self, job_id: str) -> dict[str, Any]:
        """Return where a job stands, a job/1 document."""
        return self._get_json(f"/v1/jobs/{_part(job_id)}")

    @operation("cancelJob")
    def cancel_job(self, job_id: str) -> dict[str, Any]:
        """Cancel a job; return where it stands."""
        return self._post(f"/v1/jobs/{_part(job_id)}/cancel", {})

    @operation("deleteJob")
    def delete_job(self, job_id: str) -> None:
        """Forget a job that has ended; its answer stays."""
        self._ask(f"/v1/jobs/{_part(job_id)}", None, self.attempts, "DELETE")

    @operation("readJobEvents")
    def job_events(self, job_id: str) -> bytes:
        """Return every change of a job until it has ended, as server-sent events."""
        return self._get(f"/v1/jobs/{_part(job_id)}/events")

    @operation("readVersion")
    def version(self) -> dict[str, Any]:
        """Return the versions of the service, of its kernels and of its tables."""
        return self._get_json("/version")

    @operation("readMetrics")
    def metrics(self) -> str:
        """Return the metrics of the process that answers, in the Prometheus text format."""
        return self._get("/metrics").decode()

    @operation("readHealth")
    def is_alive(self) -> bool:
        """Whether the process answers at all."""
        return self._succeeds("/healthz")

    @operation("readReadiness")
    def is_ready(self) -> bool:
        """Whether the service can answer already."""
        return self._succeeds("/readyz")


def _lr(session_id: str, rest: str = "") -> str:
    return f"/v1/lr-sessions/{quote(session_id, safe='')}{rest}"


def _place(*parts: str) -> str:
    return "/".join(("/v1", *(quote(part, safe="") for part in parts)))


def _worded(question: Mapping[str, Any]) -> dict[str, Any]:
    """Return a query whose names are words of Python's own without the underscores behind.

    >>> _worded({"from_": "1KiB"})
    {'from': '1KiB'}
    """
    return {name.rstrip("_"): value for name, value in question.items()}


def _part(text: str) -> str:
    return quote(text, safe="")
