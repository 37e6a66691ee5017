"""Edge colorings in which as many edges as possible keep a preferred color.

1. Kempe chains complete the preferred colors to a proper coloring (`coloring.kempe`).
2. Prices of ports bound the edges that any coloring keeps (`coloring.prices`).
3. Walks of conflicts, guided by the prices, look for a coloring at the bound
   (`coloring.conflict_walk`); Kempe chains remove the conflicts that are left.
4. Branch and bound on the colors of new edges raises the bound (`coloring.branches`).

The search ends at the first step that meets the bound, and the walks where `AGREEING` of them keep
the most edges.  All work is limited by counts of steps.
"""

import numpy as np

from topoloom.synth.wiring import limits
from topoloom.synth.wiring.coloring.branches import most_kept
from topoloom.synth.wiring.coloring.conflict_walk import Schedule, walked
from topoloom.synth.wiring.coloring.kempe import coloured
from topoloom.synth.wiring.coloring.prices import priced
from topoloom.synth.wiring.coloring.problem import ColoringProblem, Integers

HEATS = (0.6, 0.6, 0.6, 0.3)
"""Temperatures of the walks, each with a seed of its own.

The cold walk suffices where many links change: 400 moves beside 424 at 0.6, on a full plant of 256
hosts with 64 changed links.  Elsewhere short walks from several seeds are better than a long one:
on three plants of 1,024 hosts with 8 changed links, six walks of 2 million steps find 250, 212 and
236 moves, and one of 25 million steps finds 256, 212 and 242.
"""

WARM = 0.9
"""Temperature after a walk whose conflicts cannot be joined, in walks of twice the length.

Warm walks end with more moves and fewer conflicts.  Measured on two full plants of 4,096 hosts with
64 changed links: 1,400 to 1,458 moves at 0.9, 1,434 to 1,714 at 0.75, and 18,582 at 1.1.
"""

AGREEING = 3
"""Walks that end at the fewest moves found: the search then ends."""


def recolored(
    problem: ColoringProblem, claimed: Integers, most: int
) -> tuple[Integers, int] | None:
    """Return a proper coloring that keeps many preferred colors, and how many any keeps at most.

    Args:
        claimed: A preferred color for some edges, or -1; no node has a color twice.
        most: An upper bound of the edges that keep a color.

    Returns:
        None if the search finds no proper coloring.

    >>> square = np.array([0, 0, 1, 1]), np.array([2, 3, 2, 3])
    >>> likes = np.array([[True, False]] * 4)
    >>> problem = ColoringProblem(*square, np.ones((4, 2), np.int64), likes)
    >>> colors, most = recolored(problem, np.array([0, -1, -1, -1]), 4)
    >>> colors.tolist(), most
    ([0, 1, 1, 0], 2)
    """
    completed = _completed(problem, claimed)
    if completed is None:
        return None
    best = completed
    kept = problem.kept(best)
    if kept == most or problem.room.shape[1] < 2:
        return best, most
    prices = priced(problem, best, kept)
    most = min(most, prices.most)
    start = _started(problem, claimed)
    joined, agreeing = True, 0
    for seed, heat in enumerate(HEATS):
        if kept == most or agreeing == AGREEING:
            break
        schedule = Schedule(heat if joined else WARM, 4.0, 8.0, seed)
        steps = _steps(problem) * (1 if joined else 2)
        last, found = walked(problem, prices.reduced, start, steps, schedule, most)
        if found is None:
            joined = False
            found = _completed(problem, problem.without_conflicts(last))
        again = -1 if found is None else problem.kept(found)
        if found is not None and again > kept:
            best, kept, agreeing = found, again, 0
        agreeing += again == kept
    return best, most if kept == most else min(most, most_kept(problem, prices, kept))


def _steps(problem: ColoringProblem) -> int:
    """Return the steps of one walk."""
    edges = len(problem.first)
    short = min(limits.SHORT_WALK_STEPS_PER_EDGE * edges, limits.MAX_SHORT_WALK_STEPS)
    return min(max(short, limits.WALK_STEPS_PER_EDGE * edges), limits.MAX_WALK_STEPS)


def _completed(problem: ColoringProblem, colors: Integers) -> Integers | None:
    """Return a proper coloring with the given colors where they can stay; -1 is no color.

    Without given colors it takes the first few that suffice: the other colors stay spare at all
    nodes, so that a later change finds a common one.
    """
    ends, room = (problem.first, problem.second), problem.room
    if (colors >= 0).any():
        return coloured(ends, room.T, colors)
    degrees = np.bincount(np.concatenate(ends), minlength=len(room))
    enough = np.flatnonzero((room.cumsum(axis=1) >= degrees[:, None]).all(axis=0)) + 1
    tried = (coloured(ends, room.T[:count], colors) for count in enough.tolist())
    return next((found for found in tried if found is not None), None)


def _started(problem: ColoringProblem, claimed: Integers) -> Integers:
    """Return the claimed colors, and for every other edge an allowed color with few conflicts."""
    colors = claimed.copy()
    taken = np.zeros_like(problem.room)
    given = np.flatnonzero(claimed >= 0)
    for ends in (problem.first, problem.second):
        taken[ends[given], claimed[given]] += 1
    for edge in np.flatnonzero(claimed < 0).tolist():
        u, v = problem.first[edge], problem.second[edge]
        crowd = np.where(problem.allowed[edge], taken[u] + taken[v], np.iinfo(np.int64).max)
        colors[edge] = crowd.argmin()
        taken[u, colors[edge]] += 1
        taken[v, colors[edge]] += 1
    return colors
