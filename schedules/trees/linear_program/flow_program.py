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
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import TookTooLong
from topoloom.schedules.trees import limits
from topoloom.schedules.trees.linear_program.cut_generation import CutProgram, CutSolution
from topoloom.schedules.trees.linear_program.orbit_layout import FlowLayout
from topoloom.schedules.trees.linear_program.problem import Potential, Prices, Solution
from topoloom.schedules.trees.linear_program.solver import Rows, solve_rows

MOST_DENOMINATOR = 10**6
"""Maximum denominator of rounded duals."""


class FlowProgram(FlowLayout):
    """The linear program of a problem, solved for its best rate, or for minimal use of links."""

    @property
    def _by_cuts(self) -> bool:
        return self.columns > limits.MAX_SIMPLEX_COLUMNS

    @cached_property
    def _cuts(self) -> CutProgram:
        return CutProgram(self)

    def best(self) -> tuple[Solution, list[Potential], Prices]:
        """Return the solution of best rate, with its dual as exact numbers."""
        goal = np.zeros(self.columns)
        for rank, place in self.share_of.items():
            goal[place] -= self.part_of[rank]
        if self._by_cuts:
            columns = self._cuts.columns
            try:
                best = self._cuts.best(goal[:columns], self._link_costs(columns, True))
                potentials = list(self._potentials_of_cuts(best))
                return self._solution(best.values), potentials, self._prices(best.marginals)
            except TookTooLong:
                # Too many cuts bind: flows are faster.
                pass
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
        if self._by_cuts:
            costs = self._link_costs(self._cuts.columns + 1, varied)
            costs[-1] = 1e3
            try:
                values = self._cuts.least(costs, target)
                return None if values is None else self._solution(values)
            except TookTooLong:
                pass
        columns = self.columns + 1
        goal = self._link_costs(columns, varied)
        goal[-1] = 1e3
        bounds: list[tuple[float, float | None]] = [(0, None)] * columns
        most, equal = Rows(), Rows()
        most.extend(self.most)
        equal.extend(self._equal)
        if self.question.free:
            self.add_free_shares(most, equal, target, self.columns)
        else:
            bounds[0] = (target, target)
        found = solve_rows(goal, most, equal, bounds)
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

    def _potentials_of_cuts(self, best: CutSolution) -> Iterator[Potential]:
        """Yield the dual of the cuts of every receiver, rounded.

        The mean over the automorphisms that fix the receiver is a potential of the same value.
        """
        values = [[Fraction(0)] * self.question.network.node_count for _ in self.kept]
        for weight, cut in zip(best.weights.tolist(), best.sets, strict=True):
            _, _, count, nodes, _ = self.kept[cut.place]
            each = Fraction(weight / count).limit_denominator(MOST_DENOMINATOR)
            if each <= 0:
                continue
            sizes = np.bincount(nodes).tolist()
            inside = np.bincount(nodes[cut.inside], minlength=len(sizes)).tolist()
            for node, kind in enumerate(nodes.tolist()):
                values[cut.place][node] += each * inside[kind] / sizes[kind]
        for (receiver, inward, count, *_), of_node in zip(self.kept, values, strict=True):
            for way in (inward, True) if self.mirrored else (inward,):
                yield Potential(receiver, count, way, tuple(of_node))

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
