"""Requests about patch plans, and observations of panels."""

from typing import Any

from pydantic import ConfigDict, Field, StrictBool, StrictInt, StrictStr, model_validator

from topoloom.app.requests.base import Request, optional
from topoloom.app.requests.options import patch_plans
from topoloom.app.requests.options.patch_plans import (
    AssignmentKind,
    ObjectiveName,
    PanelKind,
    RepairName,
)
from topoloom.app.requests.plant_source import PlantSource
from topoloom.app.requests.topology_source import TopologySource


class PatchPlanRequest(Request):
    """Topology, panels and current wiring of a patch plan."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "examples": [{"topology": {"recipe": "BiRing(5)"}, "panels": "per-port"}]
        },
    )

    former = ("present", "place", "lanes", "spares", "make_first")

    topology: TopologySource
    panels: PanelKind = patch_plans.PANELS.field()
    hosts: StrictInt = patch_plans.HOSTS.field()
    ports_per_host: StrictInt = patch_plans.PORTS_PER_HOST.field()
    plant: PlantSource = patch_plans.PLANT.field()
    use_spare_ports: StrictBool = patch_plans.USE_SPARE_PORTS.field()
    host_assignment: AssignmentKind = patch_plans.HOST_ASSIGNMENT.field()
    objective: ObjectiveName = patch_plans.OBJECTIVE.field()
    max_links_down: StrictInt = patch_plans.MAX_LINKS_DOWN.field()
    stay_connected: StrictBool = patch_plans.STAY_CONNECTED.field()
    make_before_break: StrictBool = patch_plans.MAKE_BEFORE_BREAK.field()
    current_wiring: list[Any] | dict[str, Any] = patch_plans.CURRENT_WIRING.field()

    @model_validator(mode="after")
    def _one_plant(self) -> "PatchPlanRequest":
        # The command line always sends a layout, at least the default.
        layout = (self.panels, self.hosts, self.ports_per_host)
        if self.plant is not None and layout != (patch_plans.PANELS.default, None, None):
            raise ValueError("must have no panels, hosts or ports_per_host together with a plant")
        return self


class CrossWiringRequest(Request):
    """Plant whose receive fibers may be exchanged."""

    plant: PlantSource = Field(
        description="plant/1, a list of cables from NetBox or Nautobot, or the text of a plant file"
    )


class RepairsRequest(Request):
    """Dead parts of a wired plan, and the repair to plan."""

    former = ("way",)

    hosts: list[str] = patch_plans.DEAD_HOSTS.field()
    host_ports: list[str] = patch_plans.DEAD_HOST_PORTS.field()
    ports: list[str] = patch_plans.DEAD_PORTS.field()
    pairs: list[str] = patch_plans.DEAD_PAIRS.field()
    repair: RepairName = patch_plans.REPAIR.field()

    @property
    def faults(self) -> dict[str, list[str]]:
        """The dead parts by kind."""
        return self.canonical_part(("hosts", "host_ports", "ports", "pairs"))


class FaultAnalysisRequest(Request):
    """Failures of a wired plan to examine, and the number of reported failures."""

    at_once: StrictInt = patch_plans.AT_ONCE.field()
    worst: StrictInt = patch_plans.WORST.field()


class SeenPairRequest(Request):
    """A plugged pair."""

    a: StrictInt | StrictStr = Field(description="port on the A side, such as 3A")
    b: StrictInt | StrictStr = Field(description="port on the B side")
    light: StrictBool = Field(default=True, description="whether the pair carries light")

    def on(self, panel: str) -> dict[str, Any]:
        """Return the pair as a row of the current wiring."""
        return {"panel": panel, "a": self.a, "b": self.b}


class NeighbourRequest(Request):
    """Neighbor that a port of a host receives, as by LLDP."""

    host: str = Field(description="receiving host", max_length=200)
    port: str = Field(description="receiving port", max_length=200)
    peer: str = optional("sending host; default: the port receives nothing", max_length=200)
    peer_port: str = optional("sending port", max_length=200)

    @property
    def heard(self) -> tuple[str, str] | None:
        """The sending host and port; None if the port receives nothing."""
        return None if self.peer is None else (self.peer, self.peer_port or "")


class ObservationRequest(Request):
    """Observation of the panels of a plan."""

    panels: dict[str, list[SeenPairRequest]] = optional("panel id -> all plugged pairs")
    text: str = optional(
        "text of devices or tools about the pairs of panels, instead of panels or in addition"
    )
    neighbours: list[NeighbourRequest] = optional(
        "neighbors of host ports, instead of panels or in addition; other ports keep their state",
        max_length=100_000,
    )
    stage: StrictInt = optional("number of completed stages; default: the nearest match", ge=0)
