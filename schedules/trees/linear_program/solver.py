"""A linear program in floats, built row by row; callers prove their results exactly."""

from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import TookTooLong
from topoloom.schedules.trees.limits import MAX_SECONDS, MAX_SIMPLEX_COLUMNS
from topoloom.synth.progress import run_in_thread

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# SciPy's status of numerical difficulties.
_GAVE_UP = 4


@dataclass(slots=True)
class Rows:
    """A sparse matrix built by rows."""

    rows: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    limits: list[float] = field(default_factory=list)

    def add(self, entries: dict[int, float], limit: float = 0.0) -> int:
        """Add a row and return its index."""
        number = len(self.limits)
        self.rows += [number] * len(entries)
        self.columns += entries.keys()
        self.values += entries.values()
        self.limits.append(limit)
        return number

    def extend(self, other: "Rows") -> None:
        """Add the rows of another matrix."""
        self.rows += [len(self.limits) + row for row in other.rows]
        self.columns += other.columns
        self.values += other.values
        self.limits += other.limits

    def matrix(self, columns: int) -> "csr_array":
        """Return the rows as a sparse array."""
        from scipy.sparse import csr_array

        shape = (len(self.limits), columns)
        return csr_array((self.values, (self.rows, self.columns)), shape=shape)


def solve_rows(
    goal: NDArray[np.float64], most: Rows, equal: Rows, bounds: list[tuple[float, float | None]]
) -> Any:
    """Minimize goal * x under rows of inequalities and of equations; see `solve`."""
    columns = len(goal)
    return solve(
        goal, most.matrix(columns), most.limits, equal.matrix(columns), equal.limits, bounds
    )


def solve(
    goal: NDArray[np.float64],
    most: "csr_array",
    limits: list[float],
    equal: "csr_array",
    sums: list[float],
    bounds: list[tuple[float, float | None]],
) -> Any:
    """Minimize goal * x with most * x <= limits and equal * x = sums, in floats.

    Returns:
        SciPy's result: ``x``, and the duals of both kinds of rows.  None if infeasible.

    Raises:
        TookTooLong: The time exceeds `MAX_SECONDS`, or both methods fail numerically.
    """
    from scipy.optimize import linprog

    ends = monotonic() + MAX_SECONDS

    def search(method: str) -> Any:
        return linprog(
            goal,
            A_ub=most,
            b_ub=limits,
            A_eq=equal if sums else None,
            b_eq=sums or None,
            bounds=bounds,
            method=method,
            options={"time_limit": max(ends - monotonic(), 1.0)},
        )

    first, second = "highs-ds", "highs-ipm"
    if len(goal) > MAX_SIMPLEX_COLUMNS:
        first, second = second, first
    found = run_in_thread("solving the linear program", partial(search, first))
    if found.status == _GAVE_UP:
        # The interior-point method fails numerically on some programs, many of which the simplex
        # method solves in time.
        found = run_in_thread("solving the linear program", partial(search, second))
    if found.status == 2:
        return None
    if found.status == _GAVE_UP:
        raise TookTooLong("/topology", "both methods fail on the linear program numerically")
    if found.status == 1:
        raise TookTooLong("/topology", f"the linear program took more than {MAX_SECONDS:g} s")
    if found.status:
        raise RuntimeError(f"the linear program was not solved: {found.message}")
    return found
