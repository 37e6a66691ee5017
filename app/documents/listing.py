"""Lists: what was asked and answered of a kind, newest first, one page at a time.

Pages may hold answers of earlier versions, whose members were others: a page is written
as it is stored, and the models say what the present version writes.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, Field

from topoloom.app.documents.base import (
    AssumptionDocument,
    Document,
    Identity,
    Node,
    assumed_field,
    omitted,
)
from topoloom.app.documents.comparison import ComparisonSummary
from topoloom.app.documents.cost import CostSummary
from topoloom.app.documents.design import DesignSummary
from topoloom.app.documents.frontier import FrontierSummary
from topoloom.app.documents.optimum import OptimumSummary
from topoloom.app.documents.patch_plan import PatchPlanSummary
from topoloom.app.documents.plot import PlotSummary
from topoloom.app.documents.schedule import ScheduleSummary
from topoloom.app.documents.simulation import SimulationSummary
from topoloom.app.documents.sweep import SweepSummary
from topoloom.app.documents.topology import TopologySummary
from topoloom.app.documents.verification import VerificationSummary
from topoloom.app.requests.designs import DesignRequest, FrontierRequest
from topoloom.app.requests.message_sizes import SizesRequest
from topoloom.app.requests.schedules import ForestRequest, SimulationRequest
from topoloom.app.store.artifacts import Listed

Asked = TypeVar("Asked", bound=BaseModel)
Summary = TypeVar("Summary", bound=BaseModel)


class Entry(Document, Generic[Asked, Summary]):
    """One stored answer in a list."""

    id: Identity = Field(description="what the answer is stored under")
    kernel_version: str = Field(description="version of the kernels that computed it")
    created_at: datetime = Field(description="when it was first computed, UTC")
    request: Asked = Field(description="the question")
    summary: Summary = Field(description="what the answer says, in short")
    pinned: bool = Field(description="whether it is kept whatever is let go")
    labels: list[str] = Field(description="its labels, sorted")


class Page(Document, Generic[Asked, Summary]):
    """A page of a list, newest first unless asked otherwise."""

    items: list[Entry[Asked, Summary]] = Field(description="the entries of the page")
    next_cursor: str | None = Field(description="cursor of the next page; null on the last")


class ResolvedChanges(Document):
    """What of a topology is lost or slow."""

    without_nodes: list[Node] = Field(description="nodes that are lost with all their links")
    without_links: list[list[Node]] = Field(description="pairs between which links are lost")
    slow_links: list[list[Node]] = Field(
        description="pairs, and the share of their capacity that is left"
    )


class AskedTopology(Document):
    """What a stored topology was made from: one of four."""

    recipe: str = omitted("recipe text")
    fabric: str = omitted("name of a known fabric")
    document: str = omitted("digest of a topology that came as it is, with its name")
    name: str = omitted("of a topology that came as it is")
    assumed: list[AssumptionDocument] = assumed_field()
    notes: list[str] = omitted("of a topology of version 16 and before: what was assumed")
    topology_id: Identity = omitted("id of the topology that was changed, with its changes")
    changes: ResolvedChanges = omitted("what of it is lost or slow")


class AskedSchedule(ForestRequest):
    """Which schedule was asked for, on which stored topology."""

    topology_id: Identity = Field(description="what the topology is stored under")
    collective: str = Field(description="what the schedule carries out")
    algorithm: str = Field(description="what makes it")
    max_chunks: int = omitted("into how many chunks each shard is cut at most", ge=1)
    steps: int = omitted("slack: steps of each pass at most", ge=1)
    max_height: int = omitted("forestcoll: hops of a tree at most", ge=1)


class AskedPatchPlan(Document):
    """Which topology is to be plugged, on which panels, starting from which wiring."""

    topology_id: Identity = Field(description="what the topology is stored under")
    panels: str = omitted("per-port or single")
    hosts: int = omitted("hosts that are cabled", ge=1)
    lanes: int = omitted("ports of each host that are cabled", ge=1)
    present: list[list[int]] = omitted("plugged pairs: panel, A port, B port")
    plant: dict[str, Any] = omitted("instead: the plant/1 document, with what is plugged")
    spares: bool = omitted("true where spare ports may be used")
    place: str = omitted("free where nodes may sit on any host")
    max_links_down: int = omitted("most links that are taken away in one stage", ge=1)
    stay_connected: bool = omitted("true where the hosts must stay connected")
    make_first: bool = omitted("true where what has free ports comes first")


class AskedCost(Document):
    """Which topology was measured."""

    topology_id: Identity = Field(description="what the topology is stored under")


class AskedOptimum(ForestRequest):
    """Of which stored topology, and of which collective, the optimum was wanted."""

    topology_id: Identity = Field(description="what the topology is stored under")
    collective: str = omitted("whose optimum; left out, that of allgather")


class AskedOfSchedule(Document):
    """Which schedule was looked at, on which stored topology."""

    topology_id: Identity = Field(description="what the topology is stored under")
    schedule_id: Identity = omitted("of a stored schedule: what it is stored under")
    format: str = omitted("of a schedule that was sent: what it is written as")
    content: str = omitted("of a schedule that was sent: SHA-256 of what was sent")
    dialect: str = omitted("of MSCCL XML: its dialect")
    runtime: str = omitted("of programs: the run-time whose limits they keep")


class AskedSimulation(AskedOfSchedule):
    """Which schedule was simulated, and on how fast a fabric."""

    simulation: SimulationRequest = Field(description="how much data, on how fast a fabric")


class AskedComparison(Document):
    """What was put side by side."""

    of: dict[str, list[str]] = Field(
        description="by kind, the ids of what is compared, or of the topology it is compared on"
    )
    collective: str = omitted("of a topology: what is run there")
    root: Node = omitted("of a broadcast or reduce: where the data begins or ends")
    bytes: int = omitted("size of the data that times are told for", ge=1)
    alpha_us: float = omitted("latency of one hop, microseconds", ge=0)
    node_gbps: float = omitted("what one host sends at most, Gbit/s", ge=0)
    overhead_us: float = omitted("how long a message keeps its link busy, microseconds", ge=0)
    chunk_us: float = omitted("the same for each of its chunks, microseconds", ge=0)


class AskedPlot(Document):
    """What was drawn."""

    plot: str = Field(description="frontier, sizes, load, survey or tree")
    of: dict[str, list[str]] = Field(description="by kind, the ids of what is drawn")
    request: SizesRequest = omitted("sizes: what is run, on how fast hosts, for which sizes")
    root: str = omitted("tree: id of the rank whose shard is followed")
    tree: int = omitted("tree: which tree of the root", ge=1)
    part: int = omitted("tree: which part of an allreduce", ge=1)


class AskedSweep(Document):
    """Which question was asked of what."""

    over: str = Field(description="what the questions differ in")
    nodes: list[int] = omitted("sizes, time: numbers of hosts")
    degrees: list[int] = omitted("sizes, time: ports of each host")
    topology_id: Identity = omitted("faults: what the topology is stored under")
    lost: list[str] = omitted("faults: which parts are lost, one at a time")
    question: dict[str, Any] = Field(description="the rest of every question")


PAGES: dict[str, type[BaseModel]] = {
    "design": Page[DesignRequest, DesignSummary],
    "topology": Page[AskedTopology, TopologySummary],
    "schedule": Page[AskedSchedule, ScheduleSummary],
    "patch-plan": Page[AskedPatchPlan, PatchPlanSummary],
    "frontier": Page[FrontierRequest, FrontierSummary],
    "cost": Page[AskedCost, CostSummary],
    "optimum": Page[AskedOptimum, OptimumSummary],
    "verification": Page[AskedOfSchedule, VerificationSummary],
    "simulation": Page[AskedSimulation, SimulationSummary],
    "comparison": Page[AskedComparison, ComparisonSummary],
    "plot": Page[AskedPlot, PlotSummary],
    "sweep": Page[AskedSweep, SweepSummary],
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
                "request": entry.request,
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
