"""The linear program of the flows with a row for each cut that a solution violates.

The flows to a receiver w exist iff every node set S without w has enough capacity out of it:

    x(S) <= b(out of S).

Few of these sets bind.  So the program without flows is solved with the sets around single nodes,
maximum flows find sets that its solution violates, and their rows are added, until there are none.
A program of 14,000 columns of flows becomes one of 500 columns and 500 rows: 0.3 s instead of 20 s.

A flow to a receiver yields several sets: once a set is found, its links count as unlimited, and the
flow continues (*nested cuts*).  Every link has a little more capacity in these flows (*creep
flow*), so of equal cuts the one of fewest links is found, which excludes the most solutions [1]_.

Many solutions have the best rate, and most of them violate many cuts.  So links have random costs,
small beside the rate: few rounds then find the cuts that bind.  Without costs, the program with
these cuts has the same rate, and its dual is the proof.

Averages over all automorphisms of the network are solutions, as in `orbit_layout`: a row states the
mean over the images of a set.

References:
    .. [1] Koch and Martin, "Solving Steiner tree problems in graphs to optimality", Networks 32,
       1998.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import TookTooLong
from topoloom.schedules.trees import limits
from topoloom.schedules.trees.flow.max_flow import Arcs, arcs_of, scratch_for, shortfall
from topoloom.schedules.trees.linear_program.orbit_layout import FlowLayout
from topoloom.schedules.trees.linear_program.solver import Rows, solve_rows
from topoloom.synth.progress import report_progress

_UNIT = 1 << 30
"""Integer capacity of the largest link in the flows that look for violated cuts."""

_CREEP = 1 << 10
"""Capacity that these flows add to every link: above the errors of floats."""

_TOLERANCE = 1e-7
"""Part of all data that a cut may lack, and of a rate that two solutions may differ by: solutions
are floats, and callers check them exactly."""

_LINK_COST = 1e-2
"""Cost of all links beside a rate of one largest link."""

_Values = NDArray[np.float64]
_Bounds = list[tuple[float, float | None]]


class CutSet(NamedTuple):
    """A node set that misses the receiver of entry ``place`` of `FlowLayout.kept`."""

    place: int
    inside: NDArray[np.bool_]


class CutSolution(NamedTuple):
    """``values`` of the columns, and the duals of ``sets`` and of the rows of the layout."""

    values: _Values
    sets: list[CutSet]
    weights: _Values
    marginals: _Values


class CutProgram:
    """The linear program of a layout, without its flows; it has ``columns`` columns."""

    def __init__(self, layout: FlowLayout) -> None:
        self._layout = layout
        self.columns = layout.base[-1] + int(layout.arcs.max()) + 1
        every = layout.most.matrix(layout.columns).tocoo()
        of_flows = np.zeros(len(layout.most.limits), np.bool_)
        of_flows[every.row[every.col >= self.columns]] = True
        self._kept = np.flatnonzero(~of_flows)
        self._most, self._cuts = Rows(), Rows()
        rows = every.tocsr()[self._kept].tocoo()
        self._most.rows, self._most.columns = rows.row.tolist(), rows.col.tolist()
        self._most.values = rows.data.tolist()
        self._most.limits = [layout.most.limits[row] for row in self._kept.tolist()]
        self._sets: list[CutSet] = []
        self._known: set[tuple[bool, bytes]] = set()
        self._graphs: dict[bool, Arcs] = {}
        for inward in range(len(layout.base)):
            tail, head = layout.ends(bool(inward))
            self._graphs[bool(inward)] = arcs_of(layout.question.network.node_count, tail, head)
        self._add_single_nodes()

    def best(self, goal: _Values, costs: _Values) -> CutSolution:
        """Return a solution of least ``goal``, with its dual; ``costs`` of links decide ties.

        Raises:
            TookTooLong: As `least`.
        """
        bounds: _Bounds = [(0, None)] * self.columns
        near = self._solved(goal + _LINK_COST * costs, bounds, self._most, Rows())
        found = self._relaxed(goal, bounds, self._most, Rows())
        values = near.x
        if goal @ values > found.fun * (1 - _TOLERANCE):
            found = self._solved(goal, bounds, self._most, Rows())
            values = found.x
        marginals = np.zeros(len(self._layout.most.limits))
        marginals[self._kept] = found.ineqlin.marginals[: len(self._kept)]
        weights = -found.ineqlin.marginals[len(self._kept) :]
        return CutSolution(values, self._sets[: len(weights)], weights, marginals)

    def least(self, costs: _Values, target: float) -> _Values | None:
        """Return the cheapest values at a total rate; None if there are none.

        Args:
            costs: Of every column, and of the largest free share.

        Raises:
            TookTooLong: More than `limits.MAX_CUT_ROUNDS` rounds add cuts, or the solver's time
                exceeds `limits.MAX_SECONDS`.
        """
        layout = self._layout
        bounds: _Bounds = [(0, None)] * len(costs)
        most, whole = Rows(), Rows()
        most.extend(self._most)
        if layout.question.free:
            layout.add_free_shares(most, whole, target, self.columns)
        else:
            bounds[0] = (target, target)
        found = self._solved(costs, bounds, most, whole)
        return None if found is None else found.x

    def _solved(self, goal: _Values, bounds: _Bounds, most: Rows, equal: Rows) -> Any:
        """Return the solver's solution that violates no cut; None if there is none."""
        for done in range(limits.MAX_CUT_ROUNDS):
            report_progress("adding cuts", done, limits.MAX_CUT_ROUNDS)
            found = self._relaxed(goal, bounds, most, equal)
            if found is None:
                return None
            if not any(self._add_violated(found.x, creep) for creep in (_CREEP, 0)):
                return found
        raise TookTooLong("/topology", "too many cuts bind")

    def _relaxed(self, goal: _Values, bounds: _Bounds, most: Rows, equal: Rows) -> Any:
        """Return the solver's solution with the cuts that are known."""
        rows = Rows()
        rows.extend(most)
        rows.extend(self._cuts)
        return solve_rows(goal, rows, equal, bounds)

    def _add_single_nodes(self) -> None:
        nodes = np.arange(self._layout.question.network.node_count)
        for place, (receiver, *_) in enumerate(self._layout.kept):
            self._add(place, nodes != receiver)
        for root in self._layout.share_of:
            places = (p for p, (rank, *_) in enumerate(self._layout.kept) if rank != root)
            self._add(next(places, 0), nodes == root)

    def _add_violated(self, values: _Values, creep: int) -> bool:
        """Add the sets that the flow to some receiver violates; return whether there are any."""
        layout, nodes = self._layout, self._layout.question.network.node_count
        shares = np.zeros(nodes)
        for root, column in layout.share_of.items():
            shares[root] = values[column] * layout.part_of[root]
        wanted, scratch = np.floor(shares * _UNIT).astype(np.int64), scratch_for(nodes)
        added, data = False, int(wanted.sum())
        for place, (receiver, inward, *_) in enumerate(layout.kept):
            used = np.rint(values[layout.base[inward] + layout.arcs] * _UNIT).astype(np.int64)
            room, sink = np.maximum(used, 0) + creep, np.array([receiver])
            tail, head = layout.ends(inward)
            for _ in range(limits.MAX_NESTED_CUTS):
                flow, supply = np.zeros_like(room), np.zeros(nodes, np.int64)
                _, missing = shortfall(
                    self._graphs[inward], room, sink, 0, wanted, flow, supply, scratch
                )
                if missing <= _TOLERANCE * data:
                    break
                inside = scratch.level[:nodes] < 0
                added |= self._add(place, inside)
                room[inside[tail] & ~inside[head]] = data
        return added

    def _add(self, place: int, inside: NDArray[np.bool_]) -> bool:
        """Add the row of a set that misses a receiver; return whether it is new."""
        layout = self._layout
        receiver, inward, *_ = layout.kept[place]
        key = inward, inside.tobytes()
        if inside[receiver] or key in self._known:
            return False
        self._known.add(key)
        tail, head = layout.ends(inward)
        entries: dict[int, float] = {}
        for arc in np.flatnonzero(inside[tail] & ~inside[head]).tolist():
            column = layout.base[inward] + int(layout.arcs[arc])
            entries[column] = entries.get(column, 0.0) - 1.0
        for root, column in layout.share_of.items():
            if inside[root]:
                entries[column] = entries.get(column, 0.0) + layout.part_of[root]
        self._cuts.add(entries)
        self._sets.append(CutSet(place, inside))
        return True
