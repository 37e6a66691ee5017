"""The best trees of several groups at once, by column generation, with exact bounds.

The linear program of `joint_program` has one column for each tree.  HiGHS solves the program of the
known trees; the cheapest trees under the prices of the arcs are the next columns.  Both bounds are
exact: the loads of exact weights, and the cheapest trees under integer lengths (`exact_trees`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from topoloom.schedules.errors import TookTooLong
from topoloom.schedules.groups.exact_trees import (
    LONGEST,
    MasterSolution,
    Weights,
    exact_lengths,
    exact_weights,
    slowest,
)
from topoloom.schedules.groups.joint_program import MAX_ENTRIES, Column, JointProgram, Priced
from topoloom.schedules.routes.concurrent_flow import whole_lengths
from topoloom.schedules.trees.linear_program.solver import solve
from topoloom.synth.progress import report_progress

MAX_WORK = 1 << 31
"""Arcs that all searches look at, and other work of that time: one to two minutes."""

MAX_ROUNDS, ADAPTIVE_ROUNDS = 400, 16
"""Rounds in all, and those before the first linear program, under lengths that grow with the
load."""

_MASTER_WORK = 16
"""Time of a linear program for each pair of a row and a column, in times of an arc."""

_CLOSE, _SMOOTHING = 1e-9, 0.85

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class JointTrees:
    """Trees of all classes of roots with weights of sum 1 each, and bounds on their time.

    ``reached`` is the time of these trees and ``least`` a lower bound, for one unit of data of
    every root, or for an allreduce of every group; in 1 / (unit of the network).  ``lengths`` of
    the resources prove the lower bound.
    """

    reached: Fraction
    least: Fraction
    weights: Weights
    lengths: Ints


def joint_trees(program: JointProgram) -> JointTrees:
    """Return trees of least time for all groups at once, and the bound that proves it.

    The bounds differ where the search ends at `MAX_WORK`, `MAX_ROUNDS` or `MAX_ENTRIES`, or where
    no exact solution is found close to that of the solver.
    """
    entries = len(program.classes) * len(program.room)
    rounds = min(ADAPTIVE_ROUNDS, MAX_WORK // program.work // 2, MAX_ENTRIES // entries)
    rounds = max(2, rounds)
    history = list(_adaptive(program, rounds))
    columns = [column for priced in history for column in priced.columns]
    weights = [tuple((column, Fraction(1, rounds)) for column in columns)]
    solutions = list(_generated(program, columns, max(history, key=_bound)))
    history += [priced for _, priced in solutions]
    if solutions:
        solution = solutions[-1][0]
        best = max(history, key=_bound)
        floats = (solution.lengths, best.lengths.astype(float))
        near = [next(whole_lengths(one, LONGEST)) for one in floats]
        exact = exact_lengths(program, solution)
        history += [program.priced(one) for one in (exact, *near) if one is not None]
        weights += exact_weights(program, solution)
    best = max(history, key=_bound)
    reached, chosen = min(((slowest(program, one), one) for one in weights), key=lambda one: one[0])
    return JointTrees(reached, best.bound, chosen, best.lengths)


def _adaptive(program: JointProgram, rounds: int) -> Iterator[Priced]:
    """Yield the cheapest trees under lengths that grow with the load of all trees before."""
    room = np.array(program.room, float)
    loads, lengths = np.zeros(len(room)), np.ones(len(room), np.int64)
    growth = None
    for number in range(rounds):
        report_progress("adapting lengths", number, rounds)
        priced = program.priced(lengths)
        yield priced
        loads += sum(column.loads for column in priced.columns) / room
        growth = growth or (10 + rounds / 2) / (rounds * float(priced.bound))
        weight = np.exp(growth * (loads - loads.max())) * room.min() / room
        lengths = np.maximum(1, weight / weight.max() * LONGEST).astype(np.int64)


def _generated(
    program: JointProgram, columns: list[Column], best: Priced
) -> Iterator[tuple[MasterSolution, Priced]]:
    """Yield solutions of growing programs, each with the cheapest trees under its prices."""
    pool = {_key(column): column for column in columns}
    room = np.array(program.room, float)
    left = MAX_WORK - program.work * ADAPTIVE_ROUNDS
    for number in range(MAX_ROUNDS):
        report_progress("choosing trees", number, MAX_ROUNDS)
        entries = len(room) * len(pool)
        left -= _MASTER_WORK * entries
        if left < 0 or entries > MAX_ENTRIES:
            return
        try:
            found = _master(program, list(pool.values()))
        except TookTooLong:
            return
        close = found.time <= float(best.bound) * (1 + _CLOSE)
        new: dict[tuple[int, bytes], Column] = {}
        for share in (0.0,) if close else (_SMOOTHING, 0.0):
            left -= program.work
            lengths = share * best.lengths / (best.lengths @ room) + (1 - share) * found.lengths
            priced = program.priced(next(whole_lengths(lengths, LONGEST)))
            yield found, priced
            best = max(best, priced, key=_bound)
            new = {_key(column): column for column in priced.columns if _key(column) not in pool}
            # The prices of the program themselves must prove its time, not only smoothed ones.
            if not share and found.time <= float(priced.bound) * (1 + _CLOSE):
                return
            if new:
                break
        if not new:
            return
        pool |= new


def _key(column: Column) -> tuple[int, bytes]:
    return column.kind, column.loads.tobytes()


def _master(program: JointProgram, columns: list[Column]) -> MasterSolution:
    """Return the best weights of known columns."""
    room = np.array(program.room, float)
    scale = room.mean()
    loads = csr_array(np.stack([column.loads for column in columns], axis=1) / scale)
    most = csr_array(hstack([loads, csr_array(-room[:, None] / scale)]))
    kinds = [column.kind for column in columns]
    shape = (len(program.classes), len(columns) + 1)
    equal = csr_array((np.ones(len(columns)), (kinds, np.arange(len(columns)))), shape=shape)
    goal = np.zeros(len(columns) + 1)
    goal[-1] = 1
    found = solve(
        goal,
        most,
        [0.0] * len(room),
        equal,
        [1.0] * len(program.classes),
        [(0, None)] * len(goal),
    )
    assert found is not None  # every class has a column
    prices = np.maximum(-found.ineqlin.marginals, 0)
    return MasterSolution(columns, found.x[:-1], prices, float(found.x[-1]))


def _bound(priced: Priced) -> Fraction:
    return priced.bound
