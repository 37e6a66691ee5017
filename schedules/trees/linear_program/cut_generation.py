"""The linear program of the flows with a row for each cut that a solution violates.

The flows to a receiver w exist iff every node set S without w has enough capacity out of it:

    x(S) <= b(out of S).

Few of these sets bind.  So the program without flows is solved with the sets around single nodes,
maximum flows find sets that its solution violates, and their rows are added, until there are none.
A program of 14,000 columns of flows becomes one of 200 columns and 300 rows: 0.1 s instead of 4 s.

Averages over all automorphisms of the network are solutions, as in `orbit_layout`: a row states the
mean over the images of a set.
"""

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import TookTooLong
from topoloom.schedules.trees import limits
from topoloom.schedules.trees.flow.max_flow import Arcs, arcs_of, scratch_for, shortfall
from topoloom.schedules.trees.linear_program.orbit_layout import FlowLayout
from topoloom.schedules.trees.linear_program.solver import Rows, solve
from topoloom.synth.progress import report_progress

_UNIT = 1 << 30
"""Integer capacity of the largest link in the flows that look for violated cuts."""

_TOLERANCE = 1e-7
"""Part of all data that a cut may lack: solutions are floats, and callers check them exactly."""


class CutProgram:
    """The linear program of a layout, without its flows; it has ``columns`` columns."""

    def __init__(self, layout: FlowLayout) -> None:
        self._layout = layout
        self.columns = layout.base[-1] + int(layout.arcs.max()) + 1
        every = layout.most.matrix(layout.columns).tocoo()
        of_flows = np.zeros(len(layout.most.limits), np.bool_)
        of_flows[every.row[every.col >= self.columns]] = True
        kept = np.flatnonzero(~of_flows)
        self._most = Rows()
        rows = every.tocsr()[kept].tocoo()
        self._most.rows, self._most.columns = rows.row.tolist(), rows.col.tolist()
        self._most.values = rows.data.tolist()
        self._most.limits = [layout.most.limits[row] for row in kept.tolist()]
        self._known: set[tuple[bool, bytes]] = set()
        self._graphs: dict[bool, Arcs] = {}
        for inward in range(len(layout.base)):
            tail, head = layout.ends(bool(inward))
            self._graphs[bool(inward)] = arcs_of(layout.question.network.node_count, tail, head)

    def least(self, costs: NDArray[np.float64], target: float) -> NDArray[np.float64] | None:
        """Return the cheapest values at fixed shares of a total rate; None if there are none.

        Raises:
            TookTooLong: More than `limits.MAX_CUT_ROUNDS` rounds add cuts, or the solver's time
                exceeds `limits.MAX_SECONDS`.
        """
        self._add_single_nodes()
        bounds: list[tuple[float, float | None]] = [(0, None)] * self.columns
        bounds[0] = (target, target)
        none = Rows().matrix(self.columns)
        for done in range(limits.MAX_CUT_ROUNDS):
            report_progress("adding cuts", done, limits.MAX_CUT_ROUNDS)
            most = self._most.matrix(self.columns)
            found = solve(costs, most, self._most.limits, none, [], bounds)
            if found is None or not self._add_violated(found.x):
                return None if found is None else found.x
        raise TookTooLong("/topology", "too many cuts bind")

    def _add_single_nodes(self) -> None:
        nodes = np.arange(self._layout.question.network.node_count)
        for place, (receiver, *_) in enumerate(self._layout.kept):
            self._add(place, nodes != receiver)
        for root in self._layout.share_of:
            places = (p for p, (rank, *_) in enumerate(self._layout.kept) if rank != root)
            self._add(next(places, 0), nodes == root)

    def _add_violated(self, values: NDArray[np.float64]) -> bool:
        """Add the sets that the flow to some receiver violates; return whether there are any."""
        layout, nodes = self._layout, self._layout.question.network.node_count
        shares = np.zeros(nodes)
        for root, column in layout.share_of.items():
            shares[root] = values[column] * layout.part_of[root]
        wanted, scratch = np.floor(shares * _UNIT).astype(np.int64), scratch_for(nodes)
        added = False
        for place, (receiver, inward, *_) in enumerate(layout.kept):
            room = np.rint(values[layout.base[inward] + layout.arcs] * _UNIT).astype(np.int64)
            flow, supply = np.zeros_like(room), np.zeros(nodes, np.int64)
            sink = np.array([receiver])
            _, missing = shortfall(
                self._graphs[inward], np.maximum(room, 0), sink, 0, wanted, flow, supply, scratch
            )
            if missing > _TOLERANCE * _UNIT * shares.sum():
                added |= self._add(place, scratch.level[:nodes] < 0)
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
        self._most.add(entries)
        return True
