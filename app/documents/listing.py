"""Lists: what was asked and answered of a kind, newest first, one page at a time.

Pages may hold answers of earlier versions, whose members were others: a page is written
as it is stored, and the models say what the present version writes.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, Field

from app.documents.base import Document, Identity, Node, omitted
from app.documents.design import DesignSummary
from app.documents.patch_plan import PatchPlanSummary
from app.documents.schedule import ScheduleSummary
from app.documents.sweep import SweepSummary
from app.documents.topology import TopologySummary
from app.schemas import DesignRequest, ForestRequest
from app.store import Listed

__all__ = ["PAGES", "of"]

Asked = TypeVar("Asked", bound=BaseModel)
Summary = TypeVar("Summary", bound=BaseModel)


class Entry(Document, Generic[Asked, Summary]):
    """One stored answer in a list."""

    id: Identity = Field(description="what the answer is stored under")
    kernel_version: str = Field(description="version of the kernels that computed it")
    created_at: datetime = Field(description="when it was first computed, UTC")
    request: Asked = Field(description="the question")
    summary: Summary = Field(description="what the answer says, in short")


class Page(Document, Generic[Asked, Summary]):
    """A page of a list, newest first."""

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
    notes: list[str] = omitted("of a topology that came as it is: what was assumed in reading it")
    topology_id: Identity = omitted("id of the topology that was changed, with its changes")
    changes: ResolvedChanges = omitted("what of it is lost or slow")


class AskedSchedule(ForestRequest):
    """Which schedule was asked for, on which stored topology."""

    topology_id: Identity = Field(description="what the topology is stored under")
    collective: str = Field(description="what the schedule carries out")
    algorithm: str = Field(description="what makes it")
    max_chunks: int = omitted("into how many chunks each shard is cut at most", ge=1)
    steps: int = omitted("slack: steps of each pass at most", ge=1)


class AskedPatchPlan(Document):
    """Which topology is to be plugged, on which panels, starting from which wiring."""

    topology_id: Identity = Field(description="what the topology is stored under")
    panels: str = Field(description="per-port or single")
    hosts: int = Field(description="hosts that are cabled", ge=1)
    lanes: int = Field(description="ports of each host that are cabled", ge=1)
    present: list[list[int]] = Field(description="plugged pairs: panel, A port, B port")


class AskedSweep(Document):
    """Which question was asked of what."""

    over: str = Field(description="what the questions differ in")
    nodes: list[int] = omitted("sizes, time: numbers of hosts")
    degrees: list[int] = omitted("sizes, time: ports of each host")
    topology_id: Identity = omitted("faults: what the topology is stored under")
    question: dict[str, Any] = Field(description="the rest of every question")


PAGES: dict[str, type[BaseModel]] = {
    "design": Page[DesignRequest, DesignSummary],
    "topology": Page[AskedTopology, TopologySummary],
    "schedule": Page[AskedSchedule, ScheduleSummary],
    "patch-plan": Page[AskedPatchPlan, PatchPlanSummary],
    "sweep": Page[AskedSweep, SweepSummary],
}
"""The model of a page, by kind."""


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
            }
            for entry in entries
        ],
        "next_cursor": next_cursor,
    }


def _moment(moment: datetime) -> str:
    return moment.replace(tzinfo=UTC).isoformat().replace("+00:00", "Z")
