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
from topoloom.schedules.groups.joint_program import Column, JointProgram, Priced
from topoloom.schedules.routes.concurrent_flow import whole_lengths
from topoloom.schedules.trees.linear_program.solver import solve
from topoloom.synth.progress import report_progress

MAX_WORK = 1 << 31
"""Arcs that all searches for shortest paths look at: about a minute."""

MIN_ROUNDS, MAX_ROUNDS = 4, 400
"""Rounds in all."""

ADAPTIVE_ROUNDS = 16
"""Rounds under lengths that grow with the load, before the first linear program."""

_CLOSE = 1e-9

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

    The bounds differ where the search ends at `MAX_WORK` or `MAX_ROUNDS`, or where no exact
    solution is found close to that of the solver.
    """
    rounds = min(MAX_ROUNDS, max(MIN_ROUNDS, MAX_WORK // program.work))
    adaptive = min(ADAPTIVE_ROUNDS, rounds // 2)
    history = list(_adaptive(program, adaptive))
    columns = [column for priced in history for column in priced.columns]
    weights = [tuple((column, Fraction(1, adaptive)) for column in columns)]
    solutions = list(_generated(program, columns, rounds - adaptive))
    history += [priced for _, priced in solutions]
    if solutions:
        solution = solutions[-1][0]
        lengths = exact_lengths(program, solution)
        if lengths is not None:
            history.append(program.priced(lengths))
        weights += exact_weights(program, solution)
    best = max(history, key=lambda priced: priced.bound)
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
    program: JointProgram, columns: list[Column], rounds: int
) -> Iterator[tuple[MasterSolution, Priced]]:
    """Yield solutions of growing programs, each with the cheapest trees under its prices."""
    pool = {_key(column): column for column in columns}
    bound = Fraction(0)
    for number in range(rounds):
        report_progress("choosing trees", number, rounds)
        try:
            found = _master(program, list(pool.values()))
        except TookTooLong:
            return
        priced = program.priced(next(whole_lengths(found.lengths, LONGEST)))
        yield found, priced
        bound = max(bound, priced.bound)
        new = {_key(column): column for column in priced.columns if _key(column) not in pool}
        if not new or found.time <= float(bound) * (1 + _CLOSE):
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
