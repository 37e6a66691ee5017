"""Edge colourings come nearer to preferred colours by exchanges of three colours.

The edges of two colours form paths and cycles.  Along a part of one that ends inside, the two
colours cannot change places alone: its two ends s and t would have one colour twice.  They can
where two further parts join s and t: with colours a, b, c at s, the part of a and b that begins
with a, the one of b and c that begins with b, and the one of c and a that begins with c.  Such a
*theta* turns the three colours round at s and at t, and at all other nodes two change places.
On a bipartite graph all three parts have an even or all an odd number of edges, so the colours
that meet at t are three different ones.  A long exchange of two colours can so be undone for the
most part, at the price of two short ones.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.kernels.scalars import int64
from topoloom.synth.progress import report_progress
from topoloom.synth.wiring import limits

Integers = NDArray[np.int64]

REACH = 1000
"""Edges along the first part at most."""


@njit(cache=True, nogil=True)
def _pair(a, b, count):
    low, high = min(a, b), max(a, b)
    return low * count + high


@njit(cache=True, nogil=True)
def _index(a, b, at, ends, likes, row, place, gains, onward, whole, length):
    """Write down the paths and cycles of two colours, and the nodes along each.

    ``gains`` has the sum of what changed edges gain up to a node, ``onward`` the colour of the
    edge to the next one, ``whole`` the gain all around and ``length`` the nodes of a cycle, 0 of a
    path.
    """
    nodes = len(at)
    row[:] = -1
    number = 0
    for cycles in range(2):
        for start in range(nodes):
            if row[start] >= 0:
                continue
            first = a
            if not cycles:
                if (at[start, a] >= 0) == (at[start, b] >= 0):
                    continue
                first = a if at[start, a] >= 0 else b
            elif at[start, a] < 0:
                continue
            node, colour, step, gained = start, first, 0, 0
            while True:
                row[node], place[node], gains[node], onward[node] = number, step, gained, -1
                edge = at[node, colour]
                if edge < 0:
                    whole[number], length[number] = 0, 0
                    break
                onward[node] = colour
                other = b if colour == a else a
                gained += likes[edge, other] - likes[edge, colour]
                node = ends[edge, 0] + ends[edge, 1] - node
                colour, step = other, step + 1
                if node == start:
                    whole[number], length[number] = gained, step
                    break
            number += 1


@njit(cache=True, nogil=True)
def _gain(s, t, colour, row, place, gains, onward, whole, length):
    """Return what the part from s to t gains that begins with a colour, and whether it is one."""
    if row[s] < 0 or row[s] != row[t]:
        return 0, False
    ahead = onward[s] == colour
    between = gains[t] - gains[s] if ahead else gains[s] - gains[t]
    if (place[t] > place[s]) == ahead:
        return between, True
    if length[row[s]] == 0:
        return 0, False
    return between + whole[row[s]], True


@njit(cache=True, nogil=True)
def _mark(s, t, first, second, at, ends, stamps, stamp, found, size):
    """Write down the edges from s to t; return how many in all, or -1 if one was there."""
    node, colour = s, first
    while True:
        edge = at[node, colour]
        if edge < 0 or stamps[edge] == stamp:
            return -1
        stamps[edge] = stamp
        found[size] = edge
        size += 1
        node = ends[edge, 0] + ends[edge, 1] - node
        if node == t:
            return size
        colour = second if colour == first else first


@njit(cache=True, nogil=True)
def _turn(sizes, found, triple, at, ends, colours):
    """Exchange the colours of the three parts that were written down."""
    for k in range(sizes[2]):
        edge = found[k]
        at[ends[edge, 0], colours[edge]] = -1
        at[ends[edge, 1], colours[edge]] = -1
    for part in range(3):
        one, other = triple[part], triple[(part + 1) % 3]
        for k in range(0 if part == 0 else sizes[part - 1], sizes[part]):
            edge = found[k]
            colours[edge] = other if colours[edge] == one else one
            at[ends[edge, 0], colours[edge]] = edge
            at[ends[edge, 1], colours[edge]] = edge


@njit(cache=True, nogil=True)
def _best(s, triple, at, ends, likes, maps, stamps, stamp, found, sizes):
    """Look for the theta from s that gains most; leave its edges in ``found``.

    Returns its gain, 0 if there is none, the stamp, and how many far ends were weighed.
    """
    row, place, gains, onward, whole, length = maps
    count = at.shape[1]
    a, b, c = triple
    one, two, three = _pair(a, b, count), _pair(b, c, count), _pair(c, a, count)
    best, weighed = 0, 0
    node, colour = s, a
    least = np.zeros(3, np.int64)
    far = -1
    while weighed < REACH:
        edge = at[node, colour]
        if edge < 0:
            break
        node = ends[edge, 0] + ends[edge, 1] - node
        if node == s:
            break
        weighed += 1
        colour = b if colour == a else a
        gain, _ = _gain(
            s, node, a, row[one], place[one], gains[one], onward[one], whole[one], length[one]
        )
        more, there = _gain(
            s, node, b, row[two], place[two], gains[two], onward[two], whole[two], length[two]
        )
        if not there:
            continue
        gain += more
        more, there = _gain(
            s, node, c, row[three], place[three], gains[three], onward[three], whole[three],
            length[three],
        )  # fmt: skip
        if not there or gain + more <= best:
            continue
        stamp += 1
        size = _mark(s, node, a, b, at, ends, stamps, stamp, found, int64(0))
        least[0] = size
        if size >= 0:
            size = _mark(s, node, b, c, at, ends, stamps, stamp, found, size)
            least[1] = size
        if size >= 0:
            size = _mark(s, node, c, a, at, ends, stamps, stamp, found, size)
            least[2] = size
        if size >= 0:
            best, far = gain + more, node
            sizes[:] = least
    if far >= 0:
        stamp += 1
        size = _mark(s, far, a, b, at, ends, stamps, stamp, found, int64(0))
        size = _mark(s, far, b, c, at, ends, stamps, stamp, found, size)
        _mark(s, far, c, a, at, ends, stamps, stamp, found, size)
    return best, stamp, weighed


@njit(cache=True, nogil=True)
def _sweep(at, ends, colours, likes, maps, fresh, limits):
    """Try thetas from the ends of all edges; ``limits`` are the thetas and steps that are left.

    Returns how much was gained.
    """
    row, place, gains, onward, whole, length = maps
    count = at.shape[1]
    stamps = np.zeros(len(ends), np.int64)
    found = np.empty(3 * len(ends), np.int64)
    sizes = np.zeros(3, np.int64)
    stamp, gained = 0, 0
    for edge in range(len(ends)):
        for wanted in range(count):
            for side in range(2):
                for third in range(count):
                    now = colours[edge]
                    s = ends[edge, side]
                    if likes[edge, now] or not likes[edge, wanted] or third in (now, wanted):
                        continue
                    if at[s, wanted] < 0 or at[s, third] < 0 or limits[0] <= 0 or limits[1] <= 0:
                        continue
                    triple = (now, wanted, third)
                    for k in range(3):
                        one, two = triple[k], triple[(k + 1) % 3]
                        pair = _pair(one, two, count)
                        if not fresh[pair]:
                            _index(
                                one, two, at, ends, likes, row[pair], place[pair], gains[pair],
                                onward[pair], whole[pair], length[pair],
                            )  # fmt: skip
                            fresh[pair] = True
                    gain, stamp, weighed = _best(
                        s, triple, at, ends, likes, maps, stamps, stamp, found, sizes
                    )
                    limits[1] -= weighed
                    if gain <= 0:
                        continue
                    _turn(sizes, found, triple, at, ends, colours)
                    limits[0] -= 1
                    gained += gain
                    for other in range(count):
                        for k in range(3):
                            if other != triple[k]:
                                fresh[_pair(other, triple[k], count)] = False
    return gained


def turned_thetas(
    size: int, sources: Integers, targets: Integers, colours: Integers, likes: NDArray[np.bool_]
) -> int:
    """Improve a colouring in place by thetas until none gains; return the gain.

    Parameters
    ----------
    size : int
        Nodes on each side.
    sources, targets, colours : int arrays
        The edges and a proper colouring of them.
    likes : bool array, shape (edges, colours)
        The colours that each edge prefers.

    Notes
    -----
    From both ends of every edge that prefers another colour, for every third colour: far ends
    along the part of the first two, each in O(1) by sums along paths and cycles.  At most
    `limits.MAX_THETA_ENDS` of them.

    Examples
    --------
    Two nodes on each side, joined by three edges each whose colours went round.

    >>> ends, colours = np.repeat([0, 1], 3), np.tile([0, 1, 2], 2)
    >>> likes = np.eye(3, dtype=bool)[np.tile([1, 2, 0], 2)]
    >>> turned_thetas(2, ends, ends, colours, likes), colours.tolist()
    (6, [1, 2, 0, 1, 2, 0])
    """
    count = likes.shape[1]
    ends = np.stack([sources, targets + size], axis=1)
    at = np.full((2 * size, count), -1, np.int64)
    at[ends[:, 0], colours] = at[ends[:, 1], colours] = np.arange(len(colours))
    maps = tuple(np.empty((count * count, 2 * size), np.int64) for _ in range(6))
    fresh = np.zeros(count * count, np.bool_)
    left = np.array([limits.MAX_THETAS, limits.MAX_THETA_ENDS], np.int64)
    total, liked = 0, likes.astype(np.int64)
    while True:
        report_progress(
            "exchanging links of three", limits.MAX_THETA_ENDS - int(left[1]), limits.MAX_THETA_ENDS
        )
        gained = _sweep(at, ends, colours, liked, maps, fresh, left)
        total += gained
        if not gained:
            return total
