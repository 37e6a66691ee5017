"""Requests for the schedules of process groups that run at once."""

from typing import TYPE_CHECKING, Annotated

from pydantic import ConfigDict, Field, model_validator

from topoloom.app.requests.base import Bytes, NotNegative, Positive, Request
from topoloom.app.requests.field_errors import PlacedError
from topoloom.app.requests.group_traffic import GroupSizes, HostLists, Traffic, require_absent
from topoloom.app.requests.options import collectives, simulations
from topoloom.app.requests.options.collectives import CollectiveName
from topoloom.app.requests.schedules import SimulationRequest
from topoloom.app.requests.topology_source import TopologySource

if TYPE_CHECKING:
    from topoloom.schedules.simulate import Network
    from topoloom.synth.topology.topology import Topology


class GroupScheduleRequest(Request):
    """Topology, groups and their collectives, and the speed of the fabric."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "oneOf": [{"required": ["collective"]}, {"required": ["traffic"]}],
            "examples": [
                {
                    "topology": {"recipe": "Torus(4, 4)"},
                    "groups": "tensor=4,data=4",
                    "traffic": {
                        "tensor": {"collective": "allreduce", "bytes": "64MiB"},
                        "data": {"collective": "allgather", "bytes": "16MiB"},
                    },
                }
            ],
        },
    )

    topology: TopologySource
    groups: GroupSizes | HostLists = Field(description=collectives.GROUPS.text)
    collective: CollectiveName = collectives.GROUPED_COLLECTIVE.field()
    group: Annotated[str, Field(max_length=100)] = collectives.GROUP.field()
    traffic: Traffic = collectives.TRAFFIC.field()
    bytes: Bytes = simulations.GROUP_BYTES.field()
    alpha_us: NotNegative = simulations.SIMULATED_ALPHA_US.field()
    node_gbps: Positive = simulations.SIMULATED_NODE_GBPS.field()

    @model_validator(mode="after")
    def _one_way(self) -> "GroupScheduleRequest":
        if self.traffic is not None:
            require_absent(self, "traffic", "collective", "group", "bytes")
        elif self.collective is None:
            raise PlacedError("/collective", "is missing")
        return self

    @property
    def has_sizes(self) -> bool:
        """Whether the size of every group is given."""
        return self.traffic is not None or self.bytes is not None

    def network(self, topology: "Topology") -> "Network":
        """Return the speed of the fabric."""
        rates = {"alpha_us": self.alpha_us, "node_gbps": self.node_gbps}
        given = {name: value for name, value in rates.items() if value is not None}
        return SimulationRequest.model_validate({"bytes": 1, **given}).network(topology)
