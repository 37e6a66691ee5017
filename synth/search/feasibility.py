"""Feasibility errors: the rule that a request breaks, and the nearest feasible sizes.

The functions never change a request; every error names the nearest numbers of hosts and ports
that keep the rule.
"""

from collections.abc import Callable
from fractions import Fraction

from topoloom.synth.errors import BeyondSearch, ImpossibleRequest, NoneKnown
from topoloom.synth.evaluation.cost import Links
from topoloom.synth.limits import MAX_DEGREE
from topoloom.synth.search import limits
from topoloom.synth.search.recipe_enumeration import Catalog, Constraints


def require_feasible(nodes: int, degree: int, links: Links, parallel_links: bool) -> None:
    """Raise unless graphs of this size, degree and kind of links exist and can be searched for.

    Raises:
        ImpossibleRequest: No such graph exists; the error names ``nodes`` or ``degree``, the rule
            and nearby sizes.
        BeyondSearch: More than `MAX_NODES` hosts or `MAX_DEGREE` ports.

    >>> require_feasible(31, 3, Links.BIDIRECTIONAL, False)
    Traceback (most recent call last):
    ...
    topoloom.synth.errors.ImpossibleRequest: degree: nodes * degree must be even, as a two-way \
link takes a port at both its ends; got 31 * 3; near are 30 or 32 nodes of degree 3, and degree 2 \
or 4 for 31 nodes (2 leaves a port of every host idle, and with it 1/3 of its bandwidth)
    """
    for field, number, least, most in (
        ("nodes", nodes, 2, limits.MAX_NODES),
        ("degree", degree, 1, MAX_DEGREE),
    ):
        if number < least:
            raise ImpossibleRequest(field, f"must be at least {least}; got {number}")
        if number > most:
            raise BeyondSearch(field, f"must be at most {most}; got {number}")
    if degree >= nodes and not parallel_links:
        raise ImpossibleRequest(
            "degree",
            f"must be less than nodes = {nodes} unless parallel links are allowed; near are "
            f"degree {nodes - 1} and, for degree {degree}, {degree + 1} nodes",
        )
    if links is Links.BIDIRECTIONAL:
        _require_pairs_of_ports(nodes, degree, parallel_links)


def _require_pairs_of_ports(nodes: int, degree: int, parallel_links: bool) -> None:
    """Raise unless two-way links can take all ports, each a port at both its ends."""
    if degree == 1 and nodes > 2:
        raise ImpossibleRequest(
            "degree",
            f"must be at least 2: two-way links of degree 1 join 2 nodes only, not {nodes}; near "
            f"is degree 2, or one-way links of degree 1",
        )
    if nodes * degree % 2 == 0:
        return
    # Both are odd, and the degree is 3 or more.
    least = 2 if parallel_links else degree + 1
    sizes = [str(near) for near in (nodes - 1, nodes + 1) if least <= near <= limits.MAX_NODES]
    most = MAX_DEGREE if parallel_links else min(MAX_DEGREE, nodes - 1)
    degrees = [str(near) for near in (degree - 1, degree + 1) if near <= most]
    raise ImpossibleRequest(
        "degree",
        "nodes * degree must be even, as a two-way link takes a port at both its ends; got "
        f"{nodes} * {degree}; near are {' or '.join(sizes)} nodes of degree {degree}, and degree "
        f"{' or '.join(degrees)} for {nodes} nodes ({degree - 1} leaves a port of every host "
        f"idle, and with it {Fraction(1, degree)} of its bandwidth)",
    )


def none_known(constraints: Constraints, nodes: int, degree: int) -> NoneKnown:
    """Return the error that no topology of this size satisfies the constraints.

    The error suggests sizes at which a base fits, at most 64 more or fewer hosts or ports;
    nothing is measured.

    >>> print(none_known(Constraints(families=frozenset({"Hypercube"})), 31, 4))
    families: must leave some topology of 31 nodes of degree 4; none is known; near are 16 nodes \
of degree 4
    """
    if constraints.families is not None:
        field = "families"
    else:
        field = "vertex_transitive" if constraints.vertex_transitive else "degree"
    sizes = _nearest(nodes, lambda near: _has_base(constraints, near, degree))
    degrees = _nearest(degree, lambda near: _has_base(constraints, nodes, near))
    near = []
    if sizes:
        near.append(f"{' or '.join(map(str, sizes))} nodes of degree {degree}")
    if degrees:
        near.append(f"degree {' or '.join(map(str, degrees))} for {nodes} nodes")
    none = f", nor any within {limits.MAX_SUGGESTION_DISTANCE} of it"
    said = f"; near are {', and '.join(near)}" if near else none
    size = f"{nodes} nodes of degree {degree}"
    return NoneKnown(field, f"must leave some topology of {size}; none is known{said}")


def _has_base(constraints: Constraints, nodes: int, degree: int) -> bool:
    """Return whether some base of this size satisfies the constraints."""
    links = Links.BIDIRECTIONAL if constraints.bidirectional else Links.UNIDIRECTIONAL
    try:
        require_feasible(nodes, degree, links, constraints.parallel_links)
    except ImpossibleRequest:
        return False
    return Catalog(constraints, nodes, degree).has_base()


def _nearest(number: int, fits: Callable[[int], bool]) -> list[int]:
    """Return the nearest smaller and the nearest larger number that fit, if any."""
    smaller = range(number - 1, max(0, number - limits.MAX_SUGGESTION_DISTANCE - 1), -1)
    larger = range(number + 1, number + limits.MAX_SUGGESTION_DISTANCE + 1)
    found = (next(filter(fits, tried), None) for tried in (smaller, larger))
    return [near for near in found if near is not None]
