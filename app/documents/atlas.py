"""atlas/1: the packaged topologies, as a file to download and cite."""

import csv
import hashlib
import io
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from topoloom.app.config import KERNEL_VERSION, package_version
from topoloom.app.documents.base import Digest, Document, Exact, PassCost, given_members, omitted
from topoloom.app.requests.listing import AtlasRequest

if TYPE_CHECKING:
    from topoloom.synth.atlas.entries import Atlas, Entry

FORMATS = {"json": "application/json", "tsv": "text/tab-separated-values", "csv": "text/csv"}
"""Formats of the atlas -> media types."""


class AtlasPointDocument(Document):
    """A topology of the atlas with its cost."""

    nodes: int = Field(description="number of hosts", ge=2)
    degree: int = Field(description="ports of each host", ge=1)
    links: Literal["unidirectional", "bidirectional"] = Field(
        description="bidirectional: every link has a reverse link"
    )
    algorithm: Literal["bfb", "slack"] = Field(
        description="schedules with this cost: bfb, breadth-first broadcast; slack, slack schedules"
    )
    within_steps: int = omitted(
        "slack: limit of steps per pass, the option steps of its schedules", ge=1
    )
    steps: int = Field(description="T_L of an allgather, in units of the hop latency", ge=0)
    bandwidth: Exact = Field(description="T_B of an allgather, in units of M/B, exact")
    transpose: PassCost = Field(
        description="cost of a reduce-scatter: the same on the transposed graph"
    )
    recipe: str = Field(description="recipe; a generator has its seed among the arguments")
    found: str = Field(description="by which seed and round of the search; known: by none")


class AtlasDocument(Document):
    """atlas/1."""

    schema_: Literal["atlas/1"] = Field(alias="schema", description="atlas/1")
    version: str = Field(description="version of the package")
    kernel_version: str = Field(description="version of the kernels that measured the costs")
    digest: Digest = Field(description="SHA-256 of the tab-separated form without comments")
    cite: str = Field(description="citation")
    request: AtlasRequest = Field(description="filter of the points")
    points: list[AtlasPointDocument] = Field(description="points, by size, then by steps")


def digest_of(atlas: "Atlas") -> str:
    """Return the digest of the points, independent of the format."""
    return f"sha256:{hashlib.sha256(atlas.text().encode()).hexdigest()}"


def atlas_text(atlas: "Atlas", request: AtlasRequest, form: str) -> str:
    """Return the points in one of `FORMATS`."""
    points = [] if form == "tsv" else [_point(entry) for entry in atlas]
    if form == "csv":
        return _csv(points)
    release, digest = package_version(), digest_of(atlas)
    cite = (
        f"Topoloom atlas of collective topologies, version {release}, {len(atlas)} points, {digest}"
    )
    if form == "tsv":
        made_by = f"version {release}, kernels {KERNEL_VERSION}"
        return atlas.text((made_by, f"digest {digest}", f"cite {cite}"))
    document = AtlasDocument(
        schema="atlas/1",
        version=release,
        kernel_version=KERNEL_VERSION,
        digest=digest,
        cite=cite,
        request=request,
        points=points,
    )
    return document.model_dump_json(by_alias=True, exclude_unset=True)


def _point(entry: "Entry") -> AtlasPointDocument:
    return AtlasPointDocument(
        nodes=entry.nodes,
        degree=entry.degree,
        links=entry.links.value,
        algorithm="bfb" if entry.within is None else "slack",
        steps=entry.cost.steps,
        bandwidth=str(entry.cost.bandwidth),
        transpose=PassCost.of(entry.transpose),
        recipe=entry.recipe,
        found=entry.found,
        **given_members(within_steps=entry.within),
    )


def _csv(points: list[AtlasPointDocument]) -> str:
    rows = [
        point.model_dump(exclude={"transpose"}, exclude_unset=True)
        | {f"transpose_{name}": value for name, value in point.transpose}
        for point in points
    ]
    names = [name for name in AtlasPointDocument.model_fields if name != "transpose"]
    names[-2:-2] = ["transpose_steps", "transpose_bandwidth"]
    text = io.StringIO()
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
