"""Drawings as they are kept: SVG, and what is drawn."""

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
    """What lists say of a drawing."""

    plot: str = Field(description="frontier, sizes, load, survey or tree")
    bytes: int = Field(description="size of the SVG", ge=1)


def _encode(answer: Drawing, identity: str) -> Computed:
    summary = PlotSummary(plot=answer.plot, bytes=len(answer.svg))
    # mtime=0: the same drawing gives the same bytes.
    return Computed(gzip.compress(answer.svg, mtime=0), _PACKED, summary.given())


PLOT = Kind("plot", _encode)
"""The id of a drawing is not written in it: what is drawn does not depend on it."""
