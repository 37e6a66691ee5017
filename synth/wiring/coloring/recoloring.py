"""Edge colorings in which as many edges as possible keep a preferred color.

1. Kempe chains complete the preferred colors to a proper coloring (`coloring.kempe`).  Where a node
   has several ports for a color, the caller gives one, or the walks look for one.
2. Prices of ports bound the edges that any coloring keeps (`coloring.prices`).
3. Walks of conflicts, guided by the prices, look for a coloring at the bound
   (`coloring.conflict_walk`); Kempe chains remove the conflicts that are left.
4. Branch and bound on the colors of new edges raises the bound (`coloring.branches`).

The search ends at the first step that meets the bound.  All work is limited by counts of steps.
"""

import numpy as np

from topoloom.synth.wiring import limits
from topoloom.synth.wiring.coloring.branches import most_kept
from topoloom.synth.wiring.coloring.conflict_walk import Schedule, walk_conflicts
from topoloom.synth.wiring.coloring.kempe import edge_coloring
from topoloom.synth.wiring.coloring.prices import good_prices
from topoloom.synth.wiring.coloring.problem import ColoringProblem, Integers

WALKS = (
    (Schedule(0.2, 5.0, 5.0), 0.2),
    (Schedule(0.5, 4.0, 8.0), 0.3),
    (Schedule(0.6, 4.0, 8.0), 0.6),
)
"""The walks, one after the other, and the share of `limits.WALK_STEPS_PER_EDGE` of
each.

The cold walk finds the fewest moves for 64 changed links on full plants of 256 hosts, and the last
one on some of 512 and 1,024 hosts.
"""

FEW_WALKS = ((Schedule(0.2, 5.0, 5.0), 0.1), (Schedule(0.6, 4.0, 8.0), 0.3))
"""The walks up to `limits.MAX_BRANCHED` new edges.

Measured on 11 full plants of 1,024 hosts with 8 changed links, against the walks above: fewer moves
on one (170, not 176), more on one (220, not 218).  Either walk alone finds more on several.
"""

SEVERAL_WALKS = (
    (Schedule(0.1, 5.0, 5.0), 0.1),
    (Schedule(0.15, 5.0, 5.0), 0.1),
    (Schedule(0.2, 4.0, 8.0), 0.1),
)
"""The walks where a node has several ports for a color: chains are short there.

Measured on full plants of two ports of a host on a panel: 200 hosts, 8 panels and 128 changed
links, 237, 239 and 247 moved links of at least 228; 1,000 hosts and 8 panels, 376, 379 and 361 of
at least 337.  At a temperature of 0.5 thousands of links move.
"""

WARMER_WALKS = ((Schedule(0.7, 4.0, 8.0), 0.6), (Schedule(0.9, 4.0, 8.0), 0.6))
"""The walks that follow while all walks before them ended with conflicts that cannot be joined.

Measured on a full plant of 4,096 hosts with 256 changed links: 3,454 moves in place of 18,670.
"""


def recolor_least(
    problem: ColoringProblem, claimed: Integers, most: int, proper: Integers | None = None
) -> tuple[Integers, int] | None:
    """Return a proper coloring that keeps many preferred colors, and how many any keeps at most.

    Args:
        claimed: A preferred color for some edges, or -1; no node has a color more often than ports.
        most: An upper bound of the edges that keep a color.
        proper: A proper coloring that is known.

    Returns:
        None if the search finds no proper coloring.

    >>> square = np.array([0, 0, 1, 1]), np.array([2, 3, 2, 3])
    >>> likes = np.array([[True, False]] * 4)
    >>> problem = ColoringProblem(*square, np.ones((4, 2), np.int64), likes)
    >>> colors, most = recolor_least(problem, np.array([0, -1, -1, -1]), 4)
    >>> colors.tolist(), most
    ([0, 1, 1, 0], 2)
    """
    several = bool((problem.room > 1).any())
    best = _completed(problem, claimed) if proper is None and not several else proper
    if best is None and not several:
        return None
    kept = -1 if best is None else problem.kept(best)
    if kept == most or problem.room.shape[1] < 2:
        return None if best is None else (best, most)
    start, joined = np.where(claimed < 0, problem.allowed.argmax(axis=1), claimed), False
    prices = good_prices(problem, start if best is None else best, max(kept, 0))
    most, walks = min(most, prices.most), _walks(problem)
    for number, (schedule, share) in enumerate((*walks, *WARMER_WALKS)):
        if kept == most or (joined and number >= len(walks)):
            break
        steps = int(share * _steps(problem))
        last, found = walk_conflicts(problem, prices.reduced, start, steps, schedule, most)
        joined = joined or found is not None
        if found is None and not several:
            found = _completed(problem, problem.without_conflicts(last))
        if found is not None and problem.kept(found) > kept:
            best, kept = found, problem.kept(found)
    if best is None:
        return None
    return best, most if kept == most else min(most, most_kept(problem, prices, kept))


def _walks(problem: ColoringProblem) -> tuple[tuple[Schedule, float], ...]:
    """Return the walks of a problem and their shares of the steps."""
    if (problem.room > 1).any():
        return SEVERAL_WALKS
    return FEW_WALKS if problem.new_edges.sum() <= limits.MAX_BRANCHED else WALKS


def _steps(problem: ColoringProblem) -> int:
    """Return the steps of one walk."""
    return min(limits.WALK_STEPS_PER_EDGE * len(problem.first), limits.MAX_WALK_STEPS)


def _completed(problem: ColoringProblem, colors: Integers) -> Integers | None:
    """Return a proper coloring with the given colors where they can stay; -1 is no color.

    Without given colors it takes the first few that suffice: the other colors stay spare at all
    nodes, so that a later change finds a common one.
    """
    ends, room = (problem.first, problem.second), problem.room
    if (colors >= 0).any():
        return edge_coloring(ends, room.T, colors)
    degrees = np.bincount(np.concatenate(ends), minlength=len(room))
    enough = np.flatnonzero((room.cumsum(axis=1) >= degrees[:, None]).all(axis=0)) + 1
    tried = (edge_coloring(ends, room.T[:count], colors) for count in enough.tolist())
    return next((found for found in tried if found is not None), None)
