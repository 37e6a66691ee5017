"""Requests for sweeps: over sizes, or over the single faults of a topology."""

import re
from collections.abc import Iterator
from itertools import product
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
from topoloom.app.requests.options import sweeps_and_jobs
from topoloom.app.requests.options.sweeps_and_jobs import PartName
from topoloom.app.requests.schedules import OptimumRequest
from topoloom.app.requests.topology_source import TopologySource
from topoloom.synth.limits import MAX_DEGREE, MAX_HOSTS

SweepKind = Literal["sizes", "workload", "fault-analysis"]

MAX_PARTS = 2_000
"""Limit of the requests in one sweep."""

_RANGE = re.compile(r"^[0-9]{1,7}(:[0-9]{1,7}){0,2}$", re.ASCII)


def _numbers(value: Any) -> Any:
    """Return the distinct numbers of a list of numbers and ranges, sorted."""
    if not isinstance(value, list):
        return value
    numbers: set[int] = set()
    for entry in value:
        numbers.update(_expanded(entry))
        if len(numbers) > MAX_PARTS:
            raise ValueError(f"must have at most {MAX_PARTS} numbers")
    return sorted(numbers)


def _expanded(entry: Any) -> range:
    """Return the numbers of a list entry.

    >>> list(_expanded("8:20:4")), list(_expanded(7))
    ([8, 12, 16, 20], [7])
    """
    text = str(entry) if isinstance(entry, int) and not isinstance(entry, bool) else entry
    if not isinstance(text, str) or _RANGE.fullmatch(text) is None:
        raise ValueError("must be numbers, or inclusive ranges FROM:TO or FROM:TO:STEP")
    first, *more = map(int, text.split(":"))
    last, step = (*more, 1)[:2] if more else (first, 1)
    if step == 0:
        raise ValueError("must have a STEP of at least 1")
    return range(first, last + 1, step)


def _listed(least: int, most: int) -> Any:
    entry = {"type": "integer", "minimum": least, "maximum": most}
    ranged = {"type": "string", "pattern": _RANGE.pattern}
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

_RATE = TypeAdapter(Positive)
_OF_EVERY = {"/nodes": "/nodes", "/degree": "/degrees"}
"""Pointer in one request of a sweep -> pointer in the sweep, for members that the sweep sets."""
_HOSTS = ("nodes", "degrees")
_TAKEN = {"sizes": _HOSTS, "workload": _HOSTS, "fault-analysis": ("topology",)}


class SweepRequest(Request):
    """Sweep over sizes, over times by size, or over single faults."""

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
                {"kind": "fault-analysis", "topology": {"fabric": "dgx-a100-2"}},
            ]
        },
    )

    former = ("over", "question")

    kind: SweepKind = Field(
        description="sizes: the frontier of each size; workload: the best design of each size for "
        "a workload; fault-analysis: the optimum after the loss of each single link, host or switch"
    )
    nodes: Sizes = sweeps_and_jobs.SWEEP_NODES.field(min_length=1)
    degrees: Degrees = sweeps_and_jobs.SWEEP_DEGREES.field(min_length=1)
    topology: TopologySource = optional("fault-analysis: topology that loses parts")
    lost: list[PartName] = sweeps_and_jobs.LOST.field(min_length=1)
    template: dict[str, Any] = Field(
        default={},
        description="other members of each request: for sizes, of POST /v1/frontiers; for "
        "workload, of POST /v1/designs; for fault-analysis, of POST /v1/optima",
    )

    @model_validator(mode="after")
    def _whole(self) -> "SweepRequest":
        required = _TAKEN[self.kind]
        for name in ("nodes", "degrees", "topology"):
            if (getattr(self, name) is None) == (name in required):
                rule = "must have" if name in required else "must not have"
                raise ValueError(f"{rule} {name} if kind is {self.kind}")
        of_hosts = self.kind != "fault-analysis"
        if of_hosts and self.lost is not None:
            raise ValueError(f"must not have lost if kind is {self.kind}")
        if of_hosts and len(self.nodes) * len(self.degrees) > MAX_PARTS:
            raise ValueError(f"must have at most {MAX_PARTS} requests, nodes times degrees")
        try:
            request = next(self.host_requests(), None) or self.optimum_request()
        except ValidationError as error:
            first = field_errors(error)[0]
            place = _OF_EVERY.get(first.pointer, f"/template{first.pointer}")
            raise PlacedError(place, first.detail) from None
        if isinstance(request, OptimumRequest) and request.collective == "all-to-all":
            raise PlacedError("/template/collective", "must not be all-to-all")
        if isinstance(request, OptimumRequest) and request.values is not None:
            raise PlacedError("/template/values", "must be absent")
        if isinstance(request, OptimumRequest) and request.groups is not None:
            raise PlacedError("/template/groups", "must be absent")
        return self

    def host_requests(self) -> "Iterator[FrontierRequest | DesignRequest]":
        """Yield the request of each size; nothing for a fault analysis."""
        if self.kind == "fault-analysis":
            return
        model = FrontierRequest if self.kind == "sizes" else DesignRequest
        for degree, nodes in product(self.degrees, self.nodes):
            yield model.model_validate({**self.template, "nodes": nodes, "degree": degree})

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
        for name in ("nodes", "degree"):
            rest.pop(name, None)
        if "port_gbps" in self.template and len(self.degrees) > 1:
            # node_gbps depends on the degree.
            del rest["node_gbps"]
            port = _RATE.validate_python(self.template["port_gbps"])
            rest["port_gbps"] = _RATE.dump_python(port, mode="json")
        lost = {"lost": self.parts_lost} if self.kind == "fault-analysis" else {}
        return {**super().canonical(), **lost, "question": rest}
