"""Requests for frontiers and designs, shared by REST and CLI.

Requests use Gbit/s, microseconds and sizes with suffixes; the properties convert exactly to
bytes/s and seconds.
"""

import re
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import ConfigDict, Field, StrictBool, StrictInt, field_validator, model_validator

from topoloom.app.requests.base import MOST, Bytes, NotNegative, Positive, Request
from topoloom.app.requests.field_errors import PlacedError
from topoloom.app.requests.measured_times import MeasuredRow, fitted_members
from topoloom.app.requests.options import cluster, patch_plans
from topoloom.app.requests.options.cluster import JudgeName, LinkKind
from topoloom.app.requests.options.collectives import CollectiveName
from topoloom.app.requests.options.patch_plans import AssignmentKind, ObjectiveName, PanelKind
from topoloom.app.requests.plant_source import PlantSource

if TYPE_CHECKING:
    from topoloom.schedules.design import Speed
    from topoloom.schedules.workloads.presets import Preset
    from topoloom.schedules.workloads.tasks import Workload
    from topoloom.synth.search.hosts import Hosts

WiringValues = Annotated[dict[str, Any], Field(title="Current wiring")]


def put_node_rate(request: Any) -> None:
    """Replace ``port_gbps`` of a request with ``node_gbps = port_gbps * degree``, in place.

    Raises:
        PlacedError: The request has both members, or the rate of the host exceeds the limit.
    """
    if request.port_gbps is None:
        return
    if "node_gbps" in request.model_fields_set:
        raise PlacedError("/port_gbps", "must not be combined with node_gbps")
    rate = request.port_gbps * request.degree
    if rate > MOST:
        raise PlacedError("/port_gbps", f"times degree must be at most {MOST}")
    request.replace(node_gbps=Decimal(repr(float(rate))), port_gbps=None)


def workload_preset(name: str) -> "Preset":
    """Return the preset of a workload.

    Raises:
        UnknownPreset: No preset of a workload has this name; the rule for a job names its command.
    """
    from topoloom.schedules.errors import UnknownPreset
    from topoloom.schedules.workloads.presets import preset

    try:
        return preset(name)
    except UnknownPreset:
        from topoloom.schedules.iterations.presets import JOB_PRESETS

        if name not in JOB_PRESETS:
            raise
        rule = (
            f"must list collectives; {name} is a whole job: `topoloom iteration {name}` and "
            "POST /v1/iterations find its topology of least time"
        )
        raise UnknownPreset("/preset", rule) from None


class FrontierRequest(Request):
    """Hosts and options of a search."""

    nodes: StrictInt = cluster.NODES.field()
    degree: StrictInt = cluster.DEGREE.field()
    links: LinkKind = cluster.LINKS.field()
    parallel_links: StrictBool = cluster.PARALLEL_LINKS.field()
    vertex_transitive: StrictBool = cluster.VERTEX_TRANSITIVE.field()
    families: list[str] | None = cluster.FAMILIES.field()
    bases: list[str] | None = cluster.BASES.field()
    max_steps: StrictInt | None = cluster.MAX_STEPS.field()
    schedule: JudgeName = cluster.SCHEDULE.field()
    all_to_all: StrictBool | None = cluster.ALL_TO_ALL.field()

    @field_validator("all_to_all")
    @classmethod
    def _absent_if_false(cls, all_to_all: bool | None) -> bool | None:
        # False and absent are the same request and have the same id.
        return all_to_all or None

    @field_validator("families")
    @classmethod
    def _sorted(cls, families: list[str] | None) -> list[str] | None:
        if families is None:
            return None
        from topoloom.synth.errors import InvalidRecipe
        from topoloom.synth.families import family

        try:
            # Requests that differ in the order only have the same id.
            return sorted({family(name).__name__ for name in families})
        except InvalidRecipe as error:
            raise ValueError(error.rule) from None

    @field_validator("bases")
    @classmethod
    def _recipes(cls, bases: list[str] | None) -> list[str] | None:
        if bases is None:
            return None
        from topoloom.synth.errors import SynthError
        from topoloom.synth.recipes.recipe import parse

        try:
            # The same holds for blanks in recipes.
            return sorted({str(parse(base)) for base in bases})
        except SynthError as error:
            raise ValueError(f"must be recipes: {error.rule}") from None

    @property
    def hosts(self) -> "Hosts":
        """The hosts, as an argument of the search.

        >>> FrontierRequest(nodes=12, degree=4).hosts.links
        <Links.UNIDIRECTIONAL: 'unidirectional'>
        """
        from topoloom.synth.evaluation.cost import Links
        from topoloom.synth.recipes.recipe import parse
        from topoloom.synth.search.hosts import Hosts

        return Hosts(
            self.nodes,
            self.degree,
            Links(self.links),
            self.parallel_links,
            self.vertex_transitive,
            None if self.families is None else tuple(self.families),
            self.max_steps,
            self.schedule,
            tuple(map(parse, self.bases or ())),
        )


class TimedRequest(FrontierRequest):
    """Hosts with rate and latency."""

    node_gbps: Positive = cluster.NODE_GBPS.field()
    port_gbps: Positive = cluster.PORT_GBPS.field()
    alpha_us: Positive = cluster.ALPHA_US.field()

    @model_validator(mode="after")
    def _node_rate(self) -> Self:
        """Convert the rate of a port: requests with equal host rates have the same id."""
        put_node_rate(self)
        return self

    @property
    def bytes_per_second(self) -> Fraction:
        """B, the bandwidth of one host."""
        return Fraction(self.node_gbps) * 10**9 / 8

    @property
    def alpha_seconds(self) -> Fraction:
        """The latency of one hop."""
        return Fraction(self.alpha_us) / 10**6


class TaskRequest(Request):
    """One collective of a workload, with size and count."""

    collective: CollectiveName = Field(description="collective to run")
    bytes: Bytes = Field(description="data size")
    count: Annotated[StrictInt, Field(ge=1, le=10**6)] = Field(1, description="number of runs")

    @model_validator(mode="before")
    @classmethod
    def _parsed(cls, value: Any) -> Any:
        """Parse the text ``COLLECTIVE:BYTES:COUNT`` of a query."""
        if not isinstance(value, str):
            return value
        collective, *rest = value.split(":")
        count = rest.pop() if len(rest) == 2 else "1"
        if len(rest) != 1 or re.fullmatch("[0-9]{1,7}", count, re.ASCII) is None:
            raise ValueError("must be a text such as allreduce:25MiB or allreduce:25MiB:40")
        return {"collective": collective, "bytes": rest[0], "count": int(count)}


_OF_CURRENT_WIRING = (
    "host_assignment",
    "use_spare_ports",
    "objective",
    "max_moves",
    "max_rewiring_seconds",
    "max_drained",
)
_WAYS = (("collective", "bytes"), ("workload",), ("preset",))


class DesignRequest(TimedRequest):
    """Hosts and a workload, given in exactly one of three ways."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "oneOf": [{"required": list(way)} for way in _WAYS],
            "examples": [
                {"nodes": 12, "degree": 4, "collective": "allreduce", "bytes": "1MB"},
                {"nodes": 12, "degree": 4, "preset": "gpt2-xl-ddp"},
            ],
        },
    )

    former = ("present", "place", "spares")

    collective: CollectiveName = cluster.COLLECTIVE.field()
    bytes: Bytes = cluster.DESIGN_BYTES.field()
    workload: list[TaskRequest] = cluster.WORKLOAD.field()
    preset: str = cluster.PRESET.field(min_length=1, max_length=100)
    panels: PanelKind = patch_plans.DESIGN_PANELS.field()
    plant: PlantSource = patch_plans.DESIGN_PLANT.field()
    current_wiring: list[WiringValues] | WiringValues = patch_plans.DESIGN_CURRENT_WIRING.field()
    host_assignment: AssignmentKind = patch_plans.DESIGN_HOST_ASSIGNMENT.field()
    use_spare_ports: StrictBool = patch_plans.DESIGN_USE_SPARE_PORTS.field()
    objective: ObjectiveName = patch_plans.DESIGN_OBJECTIVE.field()
    max_moves: StrictInt = patch_plans.MAX_MOVES.field()
    max_rewiring_seconds: NotNegative = patch_plans.MAX_REWIRING_SECONDS.field()
    max_drained: StrictInt = patch_plans.MAX_DRAINED.field()
    overhead_us: NotNegative | None = cluster.MESSAGE_US.field()
    chunk_us: NotNegative | None = cluster.CHUNK_US.field()
    measured: list[MeasuredRow] | None = cluster.MEASURED.field()

    @property
    def rewired(self) -> bool:
        """Whether the request has a current wiring."""
        given = (self.panels, self.plant, self.current_wiring)
        return any(member is not None for member in given)

    @field_validator("objective")
    @classmethod
    def _absent_if_moves(cls, objective: str | None) -> str | None:
        # The default and an absent objective are the same request.
        return None if objective == "moves" else objective

    @field_validator("use_spare_ports")
    @classmethod
    def _absent_if_unused(cls, used: bool | None) -> bool | None:
        # False and absent are the same request.
        return used or None

    @model_validator(mode="after")
    def _of_current_wiring(self) -> "DesignRequest":
        if self.panels is not None and self.plant is not None:
            raise ValueError("must have only one of panels and plant")
        given = [name for name in _OF_CURRENT_WIRING if getattr(self, name) is not None]
        if not self.rewired and given:
            raise ValueError(f"must have current_wiring, plant or panels together with {given[0]}")
        return self

    @model_validator(mode="after")
    def _fitted(self) -> "DesignRequest":
        """Replace measured times with the fitted costs: equal costs have the same id."""
        if self.measured is None:
            return self
        costs = ("node_gbps", "port_gbps", "alpha_us", "overhead_us", "chunk_us")
        if not self.model_fields_set.isdisjoint(costs):
            raise ValueError(
                f"must have no {', '.join(costs[:-1])} or {costs[-1]} together with measured"
            )
        self.replace(**fitted_members(self.measured, self.degree))
        return self

    @property
    def speed(self) -> "Speed":
        """Rate in bytes per second, and latency and overheads in seconds."""
        from topoloom.schedules.design import Speed

        overhead, chunk = (Fraction(us or 0) / 10**6 for us in (self.overhead_us, self.chunk_us))
        return Speed(self.bytes_per_second, self.alpha_seconds, overhead, chunk)

    @property
    def merged_workload(self) -> "Workload":
        """The collectives to run, with the counts of equal collectives added up.

        Raises:
            UnknownPreset: No preset has this name.
        """
        from topoloom.schedules.model.schedule import Collective
        from topoloom.schedules.workloads.tasks import Task, Workload, merge_tasks

        if self.preset is not None:
            return workload_preset(self.preset).workload
        if self.workload is not None:
            tasks = (
                Task(Collective.of(task.collective), task.bytes, task.count)
                for task in self.workload
            )
            return Workload(merge_tasks(tasks))
        return Workload((Task(Collective.of(self.collective), self.bytes),), single=True)

    @model_validator(mode="after")
    def _exactly_one(self) -> "DesignRequest":
        given = {name for way in _WAYS for name in way if getattr(self, name) is not None}
        if given == {"collective"}:
            raise ValueError("must have bytes: the size of the data")
        if given == {"bytes"}:
            raise ValueError("must have collective: what moves the data")
        if not given:
            raise ValueError("must have collective with bytes, workload, or preset")
        if given not in map(set, _WAYS):
            raise ValueError("must have exactly one of collective with bytes, workload, and preset")
        return self
