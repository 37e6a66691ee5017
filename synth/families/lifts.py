"""Voltage lifts, digraphs arc by arc, and the member for a voltage graph."""

import numpy as np

from topoloom.synth.algebra.group_extensions import MatrixExtension, Metacyclic, Nested
from topoloom.synth.algebra.polycyclic import Polycyclic
from topoloom.synth.algebra.table_groups import Alternating, Linear
from topoloom.synth.errors import OutOfDomain
from topoloom.synth.families.cayley import (
    Cayley,
    CayleyAlternating,
    CayleyLinear,
    CayleyMatrix,
    CayleyMetacyclic,
    CayleyNested,
    CayleyPolycyclic,
    CayleySymmetric,
)
from topoloom.synth.families.family import Base, require
from topoloom.synth.families.lift_family import LiftFamily, require_elements, require_small
from topoloom.synth.families.voltage import VoltageGraph


class Lift(LiftFamily):
    """Lift(b, r, a, n, t, v, ...): n vertices over Z_b extended by Z_a acting by r.

    The arcs follow as pairs of head and voltage: first those out of vertex 0, then equally many
    out of vertex 1, and so on.
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
        require_small(self.b, self.a, n)
        require(
            len(arcs) > 0 and len(arcs) % (2 * n) == 0,
            "heads_and_voltages",
            "must be equally many pairs for every vertex",
        )
        group = Metacyclic(self.b, self.r, self.a)
        heads, voltages = arcs[::2], arcs[1::2]
        require_elements("voltages", voltages, group)
        require(all(0 <= head < n for head in heads), "heads", "must be vertices below n")
        return VoltageGraph(group, n, heads, voltages)


class Digraph(LiftFamily):
    """Digraph(n, t, ...): the targets of node 0, then equally many of node 1, and so on."""

    n: int
    targets: tuple[int, ...]
    title = "a regular digraph, arc by arc"
    source = "none: any regular digraph"

    def graph(self) -> VoltageGraph:
        """Return the graph itself, over the trivial group."""
        n, targets = self.n, self.targets
        require_small(n)
        require(n >= 2, "n", "must be at least 2")
        require(
            len(targets) > 0 and len(targets) % n == 0, "targets", "must be equally many per node"
        )
        require(all(0 <= target < n for target in targets), "targets", "must be nodes below n")
        return VoltageGraph(Metacyclic(1, 0, 1), n, targets, (0,) * len(targets))

    def vertex_transitive(self) -> bool:
        """Return False: no automorphism of a digraph given arc by arc is known."""
        return False


def voltage_member(graph: VoltageGraph) -> Base:
    """Return the member that a voltage graph describes, with arcs sorted within each vertex.

    >>> voltage_member(VoltageGraph(Metacyclic(8, 3, 2), 1, (0, 0), (9, 1)))
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
        case Polycyclic():
            return CayleyPolycyclic(*group.numbers, *generators)
        case Linear(p):
            return CayleyLinear(p, *generators)
        case Alternating(n, odd_too):
            return (CayleySymmetric if odd_too else CayleyAlternating)(n, *generators)
        case _:
            raise OutOfDomain("group", "has no family of its own")
