"""Integer programs of wiring, written down column by column and solved by HiGHS."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from topoloom.synth.progress import run_in_thread


class Solved(NamedTuple):
    """Result of a program: the rounded values of the columns, None if no solution was found.

    ``proven``: the solution is optimal, or the program is infeasible.  ``bound``: a lower bound of
    the cost, within floating-point accuracy.
    """

    values: list[int] | None
    proven: bool
    bound: float
    exact: list[float]


@dataclass
class Program:
    """Least cost of columns between 0 and ``upper``, with rows between ``low`` and ``high``."""

    cost: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    free: list[int] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    entries: list[tuple[int, int, float]] = field(default_factory=list)

    def column(self, upper: float, cost: float = 0.0, *, integral: bool = True) -> int:
        """Add a column and return its number."""
        self.cost.append(cost)
        self.upper.append(upper)
        if not integral:
            self.free.append(len(self.cost) - 1)
        return len(self.cost) - 1

    def row(self, low: float, high: float, entries: Mapping[int, float] | None = None) -> int:
        """Add a row and return its number."""
        self.low.append(low)
        self.high.append(high)
        number = len(self.low) - 1
        self.entries += [(number, column, value) for column, value in (entries or {}).items()]
        return number

    def put(self, row: int, column: int, value: float = 1.0) -> None:
        """Add an entry to a row."""
        self.entries.append((row, column, value))

    def holds(self, values: Sequence[int], rows: int) -> bool:
        """Whether rounded values are within their bounds and satisfy the first ``rows`` rows."""
        sums = [0.0] * len(self.low)
        for row, column, value in self.entries:
            sums[row] += value * values[column]
        inside = all(0 <= value <= most for value, most in zip(values, self.upper, strict=False))
        limits = zip(self.low[:rows], sums, self.high, strict=False)
        return inside and all(low <= total <= high for low, total, high in limits)

    def solve(self, integral: bool = True, nodes: int = 200) -> Solved:
        """Solve the program within a limit on branch-and-bound nodes.

        There is no time limit: the answer must not depend on the machine.
        """
        rows, columns, values = (np.array(part) for part in zip(*self.entries, strict=True))
        matrix = coo_array((values, (rows, columns)), shape=(len(self.low), len(self.cost)))
        kinds = np.full(len(self.cost), int(integral))
        kinds[self.free] = 0
        low: Any = self.low
        high: Any = self.high
        most: Any = np.array(self.upper)
        limits = LinearConstraint(matrix.tocsr(), low, high)
        options = {"node_limit": nodes, "mip_rel_gap": 0} if integral else {}
        result: Any = run_in_thread(
            "solving a program",
            lambda: milp(
                np.array(self.cost),
                integrality=kinds,
                bounds=Bounds(0, most),
                constraints=limits,
                options=options,
            ),
        )
        bound = getattr(result, "mip_dual_bound", None) if integral else result.fun
        least = -np.inf if bound is None else float(bound)
        if result.x is None:
            return Solved(None, result.status == 2, least, [])
        values = np.round(result.x).astype(np.int64).tolist()
        return Solved(values, result.status == 0, least, result.x.tolist())
