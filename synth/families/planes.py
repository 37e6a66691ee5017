"""Graphs on the points and lines of a plane over a finite field: affine, polar, slim."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.algebra.finite_field import FiniteField, finite_field
from topoloom.synth.evaluation.cost import Claim, optimal_bandwidth
from topoloom.synth.families.balanced import BalancedFamily, EnumeratedFamily
from topoloom.synth.families.family import Arguments, Ends, always, join, require, two_way
from topoloom.synth.families.polygons import flags, orders, point_count, require_field


class _OfPlane(EnumeratedFamily):
    """Graphs on a plane of order q, a prime power."""

    q: int

    def check_domain(self) -> None:
        """Require a prime power."""
        require_field(self.q)

    @classmethod
    def members(cls) -> Iterator[Arguments]:
        """Yield a member of every order within the limits; each has at least q^2 nodes."""
        return ((q,) for q in orders(2))


class AffinePlane(BalancedFamily, _OfPlane):
    """AffinePlane(q): points (x, y) and lines y = m x - b over the field of q elements.

    Points are joined to the lines through them: the incidence graph of AG(2, q) without the
    parallel class of lines x = c.  Point (x, y) is node x q + y, line [m, b] node
    q^2 + m q + b.  Distance-regular: an antipodal cover of the complete bipartite graph.
    """

    title = "incidence graph of the affine plane of order q without a parallel class"
    source = "Brouwer, Cohen, Neumaier, Distance-Regular Graphs, 1989"

    def size(self) -> tuple[int, int]:
        """Return 2 q^2 nodes, degree q."""
        q = self.q
        return 2 * q * q, q

    def links(self) -> Ends:
        """Return the links sorted by point, then their partners."""
        points, lines = _affine_flags(finite_field(self.q))
        return two_way(points, lines + self.q**2)

    # By translations, shears, and (x, y) <-> [x, y]: incidence is y + b = m x.
    vertex_transitive = always

    def diameter(self) -> int:
        """Return 4, the distance of two points of an omitted line."""
        return 4


class NonincidenceGraph(BalancedFamily, _OfPlane):
    """NonincidenceGraph(q): points and lines of PG(2, q), joined when not incident.

    2 (q^2 + q + 1) nodes of degree q^2, 3 steps.  NonincidenceGraph(2) is the distance-3 graph of
    the Heawood graph.  Distance-regular, as the incidence graph of a symmetric design: the number
    of lines off two points is the same for all pairs of points.
    """

    title = "non-incident points and lines of the projective plane of order q"
    source = "Brouwer, Cohen, Neumaier, Distance-Regular Graphs, 1989"

    def size(self) -> tuple[int, int]:
        """Return 2 (q^2 + q + 1) points and lines, degree q^2."""
        q = self.q
        return 2 * point_count(3, q), q * q

    def links(self) -> Ends:
        """Return the links sorted by point, then their partners."""
        points, lines = flags(3, self.q)
        count = point_count(3, self.q)
        apart = np.ones((count, count), np.bool_)
        apart[points, lines] = False
        sources, targets = np.nonzero(apart)
        return two_way(sources, targets + count)

    vertex_transitive = always  # By the group of ProjectivePlane(q) and its dualities.

    def diameter(self) -> int:
        """Return 3, the distance of an incident point and line.

        Two points have distance 2, as some line is off both.
        """
        return 3


class PolarFly(_OfPlane):
    """PolarFly(q): points of PG(2, q), joined when one is on the polar line of the other.

    The polarity graph ER_q.  The polar of the point (x, y) is the line Y = x X - y, that of the
    point at infinity of slope m is the line X = m, and that of the point at infinity of these lines
    is the line at infinity.  The q + 1 points on their own polars have degree q, all others
    q + 1.  Point (x, y) is node x q + y, slope m node q^2 + m.
    """

    title = "polarity graph of the projective plane of order q"
    source = "Erdős and Rényi 1962; Brown 1966; PolarFly: Lakhotia et al., SC 2022"

    def size(self) -> tuple[int, int]:
        """Return q^2 + q + 1 nodes, degree q + 1 except for q + 1 nodes of degree q."""
        q = self.q
        return q * q + q + 1, q + 1

    def links(self) -> Ends:
        """Return the links of affine points, then those of points at infinity; without loops."""
        q = self.q
        affine, slopes = np.arange(q * q), q * q + np.arange(q)
        sources, targets = join(
            [
                _affine_flags(finite_field(q)),
                two_way(affine, np.repeat(slopes, q)),
                two_way(slopes, np.full(q, q * q + q)),
            ]
        )
        real = sources != targets
        return sources[real], targets[real]

    bidirectional = always  # A polarity is symmetric.

    def regular(self) -> bool:
        """Return False: every polarity has points on their own polars, of smaller degree."""
        return False

    def claim(self) -> Claim:
        """Claim 2 steps with 1 and then q shards on the most loaded link.

        The polars of two points u, v share one point, so every shard has a single route.  If u
        and v are not adjacent this point is neither of them, so their distance is 2.  Let w be a
        neighbor of u.  The polars of u and w share u if u is on its own polar, w if w is on its
        own, never both, and a common neighbor of u and w otherwise.  In the second step the link
        from w to u carries the shards of all neighbors of w except u and that common neighbor:
        q if u is on its own polar, q - 1 otherwise, whether w has degree q or not.
        """
        q = self.q
        return Claim(2, optimal_bandwidth(self.nodes) * (q + 1) / q, exact=True)


class SlimFly(EnumeratedFamily):
    """SlimFly(q): McKay-Miller-Širáň graph; q is a prime power other than 2.

    The graph AffinePlane(q) and, with q = 4w + delta for delta in -1, 0, 1, links of
    points (x, y), (x, y') if y - y' is in X, and of lines [m, b], [m, b'] if b - b' is in
    r X, where r is a primitive element and X holds the even powers of r from 1 to
    r^(2w - 2), and the same multiplied by r^(2w - 1) for delta = -1, by r^(2w) otherwise:
    all nonzero squares for delta = 1.  2 q^2 nodes, degree (3q - delta) / 2, 2 steps.
    SlimFly(5) is the Hoffman-Singleton graph.
    """

    q: int
    title = "McKay-Miller-Širáň graph of diameter 2"
    source = "McKay, Miller, Širáň 1998; Hafner 2004; Slim Fly: Besta and Hoefler, SC 2014"

    def check_domain(self) -> None:
        """Require a prime power other than 2."""
        q = self.q
        require_field(q)
        require(q > 2, "q", "must be at least 3")

    def size(self) -> tuple[int, int]:
        """Return 2 q^2 nodes, degree (3 q - delta) / 2."""
        q = self.q
        return 2 * q * q, (3 * q - _delta(q)) // 2

    def links(self) -> Ends:
        """Return the links of AffinePlane, then those among points, then those among lines."""
        q = self.q
        field, jumps = finite_field(q), _jumps(q)
        among_points = _shifts(field, jumps)
        sources, targets = _shifts(field, field.multiply(field.powers[1], jumps))
        among_lines = sources + q * q, targets + q * q
        return join([AffinePlane(q).links(), among_points, among_lines])

    @classmethod
    def members(cls) -> Iterator[Arguments]:
        """Yield a member of every order but 2 within the limits; each has over q^2 nodes."""
        return ((q,) for q in orders(2) if q > 2)

    bidirectional = always  # X = -X, and links between points and lines have partners.

    def vertex_transitive(self) -> bool:
        """Return True for q = 1 mod 4, where X are the squares, and for q = 3.

        Translations and shears act as on AffinePlane.  Points and lines are exchanged by
        (x, y) -> [r x, r y] and [m, b] -> (m, r b), as r (r X) = X; for q = 3, where r X = X,
        by (x, y) -> [x, y] and [m, b] -> (m, b).
        """
        return self.q % 4 == 1 or self.q == 3

    def claim(self) -> Claim | None:
        """Claim the cost of the Hoffman-Singleton graph only, which is distance-regular."""
        return Claim(2, optimal_bandwidth(50), exact=True) if self.q == 5 else None


def _affine_flags(field: FiniteField) -> Ends:
    """Return all x q + y and m q + b with y + b = m x; sorted by point."""
    q = field.order
    points, m = np.repeat(np.arange(q * q), q), np.tile(np.arange(q), q * q)
    x, y = points // q, points % q
    return points, m * q + field.subtract(field.multiply(m, x), y)


def _shifts(field: FiniteField, jumps: NDArray[np.int64]) -> Ends:
    """Return the links from x q + y to x q + y + j for all j in ``jumps``."""
    q = field.order
    points = np.repeat(np.arange(q * q), len(jumps))
    return points, points // q * q + field.add(points % q, np.tile(jumps, q * q))


def _delta(q: int) -> int:
    return {0: 0, 1: 1, 3: -1}[q % 4]


def _jumps(q: int) -> NDArray[np.int64]:
    """Return the set X of `SlimFly`."""
    w = (q - _delta(q)) // 4
    low = np.arange(0, 2 * w, 2)
    high = low + (2 * w - 1 if _delta(q) == -1 else 2 * w)
    return finite_field(q).powers[np.concatenate([low, high])]
