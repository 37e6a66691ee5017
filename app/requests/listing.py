"""Requests for lists, for the atlas and for the best known topology."""

from typing import Any, Self

from pydantic import StrictBool, StrictInt, field_validator, model_validator

from topoloom.app.requests.base import Bytes, Positive, Rational, Request
from topoloom.app.requests.designs import DesignRequest, FrontierRequest, TaskRequest, put_node_rate
from topoloom.app.requests.options import cluster, listing, sweeps_and_jobs
from topoloom.app.requests.options.collectives import CollectiveName
from topoloom.app.requests.options.listing import (
    FamilyName,
    FieldPaths,
    Label,
    LinkName,
    Moment,
    SortName,
)
from topoloom.app.store.listing import SORTS, Wanted
from topoloom.synth.naming.suggestions import did_you_mean

MAX_SIZES = 4096
"""Limit of the numbers of hosts in one request."""


def filter_of(request: Request, name: str) -> tuple[Any, Any, Any]:
    """Return the filter of a number: exact value, minimum, maximum."""
    exact = getattr(request, name, None)
    return exact, getattr(request, f"{name}_min"), getattr(request, f"{name}_max")


def require_value_or_range(request: Request, name: str) -> None:
    """Refuse a filter with both an exact value and a range, and a range that holds nothing."""
    exact, least, most = filter_of(request, name)
    if exact is not None and (least is not None or most is not None):
        raise ValueError(f"must have {name}, or {name}_min and {name}_max, not both")
    if least is not None and most is not None and most < least:
        raise ValueError(f"{name}_max must be at least {name}_min")


def matches(number: int, limits: tuple[Any, Any, Any]) -> bool:
    """Return whether a number passes a filter.

    >>> [matches(number, (None, 3, 5)) for number in (2, 3, 5, 6)]
    [False, True, True, False]
    """
    exact, least, most = limits
    return (
        exact in (None, number)
        and (least is None or least <= number)
        and (most is None or number <= most)
    )


class SizeFilter(Request):
    """Filter by nodes, degree and links; each number as a value or as a range."""

    nodes: StrictInt = listing.NODES[0].field()
    nodes_min: StrictInt = listing.NODES[1].field()
    nodes_max: StrictInt = listing.NODES[2].field()
    degree: StrictInt = listing.DEGREE[0].field()
    degree_min: StrictInt = listing.DEGREE[1].field()
    degree_max: StrictInt = listing.DEGREE[2].field()
    links: LinkName = listing.LINKS.field()

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        for name in SORTS:
            if f"{name}_min" in type(self).model_fields:
                require_value_or_range(self, name)
        return self


class ListRequest(SizeFilter):
    """Page, filters, order and members of a list of stored documents."""

    limit: StrictInt = sweeps_and_jobs.LIMIT.field()
    cursor: str = sweeps_and_jobs.CURSOR.field(max_length=400)
    sort: SortName = listing.SORT.field()
    steps: StrictInt = listing.STEPS[0].field()
    steps_min: StrictInt = listing.STEPS[1].field()
    steps_max: StrictInt = listing.STEPS[2].field()
    bandwidth: Rational = listing.BANDWIDTH[0].field()
    bandwidth_min: Rational = listing.BANDWIDTH[1].field()
    bandwidth_max: Rational = listing.BANDWIDTH[2].field()
    created_min: Moment = listing.CREATED[0].field()
    created_max: Moment = listing.CREATED[1].field()
    family: FamilyName = listing.FAMILY.field()
    label: Label = listing.LABEL.field()
    pinned: StrictBool = listing.PINNED.field()
    fields: FieldPaths = listing.FIELDS.field()

    @field_validator("family")
    @classmethod
    def _known(cls, family: str | None) -> str | None:
        """Return a family or an operator of recipes; refuse other names."""
        if family is not None:
            from topoloom.synth.families import FAMILIES
            from topoloom.synth.recipes.operators import OPERATORS

            known = [one.__name__ for one in (*FAMILIES, *OPERATORS)]
            if family not in (*known, "Boxes"):
                rule = f"no family is called {family!r}{did_you_mean(family, known)}"
                raise ValueError(f"{rule}; `topoloom catalog families` lists all")
        return family

    @property
    def wanted(self) -> Wanted:
        """Filters and order for the store."""
        ranges = {}
        for name in SORTS:
            exact, least, most = filter_of(self, name)
            ranges[name] = (least, most) if exact is None else (exact, exact)
        return Wanted(ranges, self.links, self.family, self.label, self.pinned, self.sort)


class AtlasRequest(SizeFilter):
    """Filter of the points of the packaged atlas."""

    def wants(self, nodes: int, degree: int, links: str) -> bool:
        """Return whether points of this size and kind of links pass the filter."""
        return self.links in (None, links) and all(
            matches(number, filter_of(self, name))
            for name, number in (("nodes", nodes), ("degree", degree))
        )


class BestRequest(Request):
    """Hosts, and the criterion of the best topology: a workload, or limits of steps and T_B."""

    nodes: StrictInt = listing.BEST_NODES[0].field()
    nodes_min: StrictInt = listing.BEST_NODES[1].field()
    nodes_max: StrictInt = listing.BEST_NODES[2].field()
    degree: StrictInt = cluster.DEGREE.field()
    links: LinkName = cluster.LINKS.field()
    max_steps: StrictInt = cluster.MAX_STEPS.field()
    max_bandwidth: Rational = listing.MAX_BANDWIDTH.field()
    collective: CollectiveName = cluster.COLLECTIVE.field()
    bytes: Bytes = cluster.DESIGN_BYTES.field()
    workload: list[TaskRequest] = listing.BEST_WORKLOAD.field()
    preset: str = cluster.PRESET.field(min_length=1, max_length=100)
    node_gbps: Positive = cluster.NODE_GBPS.field()
    port_gbps: Positive = cluster.PORT_GBPS.field()
    alpha_us: Positive = cluster.ALPHA_US.field()
    search: StrictBool = listing.SEARCH.field()
    limit: StrictInt = listing.CANDIDATES.field()

    @model_validator(mode="after")
    def _checked(self) -> "BestRequest":
        put_node_rate(self)
        ends = self.nodes_min, self.nodes_max
        if (self.nodes is None) == (None in ends) or (self.nodes is not None and any(ends)):
            raise ValueError("must have nodes, or nodes_min and nodes_max")
        if self.nodes is None and not 0 <= ends[1] - ends[0] < MAX_SIZES:
            raise ValueError(
                f"nodes_max must be at least nodes_min, and less than {MAX_SIZES} above it"
            )
        if self.search and self.nodes is None:
            raise ValueError("must have nodes together with search")
        if self.timed:
            self.design()
        return self

    @property
    def sizes(self) -> tuple[int, int]:
        """The smallest and the largest number of hosts."""
        if self.nodes is not None:
            return self.nodes, self.nodes
        return self.nodes_min, self.nodes_max

    @property
    def timed(self) -> bool:
        """Whether the request has a workload, or a part of one."""
        members = (self.collective, self.bytes, self.workload, self.preset)
        return any(member is not None for member in members)

    def design(self) -> DesignRequest:
        """Return the design request; for a range, with the smallest number of hosts."""
        names = ("collective", "bytes", "workload", "preset", "node_gbps", "alpha_us")
        return DesignRequest.model_validate(self._hosts() | self.canonical_part(names))

    def frontier(self) -> FrontierRequest:
        """Return the frontier request; for a range, with the smallest number of hosts."""
        return FrontierRequest.model_validate(self._hosts())

    def _hosts(self) -> dict[str, Any]:
        limits = self.canonical_part(("degree", "links", "max_steps"))
        return limits | {"nodes": self.sizes[0]}


class PageRequest(Request):
    """Page of a list."""

    limit: StrictInt = sweeps_and_jobs.LIMIT.field()
    cursor: str = sweeps_and_jobs.CURSOR.field(max_length=200)
