"""Cayley digraphs over several kinds of groups, voltage lifts, and digraphs arc by arc.

What is known of the cost of a member stands in the atlas of discovered bases
(`synth.discovery.atlas`); members that are not there must be measured.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from synth.bases.family import Arguments, Ends, Family, require
from synth.cost import Claim
from synth.discovery.atlas import bundled
from synth.errors import OutOfDomain
from synth.groups import Alternating, Group, Linear, MatrixExtension, Metacyclic, Nested
from synth.limits import MAX_NODES, capped_power, capped_product
from synth.recipe import Base
from synth.voltage import VoltageGraph

__all__ = [
    "Cayley",
    "CayleyAlternating",
    "CayleyLinear",
    "CayleyMatrix",
    "CayleyMetacyclic",
    "CayleyNested",
    "CayleySymmetric",
    "Digraph",
    "Lift",
]


class _Lifted(Family):
    """What all families of lifts share: arguments become a voltage graph."""

    @abstractmethod
    def graph(self, arguments: Arguments) -> VoltageGraph:
        """Return the voltage graph; raises `OutOfDomain` for a bad group or bad counts."""
        raise NotImplementedError

    def check_domain(self, arguments: Arguments) -> None:
        """Check the group, then that the lift is a connected regular graph without loops."""
        broken = _broken_rule(self, arguments)
        if broken:
            raise OutOfDomain(*broken)

    def size(self, arguments: Arguments) -> tuple[int, int]:
        """Group elements times vertices; arcs that leave a vertex."""
        graph = self.graph(arguments)
        return graph.nodes, graph.degree

    def links(self, arguments: Arguments) -> Ends:
        """As `VoltageGraph.links`."""
        return self.graph(arguments).links()

    def bidirectional(self, arguments: Arguments) -> bool:
        """Every arc has a partner of inverse voltage."""
        return self.graph(arguments).bidirectional

    def parallel(self, arguments: Arguments) -> bool:
        """Two arcs with the same ends have the same voltage."""
        return self.graph(arguments).parallel

    def vertex_transitive(self, arguments: Arguments) -> bool:
        """Of one vertex the lift is a Cayley digraph: multiplication from the left."""
        return self.graph(arguments).vertices == 1

    def representatives(self, arguments: Arguments) -> Sequence[int]:
        """Return one node over each vertex: the group moves the others to it."""
        graph = self.graph(arguments)
        return range(0, graph.nodes, graph.group.order)

    def translations(self, arguments: Arguments) -> NDArray[np.int64]:
        """Multiply from the left: element g takes (s, x) to (s, g x)."""
        graph = self.graph(arguments)
        order = graph.group.order
        left = np.stack([graph.group.right(x) for x in range(order)], axis=1)
        over = np.arange(graph.vertices) * order
        return (over[None, :, None] + left[:, None, :]).reshape(order, graph.nodes)

    def matching(self, nodes: int, degree: int) -> Iterator[Base]:
        """Yield the members of the atlas."""
        for entry in bundled().of_size(nodes, degree):
            if entry.recipe.startswith(f"{self.name}("):
                yield entry.base

    def claim(self, arguments: Arguments) -> Claim | None:
        """Return what was measured when the member was found."""
        entry = bundled().entry(Base(self.name, arguments))
        return entry and Claim(entry.cost.steps, entry.cost.bandwidth, exact=True)

    def claim_transpose(self, arguments: Arguments) -> Claim | None:
        """Return what was measured on the transpose when the member was found."""
        entry = bundled().entry(Base(self.name, arguments))
        return entry and Claim(entry.transpose.steps, entry.transpose.bandwidth, exact=True)


@lru_cache(maxsize=4096)
def _broken_rule(family: _Lifted, arguments: Arguments) -> tuple[str, str] | None:
    """Return the parameter and the rule that the arguments break, or None."""
    try:
        graph = family.graph(arguments)
        rules = (
            ("loops", not graph.loops, "must make no link from a node to itself"),
            ("heads", graph.balanced, "must enter every vertex as often as leave it"),
            ("generators", graph.connected, "must connect all nodes"),
        )
        for field, holds, rule in rules:
            require(holds, field, rule)
    except OutOfDomain as refused:
        return refused.field, refused.rule
    return None


def _cayley(group: Group, generators: Arguments) -> VoltageGraph:
    _require_elements("generators", generators, group)
    return VoltageGraph(group, 1, (0,) * len(generators), generators)


def _require_elements(field: str, elements: Arguments, group: Group) -> None:
    require(bool(elements), field, "must be at least one")
    require(
        all(0 <= element < group.order for element in elements),
        field,
        f"must be elements 0 to {group.order - 1} of the group",
    )


def _require_small(*factors: int) -> None:
    """Refuse what would pass the limits before anything of its size is made."""
    for factor in factors:
        require(factor >= 1, "order", "must be a product of positive factors")
    require(capped_product(*factors) <= MAX_NODES, "order", f"must be at most {MAX_NODES}")


class Cayley(_Lifted):
    """Cayley(b, r, a, g, ...): x -> x g for generators g in Z_b extended by Z_a acting by r.

    The element x + b i is (x, i), see `synth.groups.Metacyclic`.
    """

    name = "Cayley"
    parameters = ("b", "r", "a", "generators*")
    title = "Cayley digraph of a semidirect product of cyclic groups"
    source = "Cayley, 1878"

    def graph(self, arguments: Arguments) -> VoltageGraph:
        """One vertex, one arc per generator."""
        b, r, a, *generators = arguments
        _require_small(b, a)
        return _cayley(Metacyclic(b, r, a), tuple(generators))


class CayleyMetacyclic(_Lifted):
    """CayleyMetacyclic(b, r, a, c, g, ...): as `Cayley`, of the group with carry c."""

    name = "CayleyMetacyclic"
    parameters = ("b", "r", "a", "c", "generators*")
    title = "Cayley digraph of a metacyclic group that need not split, as the dicyclic ones"
    source = "Cayley, 1878"

    def graph(self, arguments: Arguments) -> VoltageGraph:
        """One vertex, one arc per generator."""
        b, r, a, c, *generators = arguments
        _require_small(b, a)
        return _cayley(Metacyclic(b, r, a, c), tuple(generators))


class CayleyMatrix(_Lifted):
    """CayleyMatrix(m, k, a, M11, M12, ..., g, ...): of Z_m^k extended by Z_a acting by M."""

    name = "CayleyMatrix"
    parameters = ("m", "k", "a", "entries and generators*")
    title = "Cayley digraph of vectors extended by the powers of a matrix, as affine groups"
    source = "Cayley, 1878"

    def graph(self, arguments: Arguments) -> VoltageGraph:
        """One vertex, one arc per generator."""
        m, k, a, *rest = arguments
        require(1 <= k <= 16, "k", "must be from 1 to 16")
        require(m >= 2, "m", "must be at least 2")
        _require_small(a, capped_power(m, k))
        require(len(rest) > k * k, "entries and generators", "must be k k entries and more")
        matrix = tuple(tuple(rest[row * k : row * k + k]) for row in range(k))
        return _cayley(MatrixExtension(m, matrix, a), tuple(rest[k * k :]))


class CayleyNested(_Lifted):
    """CayleyNested(b, c, a, r, s, t, g, ...): of the group `synth.groups.Nested`."""

    name = "CayleyNested"
    parameters = ("b", "c", "a", "r", "s", "t", "generators*")
    title = "Cayley digraph of a nested semidirect product of three cyclic groups"
    source = "Cayley, 1878"

    def graph(self, arguments: Arguments) -> VoltageGraph:
        """One vertex, one arc per generator."""
        b, c, a, r, s, t, *generators = arguments
        _require_small(b, c, a)
        return _cayley(Nested(b, c, a, r, s, t), tuple(generators))


class CayleyLinear(_Lifted):
    """CayleyLinear(p, g, ...): of the 2 x 2 matrices of determinant 1 over the field of p."""

    name = "CayleyLinear"
    parameters = ("p", "generators*")
    title = "Cayley digraph of a special linear group of 2 x 2 matrices"
    source = "Cayley, 1878"

    def graph(self, arguments: Arguments) -> VoltageGraph:
        """One vertex, one arc per generator."""
        return _cayley(_linear(arguments[0]), arguments[1:])


class CayleyAlternating(_Lifted):
    """CayleyAlternating(n, g, ...): of the even permutations of n letters."""

    name = "CayleyAlternating"
    parameters = ("n", "generators*")
    title = "Cayley digraph of an alternating group"
    source = "Cayley, 1878"

    def graph(self, arguments: Arguments) -> VoltageGraph:
        """One vertex, one arc per generator."""
        return _cayley(_permutations(arguments[0], False), arguments[1:])


class CayleySymmetric(_Lifted):
    """CayleySymmetric(n, g, ...): of all permutations of n letters."""

    name = "CayleySymmetric"
    parameters = ("n", "generators*")
    title = "Cayley digraph of a symmetric group"
    source = "Cayley, 1878"

    def graph(self, arguments: Arguments) -> VoltageGraph:
        """One vertex, one arc per generator."""
        return _cayley(_permutations(arguments[0], True), arguments[1:])


# These two remember their tables.
@lru_cache(maxsize=8)
def _linear(p: int) -> Linear:
    return Linear(p)


@lru_cache(maxsize=8)
def _permutations(n: int, odd_too: bool) -> Alternating:
    return Alternating(n, odd_too)


class Lift(_Lifted):
    """Lift(b, r, a, n, t, v, ...): of n vertices over Z_b extended by Z_a acting by r.

    The arcs follow as pairs of head and voltage, first those that leave vertex 0, then as
    many that leave vertex 1, and so on.
    """

    name = "Lift"
    parameters = ("b", "r", "a", "n", "heads and voltages*")
    title = "lift of a voltage graph over a semidirect product of cyclic groups"
    source = "Gross and Tucker, Topological Graph Theory, 1987"

    def graph(self, arguments: Arguments) -> VoltageGraph:
        """As many vertices as said."""
        b, r, a, n, *arcs = arguments
        _require_small(b, a, n)
        require(
            len(arcs) > 0 and len(arcs) % (2 * n) == 0,
            "heads and voltages",
            "must be as many pairs for every vertex",
        )
        group = Metacyclic(b, r, a)
        heads, voltages = tuple(arcs[::2]), tuple(arcs[1::2])
        _require_elements("voltages", voltages, group)
        require(all(0 <= head < n for head in heads), "heads", "must be vertices below n")
        return VoltageGraph(group, n, heads, voltages)


class Digraph(_Lifted):
    """Digraph(n, t, ...): the targets of node 0, then as many of node 1, and so on."""

    name = "Digraph"
    parameters = ("n", "targets*")
    title = "a regular digraph, arc by arc"
    source = "none: any regular digraph"

    def graph(self, arguments: Arguments) -> VoltageGraph:
        """Return the graph itself, over the group of one element."""
        n, *targets = arguments
        _require_small(n)
        require(n >= 2, "n", "must be at least 2")
        require(
            len(targets) > 0 and len(targets) % n == 0, "targets", "must be as many for every node"
        )
        require(all(0 <= target < n for target in targets), "targets", "must be nodes below n")
        return VoltageGraph(Metacyclic(1, 0, 1), n, tuple(targets), (0,) * len(targets))

    def vertex_transitive(self, arguments: Arguments) -> bool:
        """Nothing is known."""
        return False


def recipe_of(graph: VoltageGraph) -> Base:
    """Return the canonical recipe of a voltage graph: arcs sorted vertex by vertex.

    >>> str(recipe_of(VoltageGraph(Metacyclic(8, 3, 2), 1, (0, 0), (9, 1))))
    'Cayley(8, 3, 2, 1, 9)'
    """
    group, degree = graph.group, graph.degree
    pairs = np.stack([graph.heads, graph.voltages], axis=1).reshape(graph.vertices, degree, 2)
    arcs = [sorted(map(tuple, rows)) for rows in pairs.tolist()]
    if group.order == 1:
        return Base("Digraph", (graph.vertices, *(head for row in arcs for head, _ in row)))
    if graph.vertices > 1:
        assert isinstance(group, Metacyclic)
        flat = (value for row in arcs for arc in row for value in arc)
        return Base("Lift", (group.b, group.r, group.a, graph.vertices, *flat))
    generators = tuple(voltage for _, voltage in arcs[0])
    match group:
        case Metacyclic(b, r, a, 0):
            return Base("Cayley", (b, r, a, *generators))
        case Metacyclic(b, r, a, c):
            return Base("CayleyMetacyclic", (b, r, a, c, *generators))
        case MatrixExtension(m, matrix, a):
            entries = (entry for row in matrix for entry in row)
            return Base("CayleyMatrix", (m, len(matrix), a, *entries, *generators))
        case Nested(b, c, a, r, s, t):
            return Base("CayleyNested", (b, c, a, r, s, t, *generators))
        case Linear(p):
            return Base("CayleyLinear", (p, *generators))
        case Alternating(n, odd_too):
            return Base("CayleySymmetric" if odd_too else "CayleyAlternating", (n, *generators))
        case _:
            raise OutOfDomain("group", "has no family of its own")
