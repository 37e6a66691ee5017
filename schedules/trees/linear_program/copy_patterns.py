"""The best rate where some trees are copied at some switches, and other trees at others.

A tree is copied at a set of switches, its *pattern*.  The trees of one pattern reach its switches
as if these were ranks without data, and only pass the others.  So each pattern is a pass with own
receivers, own forwarding nodes and an own share of every link (`flow_program`), and the passes
divide the data of each root among them:

    sum of x_W,v over the patterns W = s_v t        for every root v of size s_v,

where t is the rate per unit of size.  Every schedule of trees is such a division, so the best
division is optimal.

**Proof.**  Take for each pattern W weights y_S from 0 on node sets that miss a receiver of W, where
the weights of the sets that contain v sum to Y_W(v), and weights p_u from 0 on the nodes that only
pass data.  As in `certificate`, sum of Y_W(v) x_W,v <= sum of Y_W,e b_W,e.  With L(v) the least
Y_W(v) over all W,

    t sum of s_v L(v) <= sum over links of c_e max(0, Y_W,e over all W).
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.trees import limits
from topoloom.schedules.trees.flow.network import Network
from topoloom.schedules.trees.linear_program.flow_program import MOST_DENOMINATOR
from topoloom.schedules.trees.linear_program.link_division import DENOMINATORS
from topoloom.schedules.trees.linear_program.pattern_parts import (
    Pattern,
    PatternPart,
    exact_parts,
)
from topoloom.schedules.trees.linear_program.solver import Rows, solve_rows


@dataclass(frozen=True, eq=False, slots=True)
class PatternWeights:
    """The part of one pattern in a proof: a potential for each receiver, and prices by node.

    A potential from 0 by node, 0 at the receiver, stands for the sets of nodes above each of its
    values, weighted by the differences.
    """

    copying: Pattern
    potentials: tuple[tuple[Fraction, ...], ...]
    prices: dict[int, Fraction]


@dataclass(frozen=True, eq=False, slots=True)
class PatternDivision:
    """A division of the links among patterns at the best rate, and the proof of that rate.

    ``rate`` is that of all data, in the network's unit.  ``weights`` are the max(0, ...) of every
    arc: for any capacities c_e the rate is at most the sum of c_e times the weight of e.
    """

    rate: Fraction
    parts: tuple[PatternPart, ...]
    proof: tuple[PatternWeights, ...]
    weights: tuple[Fraction, ...]


def pattern_division(network: Network, copying: Sequence[int]) -> PatternDivision | None:
    """Return the best division of the links among all patterns of some switches.

    Args:
        network: Without shared limits.
        copying: Nodes that forward and copy, at most `limits.MAX_COPYING`.

    Returns:
        None if the program is too large, or no exact division of the proved rate is found.

    Raises:
        TookTooLong: The linear program takes more than `limits.MAX_SECONDS`.

    A butterfly: the sender reaches both receivers over u and v, and over the link from m to n.

    >>> from topoloom.schedules.trees.flow.demand import demand_of
    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.synth.topology.topology import Topology
    >>> wires = ["su", "sv", "ua", "vb", "um", "vm", "mn", "na", "nb"]
    >>> butterfly = Topology("sabuvmn", map(tuple, wires), switches="uvmn", multicast="uvmn")
    >>> network = network_of(butterfly, demand_of(butterfly, root="s"))
    >>> found = pattern_division(network, (3, 4, 5, 6))
    >>> found.rate, sorted(part.share for part in found.parts)
    (Fraction(3, 2), [Fraction(1, 2), Fraction(1, 2), Fraction(1, 2)])
    """
    if len(copying) > limits.MAX_COPYING:
        return None
    program = _Program(network, copying)
    if program.columns > limits.MAX_COLUMNS:
        return None
    proof = program.proof()
    weights, rate = _bound(network, proof)
    for solution in program.least(rate):
        for most in DENOMINATORS:
            parts = exact_parts(program, solution, rate, most)
            if parts is not None:
                return PatternDivision(rate, parts, proof, tuple(weights))
    return None


class _Program:
    """The linear program, in units of the largest capacity; column 0 is the rate of all data."""

    def __init__(self, network: Network, copying: Sequence[int]) -> None:
        self.network = network
        self.whole = int(network.capacity.max())
        self.patterns: list[Pattern] = list(
            chain.from_iterable(combinations(copying, size) for size in range(len(copying) + 1))
        )
        self.roots = np.flatnonzero(network.sizes).tolist()
        self.columns = 1
        self.shares: list[dict[int, int]] = []
        self.rooms: list[int] = []
        self._equal, self._most = Rows(), Rows()
        self._kept: list[list[tuple[int, dict[int, int]]]] = []
        self._held: list[dict[int, int]] = []
        for pattern in self.patterns:
            self._add(pattern)
        for root in self.roots:
            entries = {share[root]: 1.0 for share in self.shares}
            self._equal.add(entries | {0: -int(network.sizes[root]) / network.data})
        for arc, capacity in enumerate(network.capacity.tolist()):
            self._most.add({room + arc: 1.0 for room in self.rooms}, capacity / self.whole)

    def _add(self, pattern: Pattern) -> None:
        """Add the shares, the capacities, the balances and the flows of a pattern."""
        network, arcs = self.network, len(self.network.tail)
        share = {root: self.columns + place for place, root in enumerate(self.roots)}
        room = self.columns + len(share)
        self.columns = room + arcs
        self.shares.append(share)
        self.rooms.append(room)
        receivers = sorted({*network.terminals.tolist(), *pattern})
        ends = list(zip(network.tail.tolist(), network.head.tolist(), strict=True))
        balance: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        for arc, (tail, head) in enumerate(ends):
            balance[tail][room + arc] += 1.0
            balance[head][room + arc] -= 1.0
        passing = sorted(balance.keys() - set(receivers))
        self._held.append({node: self._most.add(balance[node]) for node in passing})
        kept = []
        for receiver in receivers:
            rows: dict[int, dict[int, float]] = defaultdict(dict)
            for arc, (tail, head) in enumerate(ends):
                if tail == receiver:
                    continue
                column = self.columns
                self.columns += 1
                self._most.add({column: 1.0, room + arc: -1.0})
                rows[tail][column] = 1.0
                rows[head][column] = -1.0
            for root in self.roots:
                rows[root][share[root]] = -1.0
            rows.pop(receiver, None)
            kept.append((receiver, {v: self._equal.add(row) for v, row in rows.items()}))
        self._kept.append(kept)

    def _solved(self, goal: NDArray[np.float64], rate: tuple[float, float | None]) -> Any:
        bounds: list[tuple[float, float | None]] = [(0, None)] * self.columns
        bounds[0] = rate
        return solve_rows(goal, self._most, self._equal, bounds)

    def proof(self) -> tuple[PatternWeights, ...]:
        """Return the dual of the best solution, rounded to fractions."""
        goal = np.zeros(self.columns)
        goal[0] = -1.0
        found = self._solved(goal, (0, None))
        weights = []
        for pattern, kept, held in zip(self.patterns, self._kept, self._held, strict=True):
            potentials = []
            for _, rows in kept:
                values = [Fraction(0)] * self.network.node_count
                for node, row in rows.items():
                    values[node] = _rounded(found.eqlin.marginals[row])
                potentials.append(tuple(values))
            prices = {node: _rounded(-found.ineqlin.marginals[row]) for node, row in held.items()}
            weights.append(PatternWeights(pattern, tuple(potentials), prices))
        return tuple(weights)

    def least(self, rate: Fraction) -> Iterator[NDArray[np.float64]]:
        """Yield vertices of this rate that use little link capacity."""
        target = float(rate) / self.whole
        random = np.random.default_rng(0)
        arcs = len(self.network.tail)
        for most in (1.0, 5.0):
            goal = np.zeros(self.columns)
            for room in self.rooms:
                goal[room : room + arcs] = random.uniform(1, most, arcs)
            found = self._solved(goal, (target, target))
            if found is not None:
                yield found.x


def _rounded(value: float) -> Fraction:
    return max(Fraction(0), Fraction(value).limit_denominator(MOST_DENOMINATOR))


def _bound(network: Network, proof: Sequence[PatternWeights]) -> tuple[list[Fraction], Fraction]:
    """Return the scaled weight of every arc, and the rate of all data that they prove."""
    ends = list(zip(network.tail.tolist(), network.head.tolist(), strict=True))
    weights = [Fraction(0)] * len(ends)
    for one in proof:
        for arc, (tail, head) in enumerate(ends):
            fall = sum((max(Fraction(0), y[tail] - y[head]) for y in one.potentials), Fraction(0))
            fall += one.prices.get(head, Fraction(0)) - one.prices.get(tail, Fraction(0))
            weights[arc] = max(weights[arc], fall)
    held = Fraction(0)
    for root, size in enumerate(network.sizes.tolist()):
        if size:
            held += size * min(sum((y[root] for y in one.potentials), Fraction(0)) for one in proof)
    weights = [weight * network.data / held for weight in weights]
    carried = zip(network.capacity.tolist(), weights, strict=True)
    return weights, sum((capacity * weight for capacity, weight in carried), Fraction(0))
