"""Generalized polygons: incidence graphs, flag graphs and collinearity graphs.

A generalized n-gon of order q has points and lines, with q + 1 lines through a point and q + 1
points on a line, whose incidence graph has diameter n and girth 2n.  This module has the projective
plane PG(2, q) for n = 3, the symplectic quadrangle W(q) for n = 4 and the split Cayley hexagon
H(q) for n = 6, by coordinates in the field of q elements: points and lines are tuples of fewer
than n elements.  A tuple is incident, point with line, with the tuple without its last element; the
two empty tuples are incident; and a point (a, l, ...) and a line [k, b, ...] of n - 1 elements each
are incident if b and the following elements are certain functions of a, l, ... and k.

The flags are the incident pairs.  PGL(3, q), PSp(4, q) and G2(q) are transitive on flags.  The
graphs of this module are distance-regular by the theory of generalized polygons (Brouwer, Cohen,
Neumaier, Distance-Regular Graphs, section 6.5): see `synth.families.balanced`.
"""

from collections.abc import Iterator
from functools import reduce
from itertools import takewhile
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.algebra.finite_field import (
    MAX_ORDER,
    finite_field,
    is_prime_power,
    prime_powers,
)
from topoloom.synth.families.balanced import BalancedFamily, EnumeratedFamily
from topoloom.synth.families.family import Arguments, Ends, always, cliques, require, two_way
from topoloom.synth.limits import MAX_NODES, capped_power, capped_product

_SOURCE = "Van Maldeghem, Generalized Polygons, 1998, sections 3.4 and 3.5 (coordinates)"


class _IncidenceGraph(BalancedFamily, EnumeratedFamily):
    """Points 0, 1, ... and then the lines, in the order of `flags`."""

    q: int
    gonality: ClassVar[int]

    def check_domain(self) -> None:
        """Require a prime power."""
        require_field(self.q)

    def size(self) -> tuple[int, int]:
        """Return equally many points and lines, degree q + 1."""
        q = self.q
        return capped_product(2, point_count(self.gonality, q)), q + 1

    def links(self) -> Ends:
        """Return all flags as links from points to lines, then their partners."""
        points, lines = flags(self.gonality, self.q)
        return two_way(points, lines + point_count(self.gonality, self.q))

    @classmethod
    def members(cls) -> Iterator[Arguments]:
        """Yield a member of every order within the limits."""
        return ((q,) for q in orders(cls.gonality - 1))

    def diameter(self) -> int:
        """Return the gonality, by the definition of a generalized polygon."""
        return self.gonality

    def representatives(self) -> tuple[int, int]:
        """Return a point and a line: the groups PGL, PSp and G2 are transitive on flags."""
        return 0, point_count(self.gonality, self.q)


class ProjectivePlane(_IncidenceGraph):
    """ProjectivePlane(q): points and lines of PG(2, q), joined when incident.

    2 (q^2 + q + 1) nodes of degree q + 1, 3 steps: the largest bipartite graph of this degree and
    diameter.  ProjectivePlane(2) is the Heawood graph.
    """

    title = "incidence graph of the projective plane of order q"
    source = _SOURCE
    gonality = 3

    vertex_transitive = always  # Transposition of coordinates exchanges points and lines.


class GeneralizedQuadrangle(_IncidenceGraph):
    """GeneralizedQuadrangle(q): points and lines of W(q), joined when incident.

    2 (q + 1) (q^2 + 1) nodes of degree q + 1, 4 steps.  GeneralizedQuadrangle(2) is
    Tutte's 8-cage.
    """

    title = "incidence graph of the symplectic generalized quadrangle of order q"
    source = _SOURCE
    gonality = 4

    def vertex_transitive(self) -> bool:
        """Return whether W(q) is self-dual, which holds for powers of 2."""
        return self.q % 2 == 0


class GeneralizedHexagon(_IncidenceGraph):
    """GeneralizedHexagon(q): points and lines of H(q), joined when incident.

    2 (q^6 - 1) / (q - 1) nodes of degree q + 1, 6 steps.  GeneralizedHexagon(2) is a
    cubic graph of girth 12 and 126 nodes, GeneralizedHexagon(3) has 728 of degree 4.
    """

    title = "incidence graph of the split Cayley generalized hexagon of order q"
    source = _SOURCE
    gonality = 6

    def vertex_transitive(self) -> bool:
        """Return whether H(q) is self-dual, which holds for powers of 3."""
        return self.q % 3 == 0


class FlagGraph(BalancedFamily, EnumeratedFamily):
    """FlagGraph(gonality, q): flags of PG(2, q), W(q) or H(q), joined if they share a member.

    The undirected line graph of the incidence graph, for gonality 3, 4 or 6: cliques of q + 1
    flags for every point and every line.  Degree 2q; the gonality is the number of steps.  Nodes
    are numbered in the order of `flags`.  FlagGraph(3, 2), FlagGraph(4, 2) and FlagGraph(6, 2)
    have 21, 45 and 189 nodes of degree 4.
    """

    gonality: int
    q: int
    title = "flag graph of a generalized polygon of order q"
    source = "Brouwer, Cohen, Neumaier, Distance-Regular Graphs, section 6.5"

    def check_domain(self) -> None:
        """Require a known polygon and a prime power."""
        gonality, q = self.gonality, self.q
        require(gonality in (3, 4, 6), "gonality", "must be 3, 4 or 6")
        require_field(q)

    def size(self) -> tuple[int, int]:
        """Return q + 1 flags per point, degree 2 q."""
        gonality, q = self.gonality, self.q
        return capped_product(q + 1, point_count(gonality, q)), 2 * q

    def links(self) -> Ends:
        """Return cliques of flags through points, then on lines."""
        q = self.q
        _, lines = flags(self.gonality, q)
        about_points = np.arange(len(lines)).reshape(-1, q + 1)
        about_lines = np.argsort(lines, kind="stable").reshape(-1, q + 1)
        return cliques(np.concatenate([about_points, about_lines]))

    @classmethod
    def members(cls) -> Iterator[Arguments]:
        """Yield a member of every gonality and order within the limits."""
        return ((gonality, q) for gonality in (3, 4, 6) for q in orders(gonality - 1))

    vertex_transitive = always  # The groups are transitive on flags.

    def diameter(self) -> int:
        """Return the gonality: each step changes one element, and opposite flags differ in all."""
        return self.gonality


class CollinearityGraph(BalancedFamily, EnumeratedFamily):
    """CollinearityGraph(gonality, q): points of W(q) or H(q), joined if on one line.

    For gonality 4 or 6, with 2 or 3 steps; degree q (q + 1).  The points of a projective plane
    would give a complete graph.
    """

    gonality: int
    q: int
    title = "collinearity graph of a generalized quadrangle or hexagon of order q"
    source = "Brouwer, Cohen, Neumaier, Distance-Regular Graphs, section 6.5"

    def check_domain(self) -> None:
        """Require a known polygon and a prime power."""
        gonality, q = self.gonality, self.q
        require(gonality in (4, 6), "gonality", "must be 4 or 6")
        require_field(q)

    def size(self) -> tuple[int, int]:
        """Return all points as nodes, each joined to q others on each of q + 1 lines."""
        gonality, q = self.gonality, self.q
        return point_count(gonality, q), q * (q + 1)

    def links(self) -> Ends:
        """Return cliques of points, one for every line."""
        q = self.q
        points, lines = flags(self.gonality, q)
        return cliques(points[np.argsort(lines, kind="stable")].reshape(-1, q + 1))

    @classmethod
    def members(cls) -> Iterator[Arguments]:
        """Yield a member of every gonality and order within the limits."""
        return ((gonality, q) for gonality in (4, 6) for q in orders(gonality - 1))

    vertex_transitive = always  # The groups are transitive on points.

    def diameter(self) -> int:
        """Return half the gonality: a step passes a line and a point."""
        return self.gonality // 2


def flags(gonality: int, q: int) -> Ends:
    """Return the points and the lines of all flags, each numbered from 0.

    Shorter tuples come first, and tuples of equal length are ordered by their elements.  The flags
    are sorted by point, then by line.  O(flags).

    >>> flags(3, 2)[1].reshape(7, 3).tolist()
    [[0, 1, 2], [0, 3, 4], [0, 5, 6], [1, 3, 5], [1, 4, 6], [2, 3, 6], [2, 4, 5]]
    """
    count = point_count(gonality, q)
    # In this order tuples are the nodes of a q-ary heap: the parent lacks the last element.
    longer = np.arange(1, count)
    shorter = (longer - 1) // q
    point, line = _full_length(gonality, q)
    first = count - q ** (gonality - 1)
    points = np.concatenate([[0], longer, shorter, first + point])
    lines = np.concatenate([[0], shorter, longer, first + line])
    order = np.lexsort((lines, points))
    return points[order], lines[order]


def orders(exponent: int) -> Iterator[int]:
    """Yield the prime powers q, increasing, with q^exponent nodes within the limit.

    >>> list(orders(4))
    [2, 3, 4, 5, 7, 8, 9, 11, 13, 16]
    """
    return takewhile(lambda q: capped_power(q, exponent) <= MAX_NODES, prime_powers())


def require_field(q: int) -> None:
    """Raise `OutOfDomain` unless a field of q elements exists within the limits."""
    require(is_prime_power(q), "q", f"must be a prime power of at most {MAX_ORDER}")


def point_count(gonality: int, q: int) -> int:
    """Return the number of points, equal to that of lines: 1 + q + ... + q^(gonality - 1)."""
    return sum(capped_power(q, i) for i in range(gonality))


def _full_length(gonality: int, q: int) -> Ends:
    """Return the flags of points and lines of full length, both as numbers in base q."""
    field, width = finite_field(q), gonality - 1
    point = np.repeat(np.arange(q**width), q)
    k = np.tile(np.arange(q), q**width)

    def term(integer: int, *factors: NDArray[np.int64]) -> NDArray[np.int64]:
        return field.times(integer, field.multiply(*factors))

    def total(*terms: NDArray[np.int64]) -> NDArray[np.int64]:
        return reduce(field.add, terms)

    digits = [point // q**place % q for place in reversed(range(width))]
    if gonality == 3:
        a, m = digits
        line = [k, total(m, term(-1, a, k))]
    elif gonality == 4:
        a, m, a1 = digits
        line = [k, total(a1, term(-1, a, k)), total(term(1, a, a, k), m, term(-2, a, a1))]
    else:
        a, m, a1, m1, a2 = digits
        line = [
            k,
            total(a2, term(-1, a, k)),
            total(
                *(term(1, a, a, a, k, k), m1, term(-1, k, m), term(-3, a, a, a2, k)),
                *(term(-3, a1, a2), term(3, a, a2, a2)),
            ),
            total(term(1, a, a, k), a1, term(-2, a, a2)),
            total(term(1, a, a, a, k), m, term(-3, a2, a, a), term(3, a, a1)),
        ]
    return point, reduce(lambda number, digit: number * q + digit, line)
