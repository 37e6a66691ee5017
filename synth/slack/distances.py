"""Distances from all roots of a problem, and the remaining lengths of shortest paths.

A search from one root accesses memory at random.  With many roots and few steps, 64 searches
advance together, one bit of a word each.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.edge_swaps.work_estimates import WORD

# Bit-parallel search from this many roots and up to this many steps; every step scans all links.
# Measured: 4,000 nodes of 4 two-way links, 10 steps, 0.3 s instead of 0.9.
_FEWEST_ROOTS = 256
_MOST_STEPS = 20
# Bits of a distance; longer searches run one root at a time.
_PLANES = 6


def distances(problem: Any) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Return the distance of every node from every root, and its height.

    The height of w is the length of the longest continuation of a shortest path from the root
    through w.  Both are (N, R) arrays of int16.  O(R links), or O(steps^2 R links / 64), mostly
    less, with many roots and few steps.
    """
    rows = len(problem.roots)
    distance = np.empty((len(problem.tail), rows), np.int16)
    height = np.zeros(distance.shape, np.int16)
    begun = 0
    while begun < rows:
        # The first search gives the number of steps and so selects the method for the others.
        if begun > 0 and rows >= _FEWEST_ROOTS and height[problem.roots[0], 0] <= _MOST_STEPS:
            begun = _side_by_side(problem, begun, distance, height)
        end = 1 if begun == 0 else rows
        _one_by_one(problem, begun, end, distance, height)
        begun = end
    return distance, height


@njit(cache=True, nogil=True)
def _one_by_one(problem: Any, begin: int, end: int, distance: Any, height: Any) -> None:
    """Fill in the columns ``begin`` to ``end`` by one breadth-first search each."""
    roots, tail, start, head = problem.roots, problem.tail, problem.start, problem.head
    nodes, degree = tail.shape
    order = np.empty(nodes, np.int64)
    far, high = np.empty(nodes, np.int16), np.empty(nodes, np.int16)
    for row in range(begin, end):
        far[:], high[:] = -1, 0
        far[roots[row]] = 0
        order[0] = roots[row]
        filled, index = 1, 0
        # Once all nodes are listed, the rest of the queue discovers nothing.
        while index < filled < nodes:
            node = order[index]
            index += 1
            for edge in range(start[node], start[node + 1]):
                after = head[edge]
                if far[after] < 0:
                    far[after] = far[node] + 1
                    order[filled] = after
                    filled += 1
        for index in range(filled - 1, 0, -1):
            node = order[index]
            for k in range(degree):
                before = tail[node, k]
                if before >= 0 and far[before] + 1 == far[node]:
                    high[before] = max(high[before], high[node] + 1)
        distance[:, row], height[:, row] = far, high


@njit(cache=True, nogil=True)
def _side_by_side(problem: Any, begin: int, distance: Any, height: Any) -> int:
    """Fill in the columns from ``begin`` on; return the first unfilled column.

    The search stops where a distance needs more than `_PLANES` bits.
    """
    nodes, rows = height.shape
    layer = np.empty((1 << _PLANES, nodes), np.uint64)
    reached = np.empty(nodes, np.uint64)
    planes = np.empty((_PLANES, nodes), np.uint64)
    for first in range(begin, rows, WORD):
        some = min(WORD, rows - first)
        steps = _search(problem, first, some, layer, reached)
        if steps < 0:
            return first
        planes[:] = 0
        for step in range(1, steps + 1):
            _toggle(planes, step, layer[step])
        _write(planes, first, some, distance)
        planes[:] = 0
        high = 0
        while _raised(problem, layer, steps, reached):
            high += 1
            # A node of height h had height h - 1 in the round before.
            _toggle(planes, high ^ (high - 1), reached)
        _write(planes, first, some, height)
    return rows


@njit(cache=True, nogil=True)
def _toggle(planes: Any, number: int, words: Any) -> None:
    """Toggle the bits of ``number`` for every set bit of ``words``."""
    for place in range(len(planes)):
        if number >> place & 1:
            plane = planes[place]
            for node in range(len(words)):
                plane[node] ^= words[node]


@njit(cache=True, nogil=True)
def _raised(problem: Any, layer: Any, steps: int, who: Any) -> bool:
    """Keep in every layer only the nodes with height at least one more than recorded.

    ``who`` receives all of them.  A node stays if a successor in the next layer stayed; the last
    layer keeps none.
    """
    start, head = problem.start, problem.head
    who[:] = 0
    some = np.uint64(0)
    for step in range(steps):
        here, behind = layer[step], layer[step + 1]
        for node in range(len(who)):
            left = here[node]
            if left == 0:
                continue
            higher = np.uint64(0)
            for edge in range(start[node], start[node + 1]):
                higher |= behind[head[edge]]
            higher &= left
            here[node] = higher
            who[node] |= higher
            some |= higher
    layer[steps] = 0
    return some != 0


@njit(cache=True, nogil=True)
def _write(planes: Any, first: int, some: int, out: Any) -> None:
    """Write numbers given as bit planes to some columns, eight at once as the bytes of a word."""
    ones, sevens = np.uint64(0x0101010101010101), np.uint64(0x7F7F7F7F7F7F7F7F)
    diagonal = np.uint64(0x8040201008040201)
    for node in range(out.shape[0]):
        for low in range(0, some, 8):
            packed = np.uint64(0)
            for place in range(len(planes)):
                byte = planes[place, node] >> np.uint64(low) & np.uint64(255)
                if byte:
                    # Spread bit i to byte i, then reduce every nonzero byte to 1.
                    spread = (byte * ones) & diagonal
                    spread = ((spread & sevens) + sevens | spread) >> np.uint64(7) & ones
                    packed |= spread << np.uint64(place)
            here = out[node, first + low : first + min(low + 8, some)]
            for lane in range(np.uint64(len(here))):
                here[lane] = packed >> (np.uint64(8) * lane) & np.uint64(255)


@njit(cache=True, nogil=True)
def _search(problem: Any, first: int, some: int, layer: Any, reached: Any) -> int:
    """Fill the layers of a search from some roots; return its steps, or -1 if too many."""
    tail = problem.tail
    nodes, degree = tail.shape
    layer[0], reached[:] = 0, 0
    for lane in range(some):
        root = problem.roots[first + lane]
        layer[0, root] |= np.uint64(1) << np.uint64(lane)
        reached[root] = layer[0, root]
    every = ~np.uint64(0) >> np.uint64(WORD - some)
    steps, missing = 0, True
    while missing:
        if steps + 1 == len(layer):
            return -1
        before, now = layer[steps], layer[steps + 1]
        steps += 1
        missing = False
        for node in range(nodes):
            came = np.uint64(0)
            if reached[node] != every:
                for k in range(degree):
                    if tail[node, k] >= 0:
                        came |= before[tail[node, k]]
                came &= ~reached[node]
                reached[node] |= came
                missing |= reached[node] != every
            now[node] = came
    return steps
