"""The best topologies for so many hosts of so many ports: the exact Pareto frontier.

The search works on what theorems claim and measures what it returns.
"""

from dataclasses import dataclass

from synth.candidates import Candidate, Catalogue, measured_unless_dominated, undominated
from synth.cost import Cost, Links, lower_bound
from synth.errors import ClaimBroken, ImpossibleRequest
from synth.measure import MAX_DEGREE
from synth.recipe import Recipe

__all__ = ["MAX_NODES", "Frontier", "Point", "frontier"]

MAX_NODES = 16_384


@dataclass(frozen=True, slots=True)
class Point:
    """A topology of the frontier and its measured costs.

    ``transpose`` is the cost of the allgather on the transposed graph, that is, of the
    reduce-scatter on the graph itself.
    """

    recipe: Recipe
    cost: Cost
    transpose: Cost


@dataclass(frozen=True, slots=True)
class Frontier:
    """The undominated topologies found for a size, by increasing steps, and the bounds."""

    nodes: int
    degree: int
    links: Links
    bounds: Cost
    points: tuple[Point, ...]


def frontier(
    nodes: int,
    degree: int,
    links: Links = Links.UNIDIRECTIONAL,
    *,
    parallel_links: bool = False,
) -> Frontier:
    """Return the Pareto frontier of latency and bandwidth that the catalogue reaches.

    Parameters
    ----------
    nodes : int
        N, from 2 to `MAX_NODES`.
    degree : int
        d, ports of each host, from 1 to 62.  Every topology returned has this degree;
        where it has loops or odd sizes to spare, a node may leave a port unused.
    links : Links
        Whether every link must have a partner the other way.
    parallel_links : bool
        Allow several links from one node to the same other node.

    Returns
    -------
    Frontier
        Never empty.  No point is dominated: another no worse in steps and bandwidth, on
        the graph and on its transpose, and better in one.  All costs are measured.

    Raises
    ------
    ImpossibleRequest
        No such graph exists, or the size is beyond the limits.
    ClaimBroken
        A graph measures worse than its theorem: a bug.

    Notes
    -----
    The recursion over divisors of N and d compares claims only (`synth.candidates`);
    what survives is built and measured.  The frontier is that of the catalogue, not of
    all graphs: `bounds` tells how far it can be from the best.

    References
    ----------
    Zhao et al., arXiv:2202.03356, topology finder.

    Examples
    --------
    >>> for point in frontier(12, 4).points:
    ...     print(point.recipe, point.cost.steps, point.cost.bandwidth)
    Circulant(12, 2, 3) 2 11/12
    """
    _require_possible(nodes, degree, links, parallel_links)
    catalogue = Catalogue(bidirectional=links is Links.BIDIRECTIONAL, parallel_links=parallel_links)
    measured = [_measured(one) for one in catalogue.front(nodes, degree)]
    points = tuple(Point(one.recipe, *one.costs) for one in undominated(measured))
    return Frontier(nodes, degree, links, lower_bound(nodes, degree, links), points)


def _measured(candidate: Candidate) -> Candidate:
    """Return the candidate with costs measured on the built graph."""
    if candidate.measured:
        return candidate
    (measured,) = measured_unless_dominated(candidate.recipe, ())
    for cost, claim in zip(measured.costs, candidate.claims, strict=True):
        worse = cost.steps > claim.steps or cost.bandwidth > claim.bandwidth
        if worse or (claim.exact and cost != claim.cost):
            raise ClaimBroken(str(candidate.recipe), f"must cost {claim}, but costs {cost}")
    return measured


def _require_possible(nodes: int, degree: int, links: Links, parallel_links: bool) -> None:
    if nodes < 2:
        raise ImpossibleRequest("nodes", f"must be at least 2; got {nodes}")
    if nodes > MAX_NODES:
        raise ImpossibleRequest("nodes", f"must be at most {MAX_NODES}; got {nodes}")
    if degree < 1:
        raise ImpossibleRequest("degree", f"must be at least 1; got {degree}")
    if degree > MAX_DEGREE:
        raise ImpossibleRequest("degree", f"must be at most {MAX_DEGREE}; got {degree}")
    if degree >= nodes and not parallel_links:
        raise ImpossibleRequest(
            "degree", f"must be less than nodes = {nodes} unless parallel links are allowed"
        )
    if links is Links.BIDIRECTIONAL:
        if nodes * degree % 2:
            raise ImpossibleRequest(
                "degree", "nodes * degree must be even: a bidirectional link takes two ports"
            )
        if degree == 1 and nodes > 2:
            raise ImpossibleRequest(
                "degree", "must be at least 2: bidirectional links of degree 1 join 2 nodes only"
            )
