"""What people ask of patch plans, and what they say was seen of the panels."""

from typing import Any

from pydantic import ConfigDict, Field, StrictBool, StrictInt, StrictStr, model_validator

from topoloom.app.requests.base import Request, optional
from topoloom.app.requests.options import patch_plans
from topoloom.app.requests.options.patch_plans import ObjectiveName, PanelKind, PlaceKind, WayName
from topoloom.app.requests.plant_source import PlantSource
from topoloom.app.requests.topology_source import TopologySource


class PatchPlanRequest(Request):
    """Which topology to plug, on which panels, starting from which wiring."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "examples": [{"topology": {"recipe": "BiRing(5)"}, "panels": "per-port"}]
        },
    )

    topology: TopologySource
    panels: PanelKind = patch_plans.PANELS.field()
    hosts: StrictInt = patch_plans.HOSTS.field()
    lanes: StrictInt = patch_plans.LANES.field()
    plant: PlantSource = patch_plans.PLANT.field()
    spares: StrictBool = patch_plans.SPARES.field()
    place: PlaceKind = patch_plans.PLACE.field()
    objective: ObjectiveName = patch_plans.OBJECTIVE.field()
    max_links_down: StrictInt = patch_plans.MAX_LINKS_DOWN.field()
    stay_connected: StrictBool = patch_plans.STAY_CONNECTED.field()
    make_first: StrictBool = patch_plans.MAKE_FIRST.field()
    present: list[Any] | dict[str, Any] = patch_plans.PRESENT.field()

    @model_validator(mode="after")
    def _one_plant(self) -> "PatchPlanRequest":
        # The command line always says a layout, if only the default.
        regular = (self.panels, self.hosts, self.lanes) != (patch_plans.PANELS.default, None, None)
        if self.plant is not None and regular:
            raise ValueError("must have no panels, hosts or lanes beside a plant")
        return self


class CrossWiringRequest(Request):
    """The plant whose fibres may be exchanged."""

    plant: PlantSource = Field(
        description="plant/1, a list of cables as NetBox and Nautobot have it, or the text of a "
        "file that holds one"
    )


class RepairsRequest(Request):
    """What is dead of a plan that was carried out."""

    hosts: list[str] = patch_plans.DEAD_HOSTS.field()
    host_ports: list[str] = patch_plans.DEAD_HOST_PORTS.field()
    ports: list[str] = patch_plans.DEAD_PORTS.field()
    pairs: list[str] = patch_plans.DEAD_PAIRS.field()
    way: WayName = patch_plans.WAY.field()


class SurveyRequest(Request):
    """Which failures of a plan that was carried out are looked at, and how many are told."""

    at_once: StrictInt = patch_plans.AT_ONCE.field()
    worst: StrictInt = patch_plans.WORST.field()


class SeenPairRequest(Request):
    """A pair that is plugged."""

    a: StrictInt | StrictStr = Field(description="port on the A side, such as 3A")
    b: StrictInt | StrictStr = Field(description="port on the B side")
    light: StrictBool = Field(default=True, description="whether light goes through it")

    def on(self, panel: str) -> dict[str, Any]:
        """Return it as a row of what is plugged."""
        return {"panel": panel, "a": self.a, "b": self.b}


class NeighbourRequest(Request):
    """What a port of a host hears, as by LLDP."""

    host: str = Field(description="the host that hears", max_length=200)
    port: str = Field(description="its port", max_length=200)
    peer: str = optional("the host that it hears; default: nothing is heard", max_length=200)
    peer_port: str = optional("the port that it hears", max_length=200)

    @property
    def heard(self) -> tuple[str, str] | None:
        """The host and the port that are heard; None for nothing."""
        return None if self.peer is None else (self.peer, self.peer_port or "")


class ObservationRequest(Request):
    """What was seen of the panels of a plan."""

    panels: dict[str, list[SeenPairRequest]] = optional("by panel: all that is plugged there")
    neighbours: list[NeighbourRequest] = optional(
        "or beside them: what ports of hosts hear; of other ports what was known stays",
        max_length=100_000,
    )
    stage: StrictInt = optional(
        "stages of the plan that were carried out there; default: the nearest are found", ge=0
    )
