"""One question asked of many: of a range of sizes, or of a topology without each of its parts."""

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

SweepName = Literal["sizes", "time", "faults"]

MAX_PARTS = 2_000
"""Most questions of one sweep."""

_RANGE = re.compile(r"^[0-9]{1,7}(:[0-9]{1,7}){0,2}$", re.ASCII)


def _numbers(value: Any) -> Any:
    """Return the numbers of a list of numbers and ranges, each once, sorted."""
    if not isinstance(value, list):
        return value
    found: set[int] = set()
    for entry in value:
        found.update(_expanded(entry))
        if len(found) > MAX_PARTS:
            raise ValueError(f"must hold at most {MAX_PARTS} numbers")
    return sorted(found)


def _expanded(entry: Any) -> range:
    """Return the numbers that an entry stands for.

    >>> list(_expanded("8:20:4")), list(_expanded(7))
    ([8, 12, 16, 20], [7])
    """
    text = str(entry) if isinstance(entry, int) and not isinstance(entry, bool) else entry
    if not isinstance(text, str) or _RANGE.fullmatch(text) is None:
        raise ValueError("must be numbers, or ranges FROM:TO or FROM:TO:STEP, both ends included")
    first, *more = map(int, text.split(":"))
    last, step = (*more, 1)[:2] if more else (first, 1)
    if step == 0:
        raise ValueError("must not step by 0")
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
"""Names in a sweep's questions of the members that the sweep fills in."""
_TAKEN = {"sizes": ("nodes", "degrees"), "time": ("nodes", "degrees"), "faults": ("topology",)}


class SweepRequest(Request):
    """What is asked, and of what: sizes, time over sizes, or each single part lost."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "examples": [
                {"over": "sizes", "nodes": ["8:32:8"], "degrees": [2, 4]},
                {
                    "over": "time",
                    "nodes": [8, 12],
                    "degrees": [4],
                    "question": {"collective": "allreduce", "bytes": "1MB"},
                },
                {"over": "faults", "topology": {"fabric": "dgx-a100-2"}},
            ]
        },
    )

    over: SweepName = Field(
        description="sizes: the frontier of every size; time: the best design of every size for "
        "a workload; faults: the optimum after every single link, host or switch lost"
    )
    nodes: Sizes = sweeps_and_jobs.SWEEP_NODES.field(min_length=1)
    degrees: Degrees = sweeps_and_jobs.SWEEP_DEGREES.field(min_length=1)
    topology: TopologySource = optional("faults: which topology loses parts")
    lost: list[PartName] = sweeps_and_jobs.LOST.field(min_length=1)
    question: dict[str, Any] = Field(
        default={},
        description="the rest of every question: for sizes as POST /v1/frontiers takes it, for "
        "time as POST /v1/designs, for faults as the optimum of a topology",
    )

    @model_validator(mode="after")
    def _whole(self) -> "SweepRequest":
        wanted = _TAKEN[self.over]
        for name in ("nodes", "degrees", "topology"):
            if (getattr(self, name) is None) == (name in wanted):
                must = "be given" if name in wanted else "be left out"
                raise ValueError(f"{name} must {must} where over is {self.over}")
        if self.over != "faults" and self.lost is not None:
            raise ValueError(f"lost must be left out where over is {self.over}")
        if self.over != "faults" and len(self.nodes) * len(self.degrees) > MAX_PARTS:
            raise ValueError(f"must ask at most {MAX_PARTS} questions, nodes times degrees")
        try:
            asked = next(self.hosts_asked(), None) or self.optimum_asked()
        except ValidationError as error:
            found = field_errors(error)[0]
            place = _OF_EVERY.get(found.pointer, f"/question{found.pointer}")
            raise PlacedError(place, found.detail) from None
        if isinstance(asked, OptimumRequest) and asked.collective == "all-to-all":
            raise PlacedError("/question/collective", "must not be all-to-all")
        if isinstance(asked, OptimumRequest) and asked.values is not None:
            raise PlacedError("/question/values", "must be left out")
        return self

    def hosts_asked(self) -> "Iterator[FrontierRequest | DesignRequest]":
        """Yield the question of every size; none of faults."""
        if self.over == "faults":
            return
        model = FrontierRequest if self.over == "sizes" else DesignRequest
        for degree, nodes in product(self.degrees, self.nodes):
            yield model.model_validate({**self.question, "nodes": nodes, "degree": degree})

    def optimum_asked(self) -> OptimumRequest:
        """Return the question that is asked of every topology with a fault."""
        return OptimumRequest.model_validate(self.question)

    @property
    def parts_lost(self) -> list[PartName]:
        """Which kinds of parts are lost, each once: all where none is said."""
        every: tuple[PartName, ...] = get_args(PartName)
        return [part for part in every if self.lost is None or part in self.lost]

    def canonical(self) -> dict[str, Any]:
        """Return the request as plain JSON values, defaults filled in, in the question too."""
        asked = next(self.hosts_asked(), None) or self.optimum_asked()
        rest = asked.canonical()
        for name in ("nodes", "degree"):
            rest.pop(name, None)
        if "port_gbps" in self.question and len(self.degrees) > 1:
            # Each degree has a node_gbps of its own.
            del rest["node_gbps"]
            port = _RATE.validate_python(self.question["port_gbps"])
            rest["port_gbps"] = _RATE.dump_python(port, mode="json")
        lost = {"lost": self.parts_lost} if self.over == "faults" else {}
        return {**super().canonical(), **lost, "question": rest}
