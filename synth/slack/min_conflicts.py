"""Min-conflicts: move cells out of overfull link sets until no set is overfull.

Profile (1009 nodes of degree 4): 8 million moves a second are tried, of which 5 % are made.
Counting a move into the tables and out again takes four fifths of the time.
"""

from typing import Any

import numpy as np
from numba import njit

from topoloom.synth.kernels.scalars import int64, truth
from topoloom.synth.kernels.splitmix import below
from topoloom.synth.slack.load_tables import IMPOSSIBLE, set_arrival


@njit(cache=True, nogil=True)
def repair(
    problem: Any,
    tables: Any,
    excess: int,
    budget: int,
    cold: int,
    free: bool,
    journal: Any,
    state: Any,
) -> tuple[int, int, int]:
    """Move cells until there is no excess or ``budget`` moves have been tried.

    Args:
        excess: The sum of ``tables.excess``.
        cold: A move that adds w to the excess is made with probability 2^(-cold w).
        free: Whether cells may temporarily have no open link.  Such moves reach farther at twice
            the time a move; on large problems they reach too far.
        journal ((most, 3) array of int32): Receives the moves made, for `undo_moves`; the repair
            ends when it is full.
        state: Of `synth.kernels.splitmix`.

    Returns:
        excess, applied, evaluated: Remaining excess, moves made, moves tried.
    """
    groups, steps = tables.excess.shape[0], tables.excess.shape[1] - 1
    bad = np.empty((groups * (steps + 1), 2), np.int32)
    listed = np.zeros((groups, steps + 1), np.bool_)
    waiting = applied = evaluated = int64(0)
    for g in range(groups):
        for step in range(1, steps + 1):
            if tables.excess[g, step] > 0:
                waiting = _list(bad, listed, waiting, g, step)
    while waiting > 0 and evaluated < budget and applied < len(journal):
        index = below(state, waiting)
        g, step = int64(bad[index, 0]), int64(bad[index, 1])
        if tables.excess[g, step] == 0:
            listed[g, step] = False
            waiting -= 1
            bad[index] = bad[waiting]
            continue
        change, row, node, new, tried = _best_move(problem, tables, g, step, free, state)
        evaluated += tried + 1
        if change > 0 and (change * cold > 30 or below(state, 1 << (change * cold)) > 0):
            continue
        journal[applied, 0], journal[applied, 1], journal[applied, 2] = (
            row,
            node,
            tables.arrival[node, row],
        )
        applied += 1
        excess += set_arrival(problem, tables, row, node, new, truth(True))
        waiting = _list(bad, listed, waiting, problem.group[node], new)
        for edge in range(problem.start[node], problem.start[node + 1]):
            after = problem.head[edge]
            arrival = int64(tables.arrival[after, row])
            if arrival > 0:
                waiting = _list(bad, listed, waiting, problem.group[after], arrival)
    return excess, applied, evaluated


@njit(cache=True, nogil=True)
def undo_moves(problem: Any, tables: Any, journal: Any) -> None:
    """Undo the moves of a repair, the last first."""
    for index in range(len(journal) - 1, -1, -1):
        row, node, old = journal[index]
        set_arrival(problem, tables, int64(row), int64(node), int64(old), truth(True))


@njit(cache=True, nogil=True)
def _list(bad: Any, listed: Any, waiting: int, g: int, step: int) -> int:
    if listed[g, step]:
        return waiting
    listed[g, step] = True
    bad[waiting, 0], bad[waiting, 1] = g, step
    return waiting + 1


@njit(cache=True, nogil=True)
def _best_move(
    problem: Any, tables: Any, g: int, step: int, free: bool, state: Any
) -> tuple[int, int, int, int, int]:
    """Return the best change of excess that relieves a step, its move, and the moves tried.

    For a cell confined to an overfull set, a move changes the cell's step, or makes a tail
    earlier so that the cell gains an open link.
    """
    tail = problem.tail
    links = _overfull(problem, tables, g, step, state)
    row, node = _cell_within(problem, tables, g, step, links, state)
    arrival, root = tables.arrival, problem.roots[row]
    best, best_node, best_arrival, ties, tried = IMPOSSIBLE, node, step, 0, 0
    for k in range(-1, tail.shape[1]):
        moved, last = node, tables.excess.shape[1] - 1
        if k >= 0:
            moved, last = tail[node, k], step - 1
            if moved < 0 or links >> k & 1 or moved == root or arrival[moved, row] < step:
                continue
        was = int64(arrival[moved, row])
        for new in range(1, last + 1):
            if new == was:
                continue
            tried += 1
            change = set_arrival(problem, tables, row, moved, new, free)
            if change == IMPOSSIBLE:
                continue
            set_arrival(problem, tables, row, moved, was, truth(True))
            if change < best:
                best, best_node, best_arrival, ties = change, moved, new, 1
            elif change == best:
                ties += 1
                if below(state, ties) == 0:
                    best_node, best_arrival = moved, new
    return best, row, best_node, best_arrival, tried


@njit(cache=True, nogil=True)
def _overfull(problem: Any, tables: Any, g: int, step: int, state: Any) -> int:
    """Return a uniformly random overfull set of links."""
    filled, limit = tables.filled[g, step], tables.limit[problem.kind[g], step]
    chosen, ties = 0, 0
    for links in range(len(filled)):
        if filled[links] > limit[links]:
            ties += 1
            if below(state, ties) == 0:
                chosen = links
    return chosen


@njit(cache=True, nogil=True)
def _cell_within(
    problem: Any, tables: Any, g: int, step: int, links: int, state: Any
) -> tuple[int, int]:
    """Return a cell of the step that is confined to a set of links, from a random start."""
    members, rows = problem.members[g], len(problem.roots)
    shift = below(state, len(members) * rows)
    row, place = shift // len(members), shift % len(members)
    for _ in range(len(members) * rows):
        node = members[place]
        if tables.arrival[node, row] == step and tables.mask[node, row] | links == links:
            return row, node
        place += 1
        if place == len(members):
            place, row = 0, row + 1 if row + 1 < rows else 0
    return -1, -1
