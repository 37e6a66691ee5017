"""What may be asked of what is known: lists, filtered and sorted, and the best there is."""

from typing import Any, Self

from pydantic import StrictBool, StrictInt, model_validator

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

MAX_SIZES = 4096
"""So many numbers of hosts may be asked for at once."""


def said_of(request: Request, name: str) -> tuple[Any, Any, Any]:
    """Return what a request says of a number: exactly, at least, at most."""
    exact = getattr(request, name, None)
    return exact, getattr(request, f"{name}_min"), getattr(request, f"{name}_max")


def require_one_way(request: Request, name: str) -> None:
    """Refuse a number that is said exactly and by limits."""
    exact, least, most = said_of(request, name)
    if exact is not None and (least is not None or most is not None):
        raise ValueError(f"must have {name}, or {name}_min and {name}_max, not both")


def lies_within(number: int, said: tuple[Any, Any, Any]) -> bool:
    """Return whether a number is what was said of it.

    >>> [lies_within(number, (None, 3, 5)) for number in (2, 3, 5, 6)]
    [False, True, True, False]
    """
    exact, least, most = said
    return (
        exact in (None, number)
        and (least is None or least <= number)
        and (most is None or number <= most)
    )


class SizeFilter(Request):
    """Which sizes are meant, and which links: each number said exactly, or by limits."""

    nodes: StrictInt = listing.NODES[0].field()
    nodes_min: StrictInt = listing.NODES[1].field()
    nodes_max: StrictInt = listing.NODES[2].field()
    degree: StrictInt = listing.DEGREE[0].field()
    degree_min: StrictInt = listing.DEGREE[1].field()
    degree_max: StrictInt = listing.DEGREE[2].field()
    links: LinkName = listing.LINKS.field()

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        for name in SORTS:
            if name in type(self).model_fields:
                require_one_way(self, name)
        return self


class ListRequest(SizeFilter):
    """Which page of what is stored, of which entries, in which order."""

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

    @property
    def wanted(self) -> Wanted:
        """Which entries, in which order."""
        ranges = {}
        for name in SORTS:
            exact, least, most = said_of(self, name)
            ranges[name] = (least, most) if exact is None else (exact, exact)
        chosen = (self.links, self.family, self.label, self.pinned, self.sort)
        return Wanted(ranges, *chosen)


class AtlasRequest(SizeFilter):
    """Which points of the atlas that comes with the package."""

    def wants(self, nodes: int, degree: int, links: str) -> bool:
        """Return whether points of this size and kind of links are asked for."""
        return self.links in (None, links) and all(
            lies_within(number, said_of(self, name))
            for name, number in (("nodes", nodes), ("degree", degree))
        )


class BestRequest(Request):
    """Which hosts, and what is wanted of them: a workload, or limits on steps and bandwidth."""

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
            raise ValueError("search must be left out where nodes is: it is of one number of hosts")
        if self.timed:
            self.design()
        return self

    @property
    def sizes(self) -> tuple[int, int]:
        """The least and the largest number of hosts."""
        if self.nodes is not None:
            return self.nodes, self.nodes
        return self.nodes_min, self.nodes_max

    @property
    def timed(self) -> bool:
        """Whether a workload is said, even in part."""
        said = (self.collective, self.bytes, self.workload, self.preset)
        return any(one is not None for one in said)

    def design(self) -> DesignRequest:
        """Return the same question to a design; of a range, of the least number of hosts."""
        names = ("collective", "bytes", "workload", "preset", "node_gbps", "alpha_us")
        return DesignRequest.model_validate(self._hosts() | self.canonical_part(names))

    def frontier(self) -> FrontierRequest:
        """Return the same question to a frontier; of a range, of the least number of hosts."""
        return FrontierRequest.model_validate(self._hosts())

    def _hosts(self) -> dict[str, Any]:
        limits = self.canonical_part(("degree", "links", "max_steps"))
        return limits | {"nodes": self.sizes[0]}


class PageRequest(Request):
    """Which page of a list."""

    limit: StrictInt = sweeps_and_jobs.LIMIT.field()
    cursor: str = sweeps_and_jobs.CURSOR.field(max_length=200)
