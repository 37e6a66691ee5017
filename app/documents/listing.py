"""Lists: pages of stored requests and summaries of one kind.

Pages can hold answers of earlier versions with other members: a page is returned as stored, and
the models describe the present version.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, Field, create_model

from topoloom.app.documents.base import (
    AssumptionDocument,
    Document,
    Identity,
    Node,
    assumed_field,
    omitted,
    renamed_to,
)
from topoloom.app.documents.box_design import BoxDesignSummary
from topoloom.app.documents.comparison import ComparisonSummary
from topoloom.app.documents.cost import CostSummary
from topoloom.app.documents.design import DesignSummary
from topoloom.app.documents.frontier import FrontierSummary
from topoloom.app.documents.iteration import IterationSummary
from topoloom.app.documents.optimum import OptimumSummary
from topoloom.app.documents.patch_plan import PatchPlanSummary
from topoloom.app.documents.plot import PlotSummary
from topoloom.app.documents.schedule import ScheduleSummary
from topoloom.app.documents.simulation import SimulationSummary
from topoloom.app.documents.sweep import SweepSummary
from topoloom.app.documents.topology import TopologySummary
from topoloom.app.documents.verification import VerificationSummary
from topoloom.app.requests.box_designs import BoxDesignRequest
from topoloom.app.requests.designs import DesignRequest, FrontierRequest
from topoloom.app.requests.group_traffic import GroupSizes, HostLists, Traffic
from topoloom.app.requests.iterations import IterationRequest
from topoloom.app.requests.message_sizes import SizesRequest
from topoloom.app.requests.renamed import MEMBERS, both_names
from topoloom.app.requests.schedules import ForestRequest, SimulationRequest
from topoloom.app.requests.sweeps import SweepKind
from topoloom.app.store.artifacts import Listed


class Entry(Document):
    """One stored answer in a list."""

    id: Identity = Field(description="id of the answer")
    kernel_version: str = Field(description="version of the kernels that computed the answer")
    created_at: datetime = Field(description="time of the first computation, UTC")
    request: BaseModel = Field(description="request")
    summary: BaseModel = Field(description="summary of the answer")
    pinned: bool = Field(description="whether the document is protected from deletion and eviction")
    labels: list[str] = Field(description="labels, sorted")


class Page(Document):
    """A page of a list; newest first by default."""

    items: list[Entry] = Field(description="entries of the page")
    next_cursor: str | None = Field(description="cursor of the next page; null on the last")
    total: int = omitted("number of entries over all pages, with `count=1`", ge=0)


def _page(asked: type[BaseModel], summary: type[BaseModel]) -> type[Page]:
    """Return the model of a page of a kind, named for the kind, such as DesignPage."""
    kind = summary.__name__.removesuffix("Summary")
    members: dict[str, Any] = {
        name: (type_, Entry.model_fields[name])
        for name, type_ in (("request", asked), ("summary", summary))
    }
    entry = create_model(f"{kind}Entry", __base__=Entry, __doc__=Entry.__doc__, **members)
    items: Any = (list[entry], Page.model_fields["items"])
    return create_model(f"{kind}Page", __base__=Page, __doc__=Page.__doc__, items=items)


class ResolvedChanges(Document):
    """Lost and slow parts of a topology."""

    without_nodes: list[Node] = Field(description="lost nodes, with all their links")
    without_links: list[list[Node]] = Field(description="pairs of nodes with lost links")
    slow_links: list[list[Node]] = Field(
        description="pairs of nodes with the remaining share of their capacity"
    )


class AskedTopology(Document):
    """The source of a stored topology: exactly one of recipe, fabric, document, topology_id."""

    recipe: str = omitted("recipe text")
    fabric: str = omitted("name of a fabric")
    document: str = omitted("digest of a topology document, with its name")
    name: str = omitted("name of the topology document")
    assumed: list[AssumptionDocument] = assumed_field()
    notes: list[str] = omitted("kernel versions up to 16: sentences of the assumptions")
    topology_id: Identity = omitted("id of the healthy topology of a changed topology")
    changes: ResolvedChanges = omitted("lost and slow parts")


class AskedSchedule(ForestRequest):
    """The request of a stored schedule."""

    topology_id: Identity = Field(description="id of the topology")
    collective: str = Field(description="collective of the schedule")
    algorithm: str = omitted("algorithm; absent with groups")
    groups: GroupSizes | HostLists = omitted("process groups that run at once")
    group: str = omitted("with groups: kind of the group")
    number: int = omitted("with groups: number of the group", ge=0)
    traffic: Traffic = omitted("with groups: collective and size of every kind")
    max_chunks: int = omitted("limit of chunks per shard", ge=1)
    steps: int = omitted("slack: limit of steps per pass", ge=1)
    max_height: int = omitted("forestcoll: limit of hops of a tree", ge=1)


class AskedPatchPlan(Document):
    """The request of a stored patch plan."""

    topology_id: Identity = Field(description="id of the topology")
    panels: str = omitted("per-port or single")
    hosts: int = omitted("number of cabled hosts", ge=1)
    ports_per_host: int = omitted("number of cabled ports per host", ge=1)
    current_wiring: list[list[int]] = omitted("plugged pairs: panel, A port, B port")
    plant: dict[str, Any] = omitted("plant/1 document with the current wiring, instead of panels")
    use_spare_ports: bool = omitted("true if the plan may use spare ports")
    host_assignment: str = omitted("free if the plan may assign nodes to any host")
    objective: str = omitted("quantity to minimize before the number of moves")
    max_links_down: int = omitted("limit of links down in one stage", ge=1)
    stay_connected: bool = omitted("true if the hosts must stay connected")
    make_before_break: bool = omitted("true if links with free ports come first")
    lanes: int = renamed_to("ports_per_host")
    present: list[list[int]] = renamed_to("current_wiring")
    spares: bool = renamed_to("use_spare_ports")
    place: str = renamed_to("host_assignment")
    make_first: bool = renamed_to("make_before_break")


class AskedCost(Document):
    """The request of a stored cost."""

    topology_id: Identity = Field(description="id of the topology")


class AskedOptimum(ForestRequest):
    """The request of a stored optimum."""

    topology_id: Identity = Field(description="id of the topology")
    collective: str = omitted("collective; default: allgather")
    groups: GroupSizes | HostLists = omitted("process groups")
    group: str = omitted("with groups: one kind")
    traffic: Traffic = omitted("with groups: collective and size of every kind")


class AskedOfSchedule(Document):
    """The schedule and topology of a stored verification."""

    topology_id: Identity = Field(description="id of the topology")
    schedule_id: Identity = omitted("id of the schedule, if stored")
    format: str = omitted("schedule from the request body: format")
    content: str = omitted("schedule from the request body: SHA-256 of the content")
    dialect: str = omitted("MSCCL XML: dialect")
    runtime: str = omitted("programs: runtime whose limits apply")


class AskedSimulation(AskedOfSchedule):
    """The request of a stored simulation."""

    simulation: SimulationRequest = Field(description="data size and speed of the fabric")


class AskedComparison(Document):
    """The request of a stored comparison."""

    of: dict[str, list[str]] = Field(
        description="kind -> ids of the compared documents, or of the topology"
    )
    collective: str = omitted("topology: collective")
    root: Node = omitted("source of a broadcast or destination of a reduce")
    bytes: int = omitted("data size of the times", ge=1)
    alpha_us: float = omitted("latency of one hop, microseconds", ge=0)
    node_gbps: float = omitted("send rate of one host, Gbit/s", ge=0)
    overhead_us: float = omitted("link time of each message beside its bytes, microseconds", ge=0)
    chunk_us: float = omitted("link time of each chunk beside its bytes, microseconds", ge=0)


class AskedPlot(Document):
    """The request of a stored plot."""

    plot: str = Field(description="frontier, sizes, load, survey or tree")
    of: dict[str, list[str]] = Field(description="kind -> ids of the drawn documents")
    request: SizesRequest = omitted("sizes: hosts, workload and range of sizes")
    root: str = omitted("tree: id of the rank whose shard is drawn")
    tree: int = omitted("tree: number of the tree of the root", ge=1)
    part: int = omitted("tree: number of the part of an allreduce", ge=1)


class AskedSweep(Document):
    """The request of a stored sweep."""

    kind: SweepKind = Field(description="what differs between the requests")
    nodes: list[int] = omitted("sizes, workload: numbers of hosts")
    degrees: list[int] = omitted("sizes, workload: ports of each host")
    topology_id: Identity = omitted("fault-analysis: id of the topology")
    lost: list[str] = omitted("fault-analysis: kinds of lost parts, one part at a time")
    template: dict[str, Any] = Field(description="other members of each request")
    over: str = renamed_to("kind")
    question: dict[str, Any] = renamed_to("template")


PAGES: dict[str, type[Page]] = {
    "design": _page(DesignRequest, DesignSummary),
    "topology": _page(AskedTopology, TopologySummary),
    "schedule": _page(AskedSchedule, ScheduleSummary),
    "patch-plan": _page(AskedPatchPlan, PatchPlanSummary),
    "frontier": _page(FrontierRequest, FrontierSummary),
    "cost": _page(AskedCost, CostSummary),
    "optimum": _page(AskedOptimum, OptimumSummary),
    "verification": _page(AskedOfSchedule, VerificationSummary),
    "simulation": _page(AskedSimulation, SimulationSummary),
    "comparison": _page(AskedComparison, ComparisonSummary),
    "plot": _page(AskedPlot, PlotSummary),
    "sweep": _page(AskedSweep, SweepSummary),
    "iteration": _page(IterationRequest, IterationSummary),
    "box-design": _page(BoxDesignRequest, BoxDesignSummary),
}
"""The model of a page, by kind."""


def entry_model(kind: str) -> Any:
    """Return the model of an entry of the list of a kind."""
    return PAGES[kind].model_fields["items"].annotation


def of(entries: Sequence[Listed], next_cursor: str | None) -> dict[str, Any]:
    """Return a page of a list."""
    return {
        "items": [
            {
                "id": entry.id,
                "kernel_version": entry.kernel_version,
                "created_at": _moment(entry.created_at),
                "request": both_names(entry.request, MEMBERS),
                "summary": entry.summary,
                "pinned": entry.pinned,
                "labels": list(entry.labels),
            }
            for entry in entries
        ],
        "next_cursor": next_cursor,
    }


def _moment(moment: datetime) -> str:
    return moment.replace(tzinfo=UTC).isoformat().replace("+00:00", "Z")
