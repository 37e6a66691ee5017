"""Stored drawings: compressed SVG."""

import gzip
from dataclasses import dataclass

from pydantic import Field

from topoloom.app.documents.base import Document
from topoloom.app.store.artifacts import Computed, Kind

SVG = "image/svg+xml"
_PACKED = "image/svg+xml+gzip"


@dataclass(frozen=True, slots=True)
class Drawing:
    """A finished drawing, and the name of the plot."""

    plot: str
    svg: bytes


class PlotSummary(Document):
    """Summary of a drawing in lists."""

    plot: str = Field(description="frontier, sizes, load, survey or tree")
    bytes: int = Field(description="size of the SVG", ge=1)


def _encode(answer: Drawing, identity: str) -> Computed:
    summary = PlotSummary(plot=answer.plot, bytes=len(answer.svg))
    # mtime=0 makes the bytes reproducible.
    return Computed(gzip.compress(answer.svg, mtime=0), _PACKED, summary.given())


PLOT = Kind("plot", _encode)
"""The SVG does not contain the id of the drawing."""
