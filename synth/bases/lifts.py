"""Cayley digraphs over several kinds of groups, voltage lifts, and digraphs arc by arc.

What is known of the cost of a member stands in the atlas of discovered bases
(`synth.discovery.atlas`); members that are not there must be measured.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

from synth.bases.family import Arguments, Base, Ends, require
from synth.cost import Claim
from synth.discovery.atlas import bundled
from synth.errors import OutOfDomain
from synth.groups import Alternating, Group, Linear, MatrixExtension, Metacyclic, Nested
from synth.limits import MAX_NODES, capped_power, capped_product
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
    "member_of",
]


class _Lifted(Base):
    """What all families of lifts share: the fields describe a voltage graph."""

    @abstractmethod
    def graph(self) -> VoltageGraph:
        """Return the voltage graph; raises `OutOfDomain` for a bad group or bad counts."""
        raise NotImplementedError

    def check_domain(self) -> None:
        """Check the group, then that the lift is a connected regular graph without loops."""
        broken = _broken_rule(self)
        if broken:
            raise OutOfDomain(*broken)

    def size(self) -> tuple[int, int]:
        """Return group elements times vertices, and the arcs that leave a vertex."""
        graph = self.graph()
        return graph.nodes, graph.degree

    def links(self) -> Ends:
        """Return the links arc by arc, see `VoltageGraph.links`."""
        return self.graph().links()

    def bidirectional(self) -> bool:
        """Return whether every arc has a partner of inverse voltage."""
        return self.graph().bidirectional

    def parallel(self) -> bool:
        """Return whether two arcs with the same ends have the same voltage."""
        return self.graph().parallel

    def vertex_transitive(self) -> bool:
        """Return whether there is one vertex: then multiplication from the left moves all."""
        return self.graph().vertices == 1

    def representatives(self) -> Sequence[int]:
        """Return one node over each vertex: the group moves the others to it."""
        graph = self.graph()
        return range(0, graph.nodes, graph.group.order)

    def translations(self) -> NDArray[np.int64]:
        """Return the multiplications from the left: element g takes (s, x) to (s, g x)."""
        graph = self.graph()
        order = graph.group.order
        left = np.stack([graph.group.right(x) for x in range(order)], axis=1)
        over = np.arange(graph.vertices) * order
        return (over[None, :, None] + left[:, None, :]).reshape(order, graph.nodes)

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield the members of the atlas."""
        for entry in bundled().of_size(nodes, degree):
            if entry.family == cls.__name__:
                yield cls(*entry.arguments)

    def claim(self) -> Claim | None:
        """Return what was measured when the member was found, if it is in the atlas."""
        entry = bundled().entry(str(self))
        return entry and Claim(entry.cost.steps, entry.cost.bandwidth, exact=True)

    def claim_transpose(self) -> Claim | None:
        """Return what was measured on the transpose when the member was found."""
        entry = bundled().entry(str(self))
        return entry and Claim(entry.transpose.steps, entry.transpose.bandwidth, exact=True)


@lru_cache(maxsize=4096)
def _broken_rule(member: _Lifted) -> tuple[str, str] | None:
    """Return the field and the rule that a member in the making breaks, or None."""
    try:
        graph = member.graph()
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

    b: int
    r: int
    a: int
    generators: tuple[int, ...]
    title = "Cayley digraph of a semidirect product of cyclic groups"
    source = "Cayley, 1878"

    def graph(self) -> VoltageGraph:
        """Return the graph of one vertex and an arc for every generator."""
        _require_small(self.b, self.a)
        return _cayley(Metacyclic(self.b, self.r, self.a), self.generators)


class CayleyMetacyclic(_Lifted):
    """CayleyMetacyclic(b, r, a, c, g, ...): as `Cayley`, of the group with carry c."""

    b: int
    r: int
    a: int
    c: int
    generators: tuple[int, ...]
    title = "Cayley digraph of a metacyclic group that need not split, as the dicyclic ones"
    source = "Cayley, 1878"

    def graph(self) -> VoltageGraph:
        """Return the graph of one vertex and an arc for every generator."""
        _require_small(self.b, self.a)
        return _cayley(Metacyclic(self.b, self.r, self.a, self.c), self.generators)


class CayleyMatrix(_Lifted):
    """CayleyMatrix(m, k, a, M11, M12, ..., g, ...): of Z_m^k extended by Z_a acting by M."""

    m: int
    k: int
    a: int
    entries_and_generators: tuple[int, ...]
    title = "Cayley digraph of vectors extended by the powers of a matrix, as affine groups"
    source = "Cayley, 1878"

    def graph(self) -> VoltageGraph:
        """Return the graph of one vertex and an arc for every generator."""
        m, k, a, rest = self.m, self.k, self.a, self.entries_and_generators
        require(1 <= k <= 16, "k", "must be from 1 to 16")
        require(m >= 2, "m", "must be at least 2")
        _require_small(a, capped_power(m, k))
        require(len(rest) > k * k, "entries_and_generators", "must be k k entries and more")
        matrix = tuple(rest[row * k : row * k + k] for row in range(k))
        return _cayley(MatrixExtension(m, matrix, a), rest[k * k :])


class CayleyNested(_Lifted):
    """CayleyNested(b, c, a, r, s, t, g, ...): of the group `synth.groups.Nested`."""

    b: int
    c: int
    a: int
    r: int
    s: int
    t: int
    generators: tuple[int, ...]
    title = "Cayley digraph of a nested semidirect product of three cyclic groups"
    source = "Cayley, 1878"

    def graph(self) -> VoltageGraph:
        """Return the graph of one vertex and an arc for every generator."""
        _require_small(self.b, self.c, self.a)
        group = Nested(self.b, self.c, self.a, self.r, self.s, self.t)
        return _cayley(group, self.generators)


class CayleyLinear(_Lifted):
    """CayleyLinear(p, g, ...): of the 2 x 2 matrices of determinant 1 over the field of p."""

    p: int
    generators: tuple[int, ...]
    title = "Cayley digraph of a special linear group of 2 x 2 matrices"
    source = "Cayley, 1878"

    def graph(self) -> VoltageGraph:
        """Return the graph of one vertex and an arc for every generator."""
        return _cayley(_linear(self.p), self.generators)


class CayleyAlternating(_Lifted):
    """CayleyAlternating(n, g, ...): of the even permutations of n letters."""

    n: int
    generators: tuple[int, ...]
    title = "Cayley digraph of an alternating group"
    source = "Cayley, 1878"

    def graph(self) -> VoltageGraph:
        """Return the graph of one vertex and an arc for every generator."""
        return _cayley(_permutations(self.n, False), self.generators)


class CayleySymmetric(_Lifted):
    """CayleySymmetric(n, g, ...): of all permutations of n letters."""

    n: int
    generators: tuple[int, ...]
    title = "Cayley digraph of a symmetric group"
    source = "Cayley, 1878"

    def graph(self) -> VoltageGraph:
        """Return the graph of one vertex and an arc for every generator."""
        return _cayley(_permutations(self.n, True), self.generators)


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

    b: int
    r: int
    a: int
    n: int
    heads_and_voltages: tuple[int, ...]
    title = "lift of a voltage graph over a semidirect product of cyclic groups"
    source = "Gross and Tucker, Topological Graph Theory, 1987"

    def graph(self) -> VoltageGraph:
        """Return the graph of n vertices."""
        n, arcs = self.n, self.heads_and_voltages
        _require_small(self.b, self.a, n)
        require(
            len(arcs) > 0 and len(arcs) % (2 * n) == 0,
            "heads_and_voltages",
            "must be as many pairs for every vertex",
        )
        group = Metacyclic(self.b, self.r, self.a)
        heads, voltages = arcs[::2], arcs[1::2]
        _require_elements("voltages", voltages, group)
        require(all(0 <= head < n for head in heads), "heads", "must be vertices below n")
        return VoltageGraph(group, n, heads, voltages)


class Digraph(_Lifted):
    """Digraph(n, t, ...): the targets of node 0, then as many of node 1, and so on."""

    n: int
    targets: tuple[int, ...]
    title = "a regular digraph, arc by arc"
    source = "none: any regular digraph"

    def graph(self) -> VoltageGraph:
        """Return the graph itself, over the group of one element."""
        n, targets = self.n, self.targets
        _require_small(n)
        require(n >= 2, "n", "must be at least 2")
        require(
            len(targets) > 0 and len(targets) % n == 0, "targets", "must be as many for every node"
        )
        require(all(0 <= target < n for target in targets), "targets", "must be nodes below n")
        return VoltageGraph(Metacyclic(1, 0, 1), n, targets, (0,) * len(targets))

    def vertex_transitive(self) -> bool:
        """Return False: no automorphism is known of a digraph given arc by arc."""
        return False


def member_of(graph: VoltageGraph) -> Base:
    """Return the member that a voltage graph describes, its arcs sorted vertex by vertex.

    >>> member_of(VoltageGraph(Metacyclic(8, 3, 2), 1, (0, 0), (9, 1)))
    Cayley(8, 3, 2, 1, 9)
    """
    group, degree = graph.group, graph.degree
    pairs = np.stack([graph.heads, graph.voltages], axis=1).reshape(graph.vertices, degree, 2)
    arcs = [sorted(map(tuple, rows)) for rows in pairs.tolist()]
    if group.order == 1:
        return Digraph(graph.vertices, *(head for row in arcs for head, _ in row))
    if graph.vertices > 1:
        assert isinstance(group, Metacyclic)
        flat = (value for row in arcs for arc in row for value in arc)
        return Lift(group.b, group.r, group.a, graph.vertices, *flat)
    generators = tuple(voltage for _, voltage in arcs[0])
    match group:
        case Metacyclic(b, r, a, 0):
            return Cayley(b, r, a, *generators)
        case Metacyclic(b, r, a, c):
            return CayleyMetacyclic(b, r, a, c, *generators)
        case MatrixExtension(m, matrix, a):
            entries = (entry for row in matrix for entry in row)
            return CayleyMatrix(m, len(matrix), a, *entries, *generators)
        case Nested(b, c, a, r, s, t):
            return CayleyNested(b, c, a, r, s, t, *generators)
        case Linear(p):
            return CayleyLinear(p, *generators)
        case Alternating(n, odd_too):
            return (CayleySymmetric if odd_too else CayleyAlternating)(n, *generators)
        case _:
            raise OutOfDomain("group", "has no family of its own")
