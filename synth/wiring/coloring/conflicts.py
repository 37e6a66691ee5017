"""State of a search over improper edge colorings: colors, conflicts, and edges that move.

A *conflict* is a color that a node has on more edges than it has ports for.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.wiring.coloring.problem import ColoringProblem, Integers

CROWDED, EXCESS, MOVED = 0, 1, 2
"""Places in ``sizes``: conflicts, edges too many in all conflicts, edges without a preferred
color."""

ONE = 1 << 40
"""One edge in ``held``; the number of the edge is below."""

NO_EDGE = ONE // 2
"""The number in ``held`` where a node has no port for a color."""


class Conflicts(NamedTuple):
    """A coloring and its conflicts, kept up to date by `recolor`.

    ``held[v, c]`` has the edges of color c at node v: `ONE` for each, plus their numbers, less
    `ONE` for each port but the first.  A color without a port holds `NO_EDGE`, and counts one more.
    ``crowded`` lists the conflicts as ``v * colors + c`` and ``moved`` the edges without a
    preferred color; ``place`` and ``spot`` are the positions in these lists, or -1.  ``changed`` is
    the step at which an edge got its color.
    """

    ends: Integers
    begin: Integers
    incident: Integers
    likes: NDArray[np.bool_]
    colors: Integers
    held: Integers
    crowded: Integers
    place: Integers
    moved: Integers
    spot: Integers
    changed: Integers
    sizes: Integers


def conflicts_of(problem: ColoringProblem, colors: Integers) -> Conflicts:
    """Return the state of a coloring in which every edge has an allowed color.

    >>> ends = np.array([0, 0]), np.array([1, 1])
    >>> likes = np.array([[True, False]] * 2)
    >>> problem = ColoringProblem(*ends, np.ones((2, 2), np.int64), likes)
    >>> conflicts_of(problem, np.array([0, 0])).sizes.tolist()
    [2, 2, 0]
    """
    nodes, edges = len(problem.room), np.arange(len(colors))
    ends = np.concatenate([problem.first, problem.second])
    order = np.argsort(ends, kind="stable")
    begin = np.searchsorted(ends[order], np.arange(nodes + 1)).astype(np.int64)
    held = np.where(problem.room > 0, ONE * (1 - problem.room), ONE + NO_EDGE)
    for side in (problem.first, problem.second):
        np.add.at(held, (side, colors), ONE + edges)
    counts = held // ONE
    crowded, place = _listed(counts.ravel() > 1)
    moved, spot = _listed(~problem.likes[edges, colors])
    sizes = np.array(
        [(place >= 0).sum(), np.maximum(counts - 1, 0).sum(), (spot >= 0).sum()], np.int64
    )
    return Conflicts(
        np.stack([problem.first, problem.second], axis=1), begin, order % len(colors),
        problem.likes, colors.astype(np.int64), held, crowded, place, moved, spot,
        np.full(len(colors), -1, np.int64), sizes,
    )  # fmt: skip


def _listed(chosen: NDArray[np.bool_]) -> tuple[Integers, Integers]:
    """Return a list of the chosen numbers with room for all, and the place of each number."""
    found = np.flatnonzero(chosen)
    numbers, place = np.zeros(len(chosen), np.int64), np.full(len(chosen), -1, np.int64)
    numbers[: len(found)] = found
    place[found] = np.arange(len(found))
    return numbers, place


@njit(cache=True, nogil=True)
def _include(number: Any, numbers: Any, place: Any, size: Any) -> Any:
    numbers[size], place[number] = number, size
    return size + 1


@njit(cache=True, nogil=True)
def _exclude(number: Any, numbers: Any, place: Any, size: Any) -> Any:
    last = numbers[size - 1]
    numbers[place[number]], place[last] = last, place[number]
    place[number] = -1
    return size - 1


@njit(cache=True, nogil=True)
def recolor(edge, color, ends, likes, colors, held, crowded, place, moved, spot, sizes):
    """Give an edge another color."""
    old, width = colors[edge], held.shape[1]
    for side in range(2):
        node = ends[edge, side]
        held[node, old] -= ONE + edge
        left = held[node, old] // ONE
        if left >= 1:
            sizes[EXCESS] -= 1
        if left == 1:
            slot = node * width + old
            sizes[CROWDED] = _exclude(slot, crowded, place, sizes[CROWDED])
        before = held[node, color] // ONE
        held[node, color] += ONE + edge
        if before >= 1:
            sizes[EXCESS] += 1
        if before == 1:
            slot = node * width + color
            sizes[CROWDED] = _include(slot, crowded, place, sizes[CROWDED])
    colors[edge] = color
    if likes[edge, old] and not likes[edge, color]:
        sizes[MOVED] = _include(edge, moved, spot, sizes[MOVED])
    elif likes[edge, color] and not likes[edge, old]:
        sizes[MOVED] = _exclude(edge, moved, spot, sizes[MOVED])
