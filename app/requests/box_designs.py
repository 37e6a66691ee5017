"""Requests for designs of boxes of accelerators."""

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import ConfigDict, Field, StrictInt

from topoloom.app.requests.base import Bytes, NotNegative, Positive, Request, optional
from topoloom.app.requests.options import boxes, cluster
from topoloom.app.requests.options.boxes import PortRule
from topoloom.app.requests.options.cluster import LinkKind
from topoloom.app.requests.topology_source import MAX_GRAPHS, GraphName, GraphSource

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topoloom.schedules.design.box_candidates import BoxHosts
    from topoloom.schedules.workloads.tasks import Task
    from topoloom.synth.topology.topology import Topology

BoxCollective: TypeAlias = Literal["allgather", "reduce-scatter", "allreduce"]


class BoxDesignRequest(Request):
    """Boxes of accelerators, their cables, and one collective over all accelerators."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "examples": [
                {
                    "box": "mi300x",
                    "nodes": 4,
                    "degree": 4,
                    "collective": "allreduce",
                    "bytes": "1GB",
                }
            ]
        },
    )

    box: Annotated[str, Field(min_length=1, max_length=4096)] = Field(description=boxes.BOX.text)
    graphs: Annotated[dict[GraphName, GraphSource], Field(min_length=1, max_length=MAX_GRAPHS)] = (
        optional(f"topologies of the names after @ in the box, at most {MAX_GRAPHS}")
    )
    nodes: StrictInt = boxes.BOXES.field()
    degree: StrictInt = boxes.CABLES.field()
    links: LinkKind = Field(
        "bidirectional",
        description="bidirectional: both fibers of a port lead to one box; unidirectional: they "
        "may lead to two boxes; default: bidirectional",
    )
    collective: BoxCollective = Field(description="collective over all accelerators")
    bytes: Bytes = Field(description=cluster.DESIGN_BYTES.text)
    alpha_us: Positive = cluster.ALPHA_US.field()
    cable_bandwidth: Positive = boxes.CABLE_BANDWIDTH.field()
    cable_ports: PortRule = boxes.CABLE_PORTS.field()
    boxes_per_rack: StrictInt = boxes.BOXES_PER_RACK.field()
    copper_price: NotNegative = boxes.COPPER_PRICE.field()
    optics_price: NotNegative = boxes.OPTICS_PRICE.field()

    def hosts(self, graphs: "Mapping[str, Topology]") -> "BoxHosts":
        """Return the boxes, as an argument of the design."""
        from topoloom.schedules.design.box_candidates import BoxHosts
        from topoloom.synth.boxes.box_fabric import Ports
        from topoloom.synth.evaluation.cost import Links

        rate: Decimal | None = self.cable_bandwidth
        return BoxHosts(
            self.box,
            self.nodes,
            self.degree,
            Links(self.links),
            None if rate is None else Fraction(rate),
            Ports(self.cable_ports or "even"),
            self.boxes_per_rack or 1,
            graphs,
        )

    @property
    def task(self) -> "Task":
        """The collective and its size."""
        from topoloom.schedules.model.schedule import Collective
        from topoloom.schedules.workloads.tasks import Task

        return Task(Collective.of(self.collective), self.bytes)

    @property
    def prices(self) -> tuple[Fraction, Fraction] | None:
        """The prices of a copper and of an optical cable; None if neither is given."""
        given = self.copper_price, self.optics_price
        if given == (None, None):
            return None
        copper, optics = (Fraction(price or 0) for price in given)
        return copper, optics
