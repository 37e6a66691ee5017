"""Search for a coloring near to preferred colors: annealing over improper colorings.

Every edge too many at a node has a weight, and every edge the reduced cost of its color
(`coloring.prices`); the sum is the energy.  A step draws another color for an edge, mostly one of a
conflict, from the Gibbs distribution of its other colors, and is accepted as in Metropolized Gibbs
sampling (Liu, Biometrika 1996).  Conflicts so walk through the graph, split and meet, along colors
that the linear program finds cheap.  Two rules bring them together:

- Of the edges of a conflict, mostly the one is recolored whose color is oldest: conflicts walk on
  and do not turn back.
- Every `JOIN_EVERY` steps a conflict is joined with another exactly (`coloring.chain_joins`).

The last conflicts cost less than their joins, so few walks end without conflicts, and those that
do end at the first join.  So *probes* join all conflicts that are left, note the coloring, and undo
the joins.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.kernels.splitmix import below, draw, seeded
from topoloom.synth.progress import report_progress
from topoloom.synth.wiring.coloring.chain_joins import MAX_LENGTH, join, scratch, undo
from topoloom.synth.wiring.coloring.conflicts import (
    CROWDED,
    EXCESS,
    MOVED,
    ONE,
    conflicts_of,
    recolor,
)
from topoloom.synth.wiring.coloring.problem import ColoringProblem, Integers


class Schedule(NamedTuple):
    """Temperature, first and last weight of a conflict in temperatures, and seed."""

    heat: float
    first_weight: float
    last_weight: float
    seed: int = 0


JOIN_EVERY = 500
"""Steps from one join to the next."""

OLDEST = 0.8
"""Share of steps that recolor the edge of a conflict whose color is oldest."""

BESIDE = 0.02
"""Share of steps that recolor an edge beside one that moves."""

PROBES, MAX_PROBED, PROBE_TRIES = 2_000, 8, 3
"""Probes of a walk, edges too many up to which the walk probes, and joins that a probe tries for
each.  Measured on 4,096 hosts and 8 changed links: 404 moves up to 4 edges, 344 up to 8."""

AT_A_TIME = 500_000
"""Steps between two reports of progress: some hundredths of a second."""


@njit(cache=True, nogil=True)
def _chance(random: Any) -> Any:
    """Return a random number in [0, 1)."""
    return np.float64(draw(random) >> np.uint64(11)) / 9007199254740992.0


@njit(cache=True, nogil=True)
def _conflicting_edge(node, color, begin, incident, colors, changed, random):
    """Return an edge of a color at a node, mostly the one whose color is oldest, or -1."""
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
def _edge_beside(ends, begin, incident, moved, sizes, random):
    """Return an edge at an end of one that moves."""
    node = ends[moved[below(random, sizes[MOVED])], below(random, 2)]
    return incident[begin[node] + below(random, begin[node + 1] - begin[node])]


@njit(cache=True, nogil=True)
def _drawn_color(edge, ends, colors, held, likelihood, factors, room, random):
    """Return the next color of an edge: another one, or the color that it has.

    ``likelihood`` is the Boltzmann factor of every edge and color, ``factors[k]`` that of k - 2
    more conflicts.
    """
    u, v, now = ends[edge, 0], ends[edge, 1], colors[edge]
    fewer = int(held[u, now] >= 2 * ONE) + int(held[v, now] >= 2 * ONE)
    others = 0.0
    for color in range(held.shape[1]):
        more = int(held[u, color] >= ONE) + int(held[v, color] >= ONE)
        room[color] = likelihood[edge, color] * factors[2 + more - fewer]
        if color != now:
            others += room[color]
    left, drawn = _chance(random) * others, now
    for color in range(held.shape[1]):
        if color != now and room[color] > 0.0:
            drawn = color
            left -= room[color]
            if left < 0.0:
                break
    back = others + likelihood[edge, now] - room[drawn]
    return drawn if others >= back or _chance(random) * back < others else now


@njit(cache=True, nogil=True)
def _note(colors, sizes, best):
    """Keep a coloring without conflicts if it moves the fewest edges so far."""
    found, least = best
    if sizes[EXCESS] == 0 and sizes[MOVED] < least[0]:
        least[0] = sizes[MOVED]
        found[:] = colors


@njit(cache=True, nogil=True)
def _probe(state, cost, heat, random, buffers, best):
    """Join all conflicts at any cost that gains, note the coloring, and undo the joins."""
    chains, places, turned, chosen, log = buffers
    colors, sizes, total = state[4], state[11], 0
    for _ in range(PROBE_TRIES * sizes[EXCESS]):
        value = 0.5 * (best[1][0] - sizes[MOVED])
        if value <= 0.0 or sizes[EXCESS] == 0:
            break
        count = join(state, cost, value, heat, random, chains, places, turned, chosen)
        log[:, total : total + count] = turned[:, :count]
        total += count
    _note(colors, sizes, best)
    undo(total, state, cost, log)


@njit(cache=True, nogil=True)
def _walk(
    state, cost, likelihood, buffers, random, begin, end, steps, rests, heat, weights, enough, best
):  # fmt: skip
    """Make the steps from ``begin`` to ``end`` of ``steps``; keep the best coloring in ``best``.

    ``rests`` are the steps between two probes, ``weights`` the first and the last one.  ``best[0]``
    has the colors and ``best[1][0]`` the number of moved edges.  The walk ends when only ``enough``
    edges are moved.
    """
    chains, places, turned, chosen, _ = buffers
    least, first, rise = best[1], weights[0], weights[1] - weights[0]
    # Arrays of their own: numba counts references of a tuple's members in every call.
    ends, at, incident, likes, colors, held, crowded, place, moved, spot, changed, sizes = state
    room, factors = np.empty(held.shape[1]), np.empty(5)
    for step in range(begin, end):
        if least[0] <= enough:
            break
        if step % JOIN_EVERY == 0:
            weight = first + rise * (step / steps)
            for k in range(5):
                factors[k] = np.exp(weight * (2 - k))
            if sizes[CROWDED] > 0:
                join(state, cost, weight * heat, heat, random, chains, places, turned, chosen)
                _note(colors, sizes, best)
                if step % rests == 0 and sizes[EXCESS] <= MAX_PROBED:
                    _probe(state, cost, heat, random, buffers, best)
                continue
        if sizes[CROWDED] == 0 or (sizes[MOVED] > 0 and _chance(random) < BESIDE):
            edge = _edge_beside(ends, at, incident, moved, sizes, random)
        else:
            slot = crowded[below(random, sizes[CROWDED])]
            node, color = slot // held.shape[1], slot % held.shape[1]
            edge = _conflicting_edge(node, color, at, incident, colors, changed, random)
        color = _drawn_color(edge, ends, colors, held, likelihood, factors, room, random)
        if color != colors[edge]:
            recolor(edge, color, ends, likes, colors, held, crowded, place, moved, spot, sizes)
            changed[edge] = step
            if sizes[EXCESS] == 0 and sizes[MOVED] < least[0]:
                _note(colors, sizes, best)


def walk_conflicts(
    problem: ColoringProblem,
    reduced: NDArray[np.float64],
    colors: Integers,
    steps: int,
    schedule: Schedule,
    enough: int,
) -> tuple[Integers, Integers | None]:
    """Return the last coloring, maybe with conflicts, and the best one without conflicts.

    Args:
        problem: With two colors at least.
        reduced (float array, shape (edges, colors)): The reduced cost of every color.
        colors: The coloring of the first step; every edge has an allowed color.
        steps: The same steps for every call with the same arguments.
        enough: The walk ends when this number of edges keeps a preferred color.

    O(steps * (colors + largest degree)).

    Two edges between two nodes prefer each other's color.

    >>> ends, likes = (np.array([0, 0]), np.array([1, 1])), np.array([[False, True], [True, False]])
    >>> problem = ColoringProblem(*ends, np.ones((2, 2), np.int64), likes)
    >>> cost = 1.0 - likes
    >>> schedule = Schedule(0.5, 2.0, 4.0)
    >>> walk_conflicts(problem, cost, np.array([0, 1]), 1000, schedule, 2)[1].tolist()
    [1, 0]
    """
    edges = len(colors)
    state = conflicts_of(problem, colors)
    weights = float(schedule.first_weight), float(schedule.last_weight)
    random = seeded(schedule.seed)
    log = np.zeros((2, PROBE_TRIES * MAX_PROBED * 4 * MAX_LENGTH), np.int64)
    buffers = (*scratch(len(problem.room)), log)
    likelihood = np.exp(-reduced / schedule.heat)
    best = np.full(edges, -1, np.int64), np.full(1, edges + 1, np.int64)
    rests = max(steps // PROBES // JOIN_EVERY, 1) * JOIN_EVERY
    _note(state.colors, state.sizes, best)
    for begin in range(0, steps, AT_A_TIME):
        report_progress("moving few links", begin, steps)
        end = min(begin + AT_A_TIME, steps)
        # Plain tuples: a compiled kernel names the class of a named one, by its place of import.
        _walk(
            tuple(state), reduced, likelihood, buffers, random, begin, end, steps, rests,
            float(schedule.heat), weights, edges - enough, best,
        )  # fmt: skip
        if best[1][0] <= edges - enough:
            break
    return state.colors, best[0] if best[1][0] <= edges else None
