"""Columns and rows of the linear program over flows: one per orbit under symmetry.

The average of a solution over all automorphisms of the network is a solution.  So x and b need
one value for each orbit of ranks and of links, and one receiver of each orbit needs a flow, with
one value for each orbit under the stabilizer of the receiver.  A thousand equivalent GPUs make
twenty columns.  If every link has an equal reverse link, the reduce pass may be the reverse of the
broadcast pass (the mean of a solution and its mirror image is a solution), and one pass suffices.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import TooLarge
from topoloom.schedules.trees import limits
from topoloom.schedules.trees.flow.network import Network
from topoloom.schedules.trees.linear_program.problem import DivisionProblem
from topoloom.schedules.trees.linear_program.solver import Rows
from topoloom.schedules.trees.symmetry.automorphisms import arc_images, generators, orbits
from topoloom.synth.progress import report_progress

Ints = NDArray[np.int64]


class FlowLayout:
    """Columns and rows of the linear program, in units of the largest capacity.

    Raises:
        TooLarge: The program has more than `limits.MAX_COLUMNS` columns.
    """

    def __init__(self, question: DivisionProblem) -> None:
        self.question = question
        network = question.network
        self.whole = int(network.capacity.max())
        forwarding, receivers = set(question.forwarding), set(question.receivers)
        self.ranks = set(network.terminals.tolist())
        self._colors = [
            (int(size), node in self.ranks, node in receivers, node in forwarding)
            for node, size in enumerate(network.sizes.tolist())
        ]
        symmetry = generators(network, self._colors)
        self.symmetry = symmetry
        self.nodes = orbits(network.node_count, symmetry)
        self.arcs = orbits(len(network.tail), arc_images(network, symmetry))
        self.partner = _partners(network)
        # A limit in one direction implies nothing for the other.
        self.mirrored = question.passes == 2 and self.partner is not None and not network.shared
        self._out, self._in = _by_node(network.tail), _by_node(network.head)
        self._equal, self.most = Rows(), Rows()
        self.kept: list[tuple[int, bool, int, Ints, dict[int, int]]] = []
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
            report_progress("laying out flows", len(self.kept), len(question.receivers))
            self._add_flows(receiver, laid)
        self._add_links(kinds, laid)
        self._add_shared()

    def ends(self, inward: bool) -> tuple[Ints, Ints]:
        """Return the tails and heads of all arcs in the direction of a pass."""
        network = self.question.network
        return (network.head, network.tail) if inward else (network.tail, network.head)

    def add_free_shares(self, most: Rows, equal: Rows, target: float, largest: int) -> None:
        """Add rows of free shares with sum ``target``, each at most column ``largest``.

        The costs of the column make the shares as equal as possible.
        """
        total: dict[int, float] = {}
        for place in self.share_of.values():
            total[place] = total.get(place, 0.0) + 1.0
        equal.add(total, target)
        for place in range(self.share_columns):
            most.add({place: 1.0, largest: -1.0})

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
            self._held.append((self.most.add(entries), inward, node))

    def _add_flows(self, receiver: int, laid: int) -> None:
        """Add the flows to one receiver, for every pass."""
        nodes, arcs = self._fixing(receiver)
        for inward in map(bool, range(laid)):
            tails, _ = self.ends(inward)
            useful = np.flatnonzero(tails != receiver)
            kinds, first = np.unique(arcs[useful], return_index=True)
            column = dict(zip(kinds.tolist(), range(self.columns, 1 << 62), strict=False))
            self.columns += len(kinds)
            if self.columns > limits.MAX_COLUMNS:
                raise TooLarge(
                    "/topology",
                    f"the linear program of the flows has more than {limits.MAX_COLUMNS} columns",
                )
            for kind, at in zip(kinds.tolist(), useful[first].tolist(), strict=True):
                self.most.add({column[kind]: 1.0, self.base[inward] + int(self.arcs[at]): -1.0})
            rows = self._add_conservation(receiver, inward, nodes, arcs, column)
            count = int((self.nodes == self.nodes[receiver]).sum())
            self.kept.append((receiver, inward, count, nodes, rows))

    def _fixing(self, receiver: int) -> tuple[Ints, Ints]:
        """Return the orbits of nodes and arcs under the automorphisms that fix a receiver."""
        if (self.nodes == self.nodes[receiver]).sum() == 1:
            # All automorphisms do: most receivers near a fault.
            return self.nodes, self.arcs
        network = self.question.network
        colors = [(color, node == receiver) for node, color in enumerate(self._colors)]
        kept = generators(network, colors)
        arcs = orbits(len(network.tail), arc_images(network, kept))
        return orbits(network.node_count, kept), arcs

    def _add_conservation(
        self, receiver: int, inward: bool, nodes: Ints, arcs: Ints, column: dict[int, int]
    ) -> dict[int, int]:
        """Add a row for each orbit of nodes; return the row of each orbit."""
        tails, _ = self.ends(inward)
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
            self.most.add(entries, limit)

    def _add_shared(self) -> None:
        """Add one row per orbit of shared limits."""
        for index, limit in enumerate(self.question.network.shared):
            kinds = sorted(int(self.arcs[arc]) for arc in limit.arcs)
            key = tuple(kinds), limit.capacity
            if key not in self._sharing:
                entries: dict[int, float] = {}
                for kind in kinds:
                    for base in self.base:
                        entries[base + kind] = entries.get(base + kind, 0.0) + 1.0
                row = self.most.add(entries, limit.capacity / self.whole)
                self._sharing[key] = row, []
            self._sharing[key][1].append(index)


def _partners(network: Network) -> Ints | None:
    """Return the reverse arc of each arc, or None if some arc has none of equal capacity."""
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
