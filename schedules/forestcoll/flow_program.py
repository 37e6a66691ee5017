"""The best division of the links between passes, as a linear program over flows.

A *pass* spreads data from its roots over trees (an allgather) or adds it up over reversed trees
(a reduce-scatter).  Each has a capacity of its own on every link; together these must not
exceed the link.  A pass carries x_v bytes per unit of time of each root v iff every receiver w
can be sent all of them at once: there is a flow f^w in its capacities b with

    f^w(out of v) - f^w(into v) = x_v       for every node v but w,     f^w <= b,
    b(out of u) <= b(into u)                for every node u that only forwards,

(Edmonds; Bang-Jensen, Frank and Jackson: where forwarding nodes let out no more than they take
in, cuts tell the truth about trees.)

**Symmetry.**  Averaged over all automorphisms of the network a solution stays one.  So x and b
need one value for each orbit of ranks and of links, one receiver of each orbit needs a flow, and
that flow one value for each orbit under the automorphisms that keep its receiver.  A
thousand alike GPUs make twenty columns.  Where every link has an equal partner the other way,
adding up may be spreading backwards (the mean of a solution and its mirror image is one), and one
pass is enough.
"""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from schedules.errors import TooLarge
from schedules.forestcoll.automorphisms import arc_images, generators, orbits
from schedules.forestcoll.flow_question import Potential, Prices, Question, Solution
from schedules.forestcoll.linear import Rows, solve
from schedules.forestcoll.network import Network
from synth.progress import tell

__all__ = ["MOST_COLUMNS", "FlowProgram"]

MOST_COLUMNS = 40_000
"""Limit on the columns of a linear program: about half a minute."""

Ints = NDArray[np.int64]


class FlowProgram:
    """The linear program of a question; numbers are in units of the largest capacity.

    Raises
    ------
    TooLarge
        It has more than `MOST_COLUMNS` columns.
    """

    def __init__(self, question: Question) -> None:
        self.question = question
        network = question.network
        self.whole = int(network.capacity.max())
        forwarding, receivers = set(question.forwarding), set(question.receivers)
        self.ranks = set(network.terminals.tolist())
        self._colours = [
            (int(size), node in self.ranks, node in receivers, node in forwarding)
            for node, size in enumerate(network.sizes.tolist())
        ]
        symmetry = generators(network, self._colours)
        self.symmetry = symmetry
        self.nodes = orbits(network.node_count, symmetry)
        self.arcs = orbits(len(network.tail), arc_images(network, symmetry))
        self.partner = _partners(network)
        # Limits that are shared one way say nothing of the other.
        self.mirrored = question.passes == 2 and self.partner is not None and not network.shared
        self._out, self._in = _by_node(network.tail), _by_node(network.head)
        self._equal, self._most = Rows(), Rows()
        self._kept: list[tuple[int, bool, int, Ints, dict[int, int]]] = []
        self._held: list[tuple[int, bool, int]] = []
        self._sharing: dict[tuple[tuple[int, ...], int], tuple[int, list[int]]] = {}
        self._lay_out()

    def _lay_out(self) -> None:
        network, question = self.question.network, self.question
        sharing = network.terminals[network.sizes[network.terminals] > 0].tolist()
        if question.free:
            sharing = network.terminals.tolist()
        orbit = {int(self.nodes[rank]): None for rank in sharing}
        places = {number: place if question.free else 0 for place, number in enumerate(orbit)}
        self.share_of = {rank: places[int(self.nodes[rank])] for rank in sharing}
        self.part_of = {
            rank: 1.0 if question.free else int(network.sizes[rank]) / network.data
            for rank in sharing
        }
        self.share_columns = len(orbit) if question.free else 1
        laid = 1 if self.mirrored else question.passes
        kinds = int(self.arcs.max()) + 1
        self.base = [self.share_columns + one * kinds for one in range(laid)]
        self.columns = self.share_columns + laid * kinds
        for inward in range(laid):
            self._add_balance(bool(inward))
        for receiver in _first_of(self.nodes, question.receivers):
            tell("laying out flows", len(self._kept), len(question.receivers))
            self._add_flows(receiver, laid)
        self._add_links(kinds, laid)
        self._add_shared()

    def _ends(self, inward: bool) -> tuple[Ints, Ints]:
        network = self.question.network
        return (network.head, network.tail) if inward else (network.tail, network.head)

    def _sides(self, inward: bool) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
        return (self._in, self._out) if inward else (self._out, self._in)

    def _add_balance(self, inward: bool) -> None:
        leaving, entering = self._sides(inward)
        for node in _first_of(self.nodes, self.question.forwarding):
            entries: dict[int, float] = {}
            for arcs, sign in ((leaving, 1.0), (entering, -1.0)):
                for arc in arcs.get(node, ()):
                    column = self.base[inward] + int(self.arcs[arc])
                    entries[column] = entries.get(column, 0.0) + sign
            self._held.append((self._most.add(entries), inward, node))

    def _add_flows(self, receiver: int, laid: int) -> None:
        """Add the flows to one receiver, of every pass."""
        network = self.question.network
        colours = [(colour, node == receiver) for node, colour in enumerate(self._colours)]
        kept = generators(network, colours) if self.symmetry else []
        nodes = orbits(network.node_count, kept)
        arcs = orbits(len(network.tail), arc_images(network, kept))
        for inward in map(bool, range(laid)):
            tails, _ = self._ends(inward)
            useful = np.flatnonzero(tails != receiver)
            kinds, first = np.unique(arcs[useful], return_index=True)
            column = dict(zip(kinds.tolist(), range(self.columns, 1 << 62), strict=False))
            self.columns += len(kinds)
            if self.columns > MOST_COLUMNS:
                raise TooLarge(
                    "/topology",
                    f"the linear program of the flows has more than {MOST_COLUMNS} columns",
                )
            for kind, at in zip(kinds.tolist(), useful[first].tolist(), strict=True):
                self._most.add({column[kind]: 1.0, self.base[inward] + int(self.arcs[at]): -1.0})
            rows = self._add_conservation(receiver, inward, nodes, arcs, column)
            count = int((self.nodes == self.nodes[receiver]).sum())
            self._kept.append((receiver, inward, count, nodes, rows))

    def _add_conservation(
        self, receiver: int, inward: bool, nodes: Ints, arcs: Ints, column: dict[int, int]
    ) -> dict[int, int]:
        """Add a row for each orbit of nodes; return the row of each orbit."""
        tails, _ = self._ends(inward)
        leaving, entering = self._sides(inward)
        rows: dict[int, int] = {}
        for kind, node in _firsts(nodes):
            if node == receiver:
                continue
            entries: dict[int, float] = {}
            for side, sign in ((leaving, 1.0), (entering, -1.0)):
                for arc in side.get(node, ()):
                    if tails[arc] != receiver:
                        at = column[int(arcs[arc])]
                        entries[at] = entries.get(at, 0.0) + sign
            if node in self.share_of:
                entries[self.share_of[node]] = -self.part_of[node]
            rows[kind] = self._equal.add(entries)
        return rows

    def _add_links(self, kinds: int, laid: int) -> None:
        capacity = self.question.network.capacity
        for kind, arc in _firsts(self.arcs):
            limit = float(capacity[arc]) / self.whole
            entries = {base + kind: 1.0 for base in self.base}
            if self.mirrored:
                assert self.partner is not None
                other = self.base[0] + int(self.arcs[self.partner[arc]])
                entries[other] = entries.get(other, 0.0) + 1.0
            self._most.add(entries, limit)

    def _add_shared(self) -> None:
        """Add a row for the limits that several links have together, one for those alike."""
        for index, limit in enumerate(self.question.network.shared):
            kinds = sorted(int(self.arcs[arc]) for arc in limit.arcs)
            key = tuple(kinds), limit.capacity
            if key not in self._sharing:
                entries: dict[int, float] = {}
                for kind in kinds:
                    for base in self.base:
                        entries[base + kind] = entries.get(base + kind, 0.0) + 1.0
                row = self._most.add(entries, limit.capacity / self.whole)
                self._sharing[key] = row, []
            self._sharing[key][1].append(index)

    def best(self) -> tuple[Solution, list[Potential], Prices]:
        """Return the best rate's solution, with its dual as exact numbers."""
        goal = np.zeros(self.columns)
        for rank, place in self.share_of.items():
            goal[place] -= self.part_of[rank]
        found = self._solved(goal, [(0, None)] * self.columns)
        potentials = list(self._potentials(found.eqlin.marginals))
        return self._solution(found.x), potentials, self._prices(found.ineqlin.marginals)

    def least(self, rate: Fraction, *, varied: bool = False) -> Solution | None:
        """Return a solution of this rate that uses little of the links; None if there is none.

        Free shares are as equal as they can be.  With ``varied``, links count a little more or
        less by chance: then few solutions are the best, which lie at corners of what passes can
        have of the links, and are fractions of small denominators.
        """
        columns = self.columns + 1
        goal = np.zeros(columns)
        sizes = np.bincount(self.arcs)
        worth = np.random.default_rng(0).uniform(1, 5, (len(self.base), len(sizes)))
        for number, base in enumerate(self.base):
            weights = sizes * worth[number] if varied else sizes
            goal[base : base + len(sizes)] = weights / weights.sum()
        bounds: list[tuple[float, float | None]] = [(0, None)] * columns
        target = float(rate) / self.whole
        equal, most = self._equal.matrix(columns), self._most.matrix(columns)
        limits, sums = list(self._most.limits), list(self._equal.limits)
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
            limits += each.limits
            sums += whole.limits
        found = solve(goal, most, limits, equal, sums, bounds)
        return None if found is None else self._solution(found.x)

    def _solved(self, goal: NDArray[np.float64], bounds: list[tuple[float, float | None]]):
        found = solve(
            goal,
            self._most.matrix(self.columns),
            self._most.limits,
            self._equal.matrix(self.columns),
            self._equal.limits,
            bounds,
        )
        assert found is not None  # nothing at all is a solution
        return found

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
        """Yield the dual of every flow, rounded; see `proof` for what it is good for."""
        for receiver, inward, count, nodes, rows in self._kept:
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


MOST_DENOMINATOR = 10**6
"""Duals are rounded to fractions of smaller denominators."""


def _partners(network: Network) -> Ints | None:
    """Return the arc the other way of each arc, or None if some has none of equal capacity."""
    ends = zip(network.tail.tolist(), network.head.tolist(), strict=True)
    arc_of = {pair: arc for arc, pair in enumerate(ends)}
    other = [arc_of.get((head, tail), -1) for tail, head in arc_of]
    partner = np.array(other, np.int64)
    if (partner < 0).any() or (network.capacity[partner] != network.capacity).any():
        return None
    return partner


def _by_node(ends: Ints) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for arc, node in enumerate(ends.tolist()):
        found.setdefault(node, []).append(arc)
    return found


def _firsts(kinds: Ints) -> Iterator[tuple[int, int]]:
    """Yield every orbit with its first member."""
    numbers, first = np.unique(kinds, return_index=True)
    return zip(numbers.tolist(), first.tolist(), strict=True)


def _first_of(kinds: Ints, members: tuple[int, ...]) -> list[int]:
    """Return one of the members from each orbit."""
    return list({int(kinds[node]): node for node in reversed(members)}.values())[::-1]
