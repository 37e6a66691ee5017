"""Cayley digraphs over several kinds of groups.

The costs of known members are in the atlas of discovered bases (`synth.atlas.entries`); other
members must be measured.
"""

from functools import lru_cache

from topoloom.synth.algebra.group_extensions import MatrixExtension, Metacyclic, Nested
from topoloom.synth.algebra.groups import Group
from topoloom.synth.algebra.polycyclic import Polycyclic
from topoloom.synth.algebra.table_groups import Alternating, Linear
from topoloom.synth.families.family import Arguments, require
from topoloom.synth.families.lift_family import LiftFamily, require_elements, require_small
from topoloom.synth.families.voltage import VoltageGraph
from topoloom.synth.limits import capped_power


class Cayley(LiftFamily):
    """Cayley(b, r, a, g, ...): x -> x g for generators g in Z_b extended by Z_a acting by r.

    The element x + b i is (x, i), see `synth.algebra.group_extensions.Metacyclic`.
    """

    b: int
    r: int
    a: int
    generators: tuple[int, ...]
    title = "Cayley digraph of a semidirect product of cyclic groups"
    source = "Cayley, 1878"

    def graph(self) -> VoltageGraph:
        """Return the graph of one vertex and an arc for every generator."""
        require_small(self.b, self.a)
        return _cayley(Metacyclic(self.b, self.r, self.a), self.generators)


class CayleyMetacyclic(LiftFamily):
    """CayleyMetacyclic(b, r, a, c, g, ...): as `Cayley`, of the group with carry c."""

    b: int
    r: int
    a: int
    c: int
    generators: tuple[int, ...]
    title = "Cayley digraph of a metacyclic group, split or not, such as the dicyclic groups"
    source = "Cayley, 1878"

    def graph(self) -> VoltageGraph:
        """Return the graph of one vertex and an arc for every generator."""
        require_small(self.b, self.a)
        return _cayley(Metacyclic(self.b, self.r, self.a, self.c), self.generators)


class CayleyMatrix(LiftFamily):
    """CayleyMatrix(m, k, a, M11, M12, ..., g, ...): of Z_m^k extended by Z_a acting by M."""

    m: int
    k: int
    a: int
    entries_and_generators: tuple[int, ...]
    title = "Cayley digraph of vectors extended by the powers of a matrix, such as affine groups"
    source = "Cayley, 1878"

    def graph(self) -> VoltageGraph:
        """Return the graph of one vertex and an arc for every generator."""
        m, k, a, rest = self.m, self.k, self.a, self.entries_and_generators
        require(1 <= k <= 16, "k", "must be from 1 to 16")
        require(m >= 2, "m", "must be at least 2")
        require_small(a, capped_power(m, k))
        require(len(rest) > k * k, "entries_and_generators", "must be more than k k numbers")
        matrix = tuple(rest[row * k : row * k + k] for row in range(k))
        return _cayley(MatrixExtension(m, matrix, a), rest[k * k :])


class CayleyNested(LiftFamily):
    """CayleyNested(b, c, a, r, s, t, g, ...), of `synth.algebra.group_extensions.Nested`."""

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
        require_small(self.b, self.c, self.a)
        group = Nested(self.b, self.c, self.a, self.r, self.s, self.t)
        return _cayley(group, self.generators)


class CayleyPolycyclic(LiftFamily):
    """CayleyPolycyclic(k, m1, ..., mk, h2, s21, h3, s31, s32, ..., g, ...): of a solvable group.

    Generator i of the group has power mi in the group of the previous ones, the element hi there,
    and conjugates g_j to the element sij: see `synth.algebra.polycyclic.Polycyclic`.
    """

    k: int
    group_and_generators: tuple[int, ...]
    title = "Cayley digraph of a solvable group, given by a polycyclic presentation"
    source = "Cayley, 1878; Hölder, 1895"

    def graph(self) -> VoltageGraph:
        """Return the graph of one vertex and an arc for every generator."""
        return _cayley(*_polycyclic(self.k, *self.group_and_generators))


class CayleyLinear(LiftFamily):
    """CayleyLinear(p, g, ...): of the 2 x 2 matrices of determinant 1 over the field of p."""

    p: int
    generators: tuple[int, ...]
    title = "Cayley digraph of a special linear group of 2 x 2 matrices"
    source = "Cayley, 1878"

    def graph(self) -> VoltageGraph:
        """Return the graph of one vertex and an arc for every generator."""
        return _cayley(_linear(self.p), self.generators)


class CayleyAlternating(LiftFamily):
    """CayleyAlternating(n, g, ...): of the even permutations of n letters."""

    n: int
    generators: tuple[int, ...]
    title = "Cayley digraph of an alternating group"
    source = "Cayley, 1878"

    def graph(self) -> VoltageGraph:
        """Return the graph of one vertex and an arc for every generator."""
        return _cayley(_permutations(self.n, False), self.generators)


class CayleySymmetric(LiftFamily):
    """CayleySymmetric(n, g, ...): of all permutations of n letters."""

    n: int
    generators: tuple[int, ...]
    title = "Cayley digraph of a symmetric group"
    source = "Cayley, 1878"

    def graph(self) -> VoltageGraph:
        """Return the graph of one vertex and an arc for every generator."""
        return _cayley(_permutations(self.n, True), self.generators)


# Cached: these groups compute tables.
@lru_cache(maxsize=8)
def _linear(p: int) -> Linear:
    return Linear(p)


@lru_cache(maxsize=8)
def _permutations(n: int, odd_too: bool) -> Alternating:
    return Alternating(n, odd_too)


@lru_cache(maxsize=8)
def _polycyclic(*numbers: int) -> tuple[Polycyclic, Arguments]:
    return Polycyclic.read(numbers)


def _cayley(group: Group, generators: Arguments) -> VoltageGraph:
    require_elements("generators", generators, group)
    return VoltageGraph(group, 1, (0,) * len(generators), generators)
