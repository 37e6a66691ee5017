"""Options of a design for boxes of accelerators."""

from typing import Literal, TypeAlias

from topoloom.app.requests.options.factories import duration, number, whole
from topoloom.app.requests.options.option import REQUIRED, Option
from topoloom.synth.limits import MAX_DEGREE

PortRule: TypeAlias = Literal["even", "round-robin"]

BOX = Option(
    name="box",
    type=str,
    help="each host is this box of accelerators, and has as many cables as ports; the links are "
    "bidirectional unless stated",
    metavar="FABRIC_OR_FILE",
    typed="such as dgx-h100, mi300x or my-box.txt",
    instead_of=("links", "parallel_links", "vertex_transitive", "schedule", "node_gbps"),
)
BOXES = whole("nodes", "number of boxes", 2, 1024, default=REQUIRED)
CABLES = whole("degree", "cables of each box", 1, MAX_DEGREE, default=REQUIRED)
CABLE_BANDWIDTH = number(
    "cable_bandwidth",
    "boxes: rate of a cable; default: that of a NIC of the box in the catalogue",
    "GB/s per direction",
    metavar="GBPS",
)
CABLE_PORTS = Option(
    name="cable_ports",
    type=PortRule,
    default=None,
    help="boxes: accelerators that the cables are on; even: spread evenly; round-robin: one after "
    "the other; default: even",
)
BOXES_PER_RACK = whole(
    "boxes_per_rack",
    "largest number of boxes in a rack; cables inside racks are copper, all others optics; "
    "default: 1",
    1,
    1024,
    metavar="N",
)
COPPER_PRICE = duration("copper_price", "price of a copper cable", "any currency")
OPTICS_PRICE = duration("optics_price", "price of an optical cable", "the same currency")

OF_BOXES: tuple[Option, ...] = (
    BOX,
    CABLE_BANDWIDTH,
    CABLE_PORTS,
    BOXES_PER_RACK,
    COPPER_PRICE,
    OPTICS_PRICE,
)
"""Options of `topoloom design` for boxes; the numbers of boxes and cables are those of hosts."""
