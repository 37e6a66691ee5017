"""From a recipe to what is known of it, and to the topology itself."""

from functools import lru_cache

import numpy as np

from synth.bases import Ends, family
from synth.cost import Claim
from synth.errors import ClaimBroken, InvalidRecipe
from synth.expansions import bidirected, cartesian, degree, line_graph
from synth.expansions.traits import Traits
from synth.limits import require_size
from synth.names import short_name
from synth.recipe import (
    MAX_DEPTH,
    MAX_TEXT,
    Base,
    Bidirected,
    DegreeExpansion,
    LineGraph,
    Power,
    Product,
    Recipe,
)
from synth.topology import Topology

__all__ = [
    "build",
    "claim_of",
    "has_parallel_links",
    "is_bidirectional",
    "is_regular",
    "is_vertex_transitive",
    "size",
    "traits",
]


def build(recipe: Recipe) -> Topology:
    """Return the topology of a recipe: nodes 0..n-1, unit links, with its short name.

    Raises
    ------
    InvalidRecipe
        A family is unknown, or the recipe nests too deep.
    OutOfDomain
        An argument is outside the domain of its construction, or the topology would
        pass the limits of `synth.limits`.  Nothing is built in that case.
    ClaimBroken
        The graph is not what its construction promises: a bug.

    Notes
    -----
    How nodes are numbered is said at every family and operator; the same recipe always
    gives the same topology.  O(links log links).

    Examples
    --------
    >>> from synth.recipe import parse
    >>> build(parse("Product(UniRing(4), UniRing(8))"))
    <Topology prod-uniring-uniring-32x2-2808: 32 compute, 64 links>
    """
    promised = traits(recipe)
    nodes, (sources, targets) = _construct(recipe)
    name = short_name(recipe, promised.nodes, promised.degree)
    topology = Topology.direct(nodes, sources, targets, name=name, recipe=recipe)
    _compare(recipe, "nodes", promised.nodes, topology.node_count)
    _compare(recipe, "degree", promised.degree, topology.degree)
    _compare(recipe, "regular", promised.regular, topology.is_regular)
    _compare(recipe, "parallel links", promised.parallel, topology.has_parallel_links)
    return topology


def size(recipe: Recipe) -> tuple[int, int]:
    """Return (nodes, degree) without building; raises what `build` raises for bad recipes.

    >>> from synth.recipe import parse
    >>> size(parse("LineGraph(3, Circulant(16, 3, 4))"))
    (1024, 4)
    """
    found = traits(recipe)
    return found.nodes, found.degree


def is_bidirectional(recipe: Recipe) -> bool:
    """Return whether every link has a partner the other way; nothing is built.

    >>> from synth.recipe import parse
    >>> is_bidirectional(parse("Power(2, BiRing(5))")), is_bidirectional(parse("UniRing(3)"))
    (True, False)
    """
    return traits(recipe).bidirectional


def has_parallel_links(recipe: Recipe) -> bool:
    """Return whether some two links have the same source and target; nothing is built.

    >>> from synth.recipe import parse
    >>> has_parallel_links(parse("UniRing(5, 2)"))
    True
    """
    return traits(recipe).parallel


def is_regular(recipe: Recipe) -> bool:
    """Return whether every node has as many links in and out as the degree says.

    >>> from synth.recipe import parse
    >>> is_regular(parse("DeBruijn(2, 3)")), is_regular(parse("Kautz(2, 3)"))
    (False, True)
    """
    return traits(recipe).regular


def is_vertex_transitive(recipe: Recipe) -> bool:
    """Return True where it is proved that automorphisms take any node to any other.

    False means unknown.

    >>> from synth.recipe import parse
    >>> is_vertex_transitive(parse("DegreeExpansion(2, Torus(3, 4))"))
    True
    """
    return traits(recipe).vertex_transitive


def traits(recipe: Recipe) -> Traits:
    """Return all that is known of a topology before it is built; raises as `build`."""
    _require_shallow(recipe)
    return _traits(recipe)


def claim_of(recipe: Recipe, *, transposed: bool) -> Claim | None:
    """Return what is proved of the cost; see `synth.cost.claim`."""
    _require_shallow(recipe)
    _traits(recipe)
    return _claim(recipe, transposed)


@lru_cache(maxsize=4096)
def _base_traits(recipe: Base) -> Traits:
    member, arguments = family(recipe.family), recipe.arguments
    nodes, ports = member.size(arguments)
    require_size(nodes, ports)
    return Traits(
        nodes,
        ports,
        bidirectional=member.bidirectional(arguments),
        parallel=member.parallel(arguments),
        regular=member.regular(arguments),
        vertex_transitive=member.vertex_transitive(arguments),
    )


def _traits(recipe: Recipe) -> Traits:
    match recipe:
        case Base(name, arguments):
            # Outside the cache, to which True and 1.0 look like 1.
            family(name).check(arguments)
            return _base_traits(recipe)
        case LineGraph(times, of):
            found = line_graph.traits(_traits(of), times)
        case DegreeExpansion(factor, of):
            found = degree.traits(_traits(of), factor)
        case Power(times, of):
            found = cartesian.power_traits(_traits(of), times)
        case Product(factors):
            found = cartesian.traits([_traits(of) for of in factors])
        case Bidirected(of):
            require_size(_traits(of).nodes, 2 * _traits(of).degree)
            found = bidirected.traits(_traits(of), _degrees(recipe))
        case _:
            raise InvalidRecipe("recipe", f"must be a recipe, not {type(recipe).__name__}")
    require_size(found.nodes, found.degree)
    return found


def _claim(recipe: Recipe, transposed: bool) -> Claim | None:
    match recipe:
        case Base(name, arguments):
            member = family(name)
            return member.claim_transpose(arguments) if transposed else member.claim(arguments)
        case LineGraph(times, LineGraph(more, of)):
            return _claim(LineGraph(times + more, of), transposed)
        case LineGraph(times, of):
            claimed = _claim(of, transposed)
            return claimed and line_graph.claim(claimed, _traits(of), times)
        case DegreeExpansion(factor, of):
            claimed = _claim(of, transposed)
            return claimed and degree.claim(claimed, _traits(of), factor)
        case Power(times, of):
            claimed = _claim(of, transposed)
            return claimed and cartesian.claim([claimed], [_traits(of)] * times)
        case Product(factors):
            claims = [_claim(of, transposed) for of in factors]
            known = [claimed for claimed in claims if claimed is not None]
            if len(known) < len(claims):
                return None
            return cartesian.claim(known, [_traits(of) for of in factors])
        case Bidirected():
            return None


@lru_cache(maxsize=4096)
def _degrees(recipe: Bidirected) -> tuple[int, int]:
    """Return the least and the largest degree, which depend on links there and back."""
    nodes, (sources, _) = _construct(recipe)
    degrees = np.bincount(sources, minlength=nodes)
    return int(degrees.min()), int(degrees.max())


def _construct(recipe: Recipe) -> tuple[int, Ends]:
    """Return nodes and links; every part is smaller than the whole, which fits the limits."""
    match recipe:
        case Base(name, arguments):
            member = family(name)
            return member.size(arguments)[0], member.links(arguments)
        case LineGraph(times, of):
            return line_graph.links(*_construct(of), times)
        case DegreeExpansion(factor, of):
            return degree.links(*_construct(of), factor)
        case Power(times, of):
            return cartesian.links([_construct(of)] * times)
        case Product(factors):
            return cartesian.links([_construct(of) for of in factors])
        case Bidirected(of):
            nodes, ends = _construct(of)
            return nodes, bidirected.links(nodes, ends)


def _compare(recipe: Recipe, what: str, promised: int, found: int) -> None:
    if promised != found:
        raise ClaimBroken(str(recipe), f"must have {what} = {promised}, but has {found}")


def _require_shallow(recipe: Recipe) -> None:
    """Raise unless the recipe nests no deeper than its grammar allows."""
    level: list[Recipe] = [recipe]
    for _ in range(MAX_DEPTH + 1):
        below: list[Recipe] = []
        for part in level:
            if isinstance(part, LineGraph | DegreeExpansion | Power | Bidirected):
                below.append(part.of)
            elif isinstance(part, Product):
                below.extend(part.factors)
        if not below:
            return
        if len(below) > MAX_TEXT:
            raise InvalidRecipe("recipe", f"must have at most {MAX_TEXT} parts")
        level = below
    raise InvalidRecipe("recipe", f"must nest at most {MAX_DEPTH} deep")
