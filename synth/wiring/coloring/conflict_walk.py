"""Search for a coloring near to preferred colors: annealing over improper colorings.

Every conflict has a weight, and every edge the reduced cost of its color (`coloring.prices`); the
sum is the energy.  A step recolors an edge, mostly one of a conflict, and is accepted as in
simulated annealing.  Conflicts so walk through the graph, split and meet, along colors that the
linear program finds cheap.  Two rules bring them together:

- Of the edges of a conflict, mostly the one is recolored whose color is oldest: conflicts walk on
  and do not turn back.
- Every `JOIN_EVERY` steps a conflict is joined with another exactly (`coloring.chain_joins`).

The temperature stays and the weight rises, so in the end few conflicts are left.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.kernels.splitmix import below, draw, seeded
from topoloom.synth.progress import report_progress
from topoloom.synth.wiring.coloring.chain_joins import free_color, join, scratch
from topoloom.synth.wiring.coloring.conflicts import (
    CROWDED,
    EXCESS,
    MOVED,
    conflicts_of,
    excess_after,
    recolor,
)
from topoloom.synth.wiring.coloring.problem import ColoringProblem, Integers


class Schedule(NamedTuple):
    """Temperature of a walk, the weight of a conflict in its first and its last step, and seed."""

    heat: float
    first_weight: float
    last_weight: float
    seed: int = 0


JOIN_EVERY = 400
"""Steps from one join to the next.  Measured on eight full plants of 64 to 1,024 hosts: 3,474 moves
in all, 3,698 without joins, 4,392 with a join every 4,000 steps; single plants differ both ways."""

OLDEST = 0.8
"""Share of steps that recolor the edge of a conflict whose color is oldest.  Measured on 1,024
hosts and 8 changed links: 178 moves; without this rule 268, and all walks leave conflicts."""

AT_A_TIME = 500_000
"""Steps between two reports of progress: some tenths of a second."""


@njit(cache=True, nogil=True)
def _chance(random: Any) -> Any:
    """Return a random number in [0, 1)."""
    return np.float64(draw(random) >> np.uint64(11)) / 9007199254740992.0


@njit(cache=True, nogil=True)
def _conflicting_edge(node, color, begin, incident, colors, changed, random):
    """Return an edge of a color at a node, mostly the one whose color is oldest."""
    found, seen, least = -1, 0, 0
    oldest = _chance(random) < OLDEST
    for k in range(begin[node], begin[node + 1]):
        edge = incident[k]
        if colors[edge] != color:
            continue
        seen += 1
        since = changed[edge]
        if found < 0 or (since < least if oldest else below(random, seen) == 0):
            found, least = edge, since
    return found


@njit(cache=True, nogil=True)
def _proposal(
    first, second, begin, incident, colors, count, crowded, moved, changed, sizes, random
):
    """Return an edge and a color for it: of a conflict, or beside an edge that moved."""
    width = count.shape[1]
    if sizes[CROWDED] > 0 and (sizes[MOVED] == 0 or below(random, 2) == 0):
        slot = crowded[below(random, sizes[CROWDED])]
        node = slot // width
        edge = _conflicting_edge(node, slot % width, begin, incident, colors, changed, random)
        color = free_color(node, count, random) if below(random, 2) == 0 else -1
    else:
        edge = moved[below(random, sizes[MOVED])]
        node = first[edge] if below(random, 2) == 0 else second[edge]
        edge = incident[begin[node] + below(random, begin[node + 1] - begin[node])]
        color = -1
    if color < 0:
        color = below(random, width - 1)
        color += int(color >= colors[edge])
    return edge, color


@njit(cache=True, nogil=True)
def _walk(state, buffers, random, begin, end, steps, schedule, enough, best):
    """Make the steps from ``begin`` to ``end`` of ``steps``; keep the best coloring in ``best``.

    ``best[0]`` has the colors and ``best[1][0]`` the number of moved edges.  The walk ends when
    only ``enough`` edges are moved.
    """
    one, other, marks = buffers
    found, least = best
    heat, rise = schedule.heat, schedule.last_weight - schedule.first_weight
    # Arrays of their own: numba counts references of a tuple's members in every call.
    first, second, at, incident, cost, likes, colors = state[:7]
    count, total, crowded, place, moved, spot, changed, sizes = state[7:]
    for step in range(begin, end):
        if sizes[EXCESS] == 0 and sizes[MOVED] < least[0]:
            least[0] = sizes[MOVED]
            found[:] = colors
        if least[0] <= enough:
            break
        weight = schedule.first_weight + rise * (step / steps)
        if step % JOIN_EVERY == 0 and sizes[CROWDED] > 0:
            join(state, weight, heat, random, one, other, marks)
            continue
        edge, color = _proposal(
            first, second, at, incident, colors, count, crowded, moved, changed, sizes, random
        )
        more = cost[edge, color] - cost[edge, colors[edge]]
        more += weight * excess_after(edge, color, first, second, colors, count)
        if more <= 0.0 or _chance(random) < np.exp(-more / heat):
            recolor(
                edge, color, first, second, likes, colors, count, total, crowded, place, moved,
                spot, sizes,
            )  # fmt: skip
            changed[edge] = step


def walked(
    problem: ColoringProblem,
    reduced: NDArray[np.float64],
    colors: Integers,
    steps: int,
    schedule: Schedule,
    enough: int,
) -> tuple[Integers, Integers | None]:
    """Return the last coloring, maybe with conflicts, and the best one without conflicts.

    Parameters
    ----------
    problem : ColoringProblem
        With two colors at least.
    reduced : float array, shape (edges, colors)
        The reduced cost of every color.
    colors : int array
        The coloring of the first step; every edge has an allowed color.
    steps : int
        The same steps for every call with the same arguments.
    schedule : Schedule
    enough : int
        The walk ends when this number of edges keeps a preferred color.

    Notes
    -----
    O(steps * (colors + largest degree)).

    Examples
    --------
    Two edges between two nodes prefer each other's color.

    >>> ends, likes = (np.array([0, 0]), np.array([1, 1])), np.array([[False, True], [True, False]])
    >>> problem = ColoringProblem(*ends, np.ones((2, 2), np.int64), likes)
    >>> cost = 1.0 - likes
    >>> walked(problem, cost, np.array([0, 1]), 1000, Schedule(0.5, 1.0, 2.0), 2)[1].tolist()
    [1, 0]
    """
    edges = len(colors)
    state = conflicts_of(problem, reduced, colors)
    buffers, random = scratch(len(problem.room), edges), seeded(schedule.seed)
    best = np.full(edges, -1, np.int64), np.full(1, edges + 1, np.int64)
    for begin in range(0, steps, AT_A_TIME):
        report_progress("moving few links", begin, steps)
        end = min(begin + AT_A_TIME, steps)
        _walk(state, buffers, random, begin, end, steps, schedule, edges - enough, best)
        if best[1][0] <= edges - enough:
            break
    return state.colors, best[0] if best[1][0] <= edges else None
