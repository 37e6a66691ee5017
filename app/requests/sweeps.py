"""Requests for sweeps: over sizes, over jobs, or over the single faults of a topology."""

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    StrictInt,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from topoloom.app.requests.base import Positive, Request, optional
from topoloom.app.requests.designs import DesignRequest, FrontierRequest
from topoloom.app.requests.field_errors import PlacedError, field_errors
from topoloom.app.requests.iterations import IterationRequest, model_of_traces
from topoloom.app.requests.number_ranges import NUMBER_RANGE, numbers_of_range
from topoloom.app.requests.options import sweeps_and_jobs
from topoloom.app.requests.options.sweeps_and_jobs import PartName
from topoloom.app.requests.schedules import OptimumRequest
from topoloom.app.requests.topology_source import TopologySource
from topoloom.synth.limits import MAX_DEGREE, MAX_HOSTS

SweepKind = Literal["sizes", "workload", "iteration", "fault-analysis"]

MAX_PARTS = 2_000
"""Limit of the requests in one sweep."""


def _numbers(value: Any) -> Any:
    """Return the distinct numbers of a list of numbers and ranges, sorted."""
    if not isinstance(value, list):
        return value
    numbers: set[int] = set()
    for entry in value:
        numbers.update(numbers_of_range(entry))
        if len(numbers) > MAX_PARTS:
            raise ValueError(f"must have at most {MAX_PARTS} numbers")
    return sorted(numbers)


def _listed(least: int, most: int) -> Any:
    entry = {"type": "integer", "minimum": least, "maximum": most}
    ranged = {"type": "string", "pattern": NUMBER_RANGE.pattern}
    return WithJsonSchema(
        {
            "type": "array",
            "items": {"anyOf": [entry, ranged]},
            "minItems": 1,
            "maxItems": MAX_PARTS,
        }
    )


Sizes = Annotated[
    list[Annotated[StrictInt, Field(ge=2, le=MAX_HOSTS)]],
    BeforeValidator(_numbers),
    _listed(2, MAX_HOSTS),
]
Degrees = Annotated[
    list[Annotated[StrictInt, Field(ge=1, le=MAX_DEGREE)]],
    BeforeValidator(_numbers),
    _listed(1, MAX_DEGREE),
]

_Model = Annotated[dict[str, Any], BeforeValidator(model_of_traces), Field(title="Model")]
Job = Annotated[str, Field(min_length=1, max_length=100)] | _Model
Recipe = Annotated[str, Field(min_length=1, max_length=4096)]

_RATE = TypeAdapter(Positive)
_OF_HOSTS = {"nodes": "/nodes", "degree": "/degrees"}
_OF_JOBS = _OF_HOSTS | {"preset": "/jobs", "model": "/jobs", "topology": "/topologies"}
"""Member of one request that the sweep sets -> pointer in the sweep."""
_HOSTS = frozenset({"nodes", "degrees"})
_MEMBERS = {
    "sizes": _HOSTS,
    "workload": _HOSTS,
    "iteration": _HOSTS | {"jobs", "topologies"},
    "fault-analysis": frozenset({"topology", "lost"}),
}
_OPTIONAL = frozenset({"lost", "topologies"})


class SweepRequest(Request):
    """Sweep over sizes, over times by size, over jobs, or over single faults."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "examples": [
                {"kind": "sizes", "nodes": ["8:32:8"], "degrees": [2, 4]},
                {
                    "kind": "workload",
                    "nodes": [8, 12],
                    "degrees": [4],
                    "template": {"collective": "allreduce", "bytes": "1MB"},
                },
                {"kind": "iteration", "jobs": ["vit-22b"], "nodes": [8, 16], "degrees": [4]},
                {"kind": "fault-analysis", "topology": {"fabric": "dgx-a100-2"}},
            ]
        },
    )

    former = ("over", "question")

    kind: SweepKind = Field(
        description="sizes: the frontier of each size; workload: the best design of each size for "
        "a workload; iteration: the training iteration of each job on each size; fault-analysis: "
        "the optimum after the loss of each single link, host or switch"
    )
    nodes: Sizes = sweeps_and_jobs.SWEEP_NODES.field(min_length=1)
    degrees: Degrees = sweeps_and_jobs.SWEEP_DEGREES.field(min_length=1)
    jobs: list[Job] = optional(
        "iteration: names of presets, or model files as objects", min_length=1, max_length=100
    )
    topologies: list[Recipe] = sweeps_and_jobs.SWEEP_TOPOLOGIES.field()
    topology: TopologySource = optional("fault-analysis: topology that loses parts")
    lost: list[PartName] = sweeps_and_jobs.LOST.field(min_length=1)
    template: dict[str, Any] = Field(
        default={},
        description="other members of each request: for sizes, of POST /v1/frontiers; for "
        "workload, of POST /v1/designs; for iteration, of POST /v1/iterations; for "
        "fault-analysis, of POST /v1/optima",
    )

    @model_validator(mode="after")
    def _whole(self) -> "SweepRequest":
        self._require_members()
        if self.kind == "iteration":
            self._require_jobs()
        try:
            request = next(self.host_requests(), None) or self.optimum_request()
        except ValidationError as error:
            first = field_errors(error)[0]
            place = self._set_members.get(first.pointer[1:], f"/template{first.pointer}")
            raise PlacedError(place, first.detail) from None
        if isinstance(request, OptimumRequest) and request.collective == "all-to-all":
            raise PlacedError("/template/collective", "must not be all-to-all")
        if isinstance(request, OptimumRequest) and request.values is not None:
            raise PlacedError("/template/values", "must be absent")
        if isinstance(request, OptimumRequest) and request.groups is not None:
            raise PlacedError("/template/groups", "must be absent")
        return self

    def _require_members(self) -> None:
        """Raise for a member of another kind, a missing member, or too many requests."""
        known = _MEMBERS[self.kind]
        required = known - _OPTIONAL - ({"nodes"} if self.topologies else set())
        absent = frozenset().union(*_MEMBERS.values()) - known
        for name in ("nodes", "degrees", "jobs", "topologies", "topology", "lost"):
            given = getattr(self, name) is not None
            if (not given and name in required) or (given and name in absent):
                rule = "must not have" if given else "must have"
                raise ValueError(f"{rule} {name} if kind is {self.kind!r}")
        if self.topologies and self.nodes is not None:
            raise ValueError("must have only one of nodes and topologies")
        places = (self.nodes or self.topologies, self.degrees, self.jobs)
        if prod(len(place) for place in places if place is not None) > MAX_PARTS:
            axes = "jobs times degrees times nodes" if self.jobs else "nodes times degrees"
            raise ValueError(f"must have at most {MAX_PARTS} requests, {axes}")

    def _require_jobs(self) -> None:
        """Raise for the name of no preset, and for the text of no recipe."""
        from topoloom.schedules.errors import UnknownPreset
        from topoloom.schedules.iterations.iteration_design import host_count
        from topoloom.schedules.iterations.presets import job_preset
        from topoloom.synth.errors import InvalidRecipe

        for number, job in enumerate(self.jobs):
            try:
                if isinstance(job, str):
                    job_preset(job)
            except UnknownPreset as error:
                raise PlacedError(f"/jobs/{number}", error.rule) from None
        for number, topology in enumerate(self.topologies or ()):
            try:
                host_count(topology)
            except InvalidRecipe as error:
                raise PlacedError(f"/topologies/{number}", error.rule) from None

    def host_requests(self) -> "Iterator[FrontierRequest | DesignRequest | IterationRequest]":
        """Yield the request of each size; nothing for a fault analysis."""
        if self.kind == "iteration":
            for job, degree, hosts in product(self.jobs, self.degrees, self._hosts()):
                what = {"preset" if isinstance(job, str) else "model": job}
                of_size = {**self.template, **what, **hosts, "degree": degree}
                yield IterationRequest.model_validate(of_size)
        elif self.kind != "fault-analysis":
            model = FrontierRequest if self.kind == "sizes" else DesignRequest
            for degree, nodes in product(self.degrees, self.nodes):
                yield model.model_validate({**self.template, "nodes": nodes, "degree": degree})

    def _hosts(self) -> list[dict[str, Any]]:
        """Return the hosts of each size, or each topology with its hosts."""
        from topoloom.schedules.iterations.iteration_design import host_count

        if self.topologies is None:
            return [{"nodes": nodes} for nodes in self.nodes]
        return [{"nodes": host_count(one), "topology": one} for one in self.topologies]

    @property
    def _set_members(self) -> dict[str, str]:
        return _OF_JOBS if self.kind == "iteration" else _OF_HOSTS

    def optimum_request(self) -> OptimumRequest:
        """Return the optimum request for the topologies with a fault."""
        return OptimumRequest.model_validate(self.template)

    @property
    def parts_lost(self) -> list[PartName]:
        """The distinct kinds of lost parts; all kinds by default."""
        every: tuple[PartName, ...] = get_args(PartName)
        return [part for part in every if self.lost is None or part in self.lost]

    def canonical(self) -> dict[str, Any]:
        """Return the request as plain JSON values, with defaults, also in the template."""
        request = next(self.host_requests(), None) or self.optimum_request()
        rest = request.canonical()
        for name in self._set_members:
            rest.pop(name, None)
        if "port_gbps" in self.template and len(self.degrees) > 1:
            # node_gbps depends on the degree.
            del rest["node_gbps"]
            port = _RATE.validate_python(self.template["port_gbps"])
            rest["port_gbps"] = _RATE.dump_python(port, mode="json")
        lost = {"lost": self.parts_lost} if self.kind == "fault-analysis" else {}
        return {**super().canonical(), **lost, "question": rest}
