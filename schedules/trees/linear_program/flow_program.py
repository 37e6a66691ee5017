"""The best division of the links between passes, as a linear program over flows.

A *pass* broadcasts data from its roots over trees (an allgather) or reduces it over reversed trees
(a reduce-scatter).  Each pass has its own capacity on every link; together these must not exceed
the link.  A pass carries x_v bytes per unit of time of each root v iff every receiver w can receive
all of them at once: there is a flow f^w in its capacities b with

    f^w(out of v) - f^w(into v) = x_v       for every node v but w,     f^w <= b,
    b(out of u) <= b(into u)                for every node u that only forwards,

(Edmonds; Bang-Jensen, Frank and Jackson: cuts are tight for trees where forwarding nodes send no
more than they receive.)

Each orbit under symmetry has one column (`orbit_layout`).
"""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import TookTooLong
from topoloom.schedules.trees import limits
from topoloom.schedules.trees.linear_program.cut_generation import CutProgram
from topoloom.schedules.trees.linear_program.orbit_layout import FlowLayout
from topoloom.schedules.trees.linear_program.problem import Potential, Prices, Solution
from topoloom.schedules.trees.linear_program.solver import Rows, solve, solve_rows

MOST_DENOMINATOR = 10**6
"""Maximum denominator of rounded duals."""


class FlowProgram(FlowLayout):
    """The linear program of a problem, solved for its best rate, or for minimal use of links."""

    def best(self) -> tuple[Solution, list[Potential], Prices]:
        """Return the solution of best rate, with its dual as exact numbers."""
        goal = np.zeros(self.columns)
        for rank, place in self.share_of.items():
            goal[place] -= self.part_of[rank]
        found = solve_rows(goal, self.most, self._equal, [(0, None)] * self.columns)
        assert found is not None  # the zero solution is feasible
        potentials = list(self._potentials(found.eqlin.marginals))
        return self._solution(found.x), potentials, self._prices(found.ineqlin.marginals)

    def least(self, rate: Fraction, *, varied: bool = False) -> Solution | None:
        """Return a solution of this rate that uses little link capacity; None if there is none.

        Free shares are as equal as possible.  With ``varied``, link costs are perturbed at random:
        the optimum is then mostly unique and a vertex of the polytope of link capacities, with
        fractions of small denominators.
        """
        target = float(rate) / self.whole
        if not self.question.free and self.columns > limits.MAX_SIMPLEX_COLUMNS:
            program = CutProgram(self)
            try:
                values = program.least(self._link_costs(program.columns, varied), target)
                return None if values is None else self._solution(values)
            except TookTooLong:
                # Too many cuts bind: flows are faster.
                pass
        columns = self.columns + 1
        goal = self._link_costs(columns, varied)
        bounds: list[tuple[float, float | None]] = [(0, None)] * columns
        equal, most = self._equal.matrix(columns), self.most.matrix(columns)
        most_limits, sums = list(self.most.limits), list(self._equal.limits)
        if not self.question.free:
            bounds[0] = (target, target)
        else:
            from scipy.sparse import csr_array, vstack

            goal[-1] = 1e3
            whole, each = Rows(), Rows()
            total: dict[int, float] = {}
            for place in self.share_of.values():
                total[place] = total.get(place, 0.0) + 1.0
            whole.add(total, target)
            for place in range(self.share_columns):
                each.add({place: 1.0, self.columns: -1.0})
            equal = csr_array(vstack([equal, whole.matrix(columns)]))
            most = csr_array(vstack([most, each.matrix(columns)]))
            most_limits += each.limits
            sums += whole.limits
        found = solve(goal, most, most_limits, equal, sums, bounds)
        return None if found is None else self._solution(found.x)

    def _link_costs(self, columns: int, varied: bool) -> NDArray[np.float64]:
        """Return costs of the links of each pass, 1 in all."""
        costs, sizes = np.zeros(columns), np.bincount(self.arcs)
        worth = np.random.default_rng(0).uniform(1, 5, (len(self.base), len(sizes)))
        for number, base in enumerate(self.base):
            weights = sizes * worth[number] if varied else sizes
            costs[base : base + len(sizes)] = weights / weights.sum()
        return costs

    def _solution(self, values: NDArray[np.float64]) -> Solution:
        network = self.question.network
        shares = np.zeros(network.node_count)
        for rank, place in self.share_of.items():
            shares[rank] = values[place] * self.part_of[rank] * self.whole
        passes = [values[base + self.arcs] * self.whole for base in self.base]
        if self.mirrored:
            assert self.partner is not None
            passes.append(passes[0][self.partner])
        return Solution(float(shares.sum()), shares, tuple(passes))

    def _potentials(self, weights: NDArray[np.float64]) -> Iterator[Potential]:
        """Yield the dual of every flow, rounded; see `certificate` for its use."""
        for receiver, inward, count, nodes, rows in self.kept:
            sizes = np.bincount(nodes)
            of_orbit = {kind: weights[row] / (count * sizes[kind]) for kind, row in rows.items()}
            rounded = {
                kind: max(Fraction(0), Fraction(value).limit_denominator(MOST_DENOMINATOR))
                for kind, value in of_orbit.items()
            }
            values = tuple(rounded.get(kind, Fraction(0)) for kind in nodes.tolist())
            yield Potential(receiver, count, inward, values)
            if self.mirrored:
                yield Potential(receiver, count, True, values)

    def _prices(self, weights: NDArray[np.float64]) -> Prices:
        prices: tuple[dict[int, Fraction], ...] = ({}, {})
        for row, inward, node in self._held:
            alike = np.flatnonzero(self.nodes == self.nodes[node]).tolist()
            price = Fraction(max(0.0, -weights[row]) / len(alike))
            price = price.limit_denominator(MOST_DENOMINATOR)
            for each in (inward, True) if self.mirrored else (inward,):
                prices[each].update(dict.fromkeys(alike, price) if price else {})
        sharing: dict[int, Fraction] = {}
        for row, alike in self._sharing.values():
            price = Fraction(max(0.0, -weights[row]) / len(alike))
            price = price.limit_denominator(MOST_DENOMINATOR)
            sharing.update(dict.fromkeys(alike, price) if price else {})
        return Prices(*prices, sharing)
