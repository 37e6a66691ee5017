"""Extension of permutations of ranks to automorphisms, by images for the switches.

A switch maps to a switch with the images of its neighbors.  Where that leaves a choice, as between
the switches of a pod that all hosts below can reach, switches map in listed order.  If that
is no automorphism, switches that can stay are fixed, in particular spines, which determine the
switches below them.
"""

from collections import defaultdict
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.trees.flow.network import Network

Row: TypeAlias = tuple[int, int, int]
Alike: TypeAlias = dict[tuple[Row, ...], list[int]]


class AutomorphismExtension:
    """Automorphisms of a network, from their action on its ranks.

    Four hosts under two leaves, joined by two spines; the second leaf lists its hosts in reverse.

    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.synth.topology.topology import Topology
    >>> up = [("a", "l"), ("b", "l"), ("c", "m"), ("d", "m")]
    >>> up += [("l", "s"), ("l", "t"), ("m", "t"), ("m", "s")]
    >>> both = [*up, *((head, tail) for tail, head in up)]
    >>> network = network_of(Topology("abcdlmst", both, switches="lmst"))
    >>> AutomorphismExtension(network).turning(np.array([2, 3, 0, 1]), 2, []).tolist()
    [2, 3, 0, 1, 5, 4, 6, 7]
    """

    def __init__(self, network: Network) -> None:
        self._network = network
        self._near = _neighbors(network)
        codes = network.tail * network.node_count + network.head
        order = np.argsort(codes)
        self._codes, self._rooms = codes[order], network.capacity[order]

    def turning(
        self, turn: NDArray[np.int64], order: int, others: list[NDArray[np.int64]]
    ) -> NDArray[np.int64] | None:
        """Return an automorphism with this action on the ranks, or None if none is found.

        Its ``order``-th power is the identity, and it commutes with each of the others.  O(arcs)
        for every placement of switches; there are at most as many placements as switches.
        """
        for staying in (False, True):
            image = self._extended(turn, staying)
            if image is None or not _returns(image, order):
                continue
            if all((image[other] == other[image]).all() for other in others):
                return image
        return None

    def _extended(self, turn: NDArray[np.int64], staying: bool) -> NDArray[np.int64] | None:
        ranks = self._network.terminals
        image = np.full(self._network.node_count, -1)
        image[ranks] = ranks[turn]
        known = set(ranks.tolist())
        waiting = [node for node in range(self._network.node_count) if node not in known]
        while waiting:
            placed = self._placed(image, waiting, known, staying)
            if not placed:
                return None
            known.update(placed)
            waiting = [node for node in waiting if node not in known]
        return image if self._is_automorphism(image) else None

    def _placed(
        self, image: NDArray[np.int64], waiting: list[int], known: set[int], staying: bool
    ) -> list[int]:
        """Return images of some switches from their known neighbors; empty if none has any.

        All switches with such neighbors map in order.  With ``staying``, those without a choice,
        else one that can be fixed, else those of one kind in order.
        """
        here: Alike = defaultdict(list)
        there: Alike = defaultdict(list)
        for node in waiting:
            rows = [row for row in self._near[node] if row[0] in known]
            moved = [(int(image[other]), room, way) for other, room, way in rows]
            here[tuple(sorted(rows))].append(node)
            there[tuple(sorted(moved))].append(node)
        if any(len(here[rows]) != len(nodes) for rows, nodes in there.items()):
            return []
        reached = {rows: nodes for rows, nodes in there.items() if rows}
        if staying:
            forced = {rows: nodes for rows, nodes in reached.items() if len(nodes) == 1}
            calm = (
                node
                for rows, nodes in there.items()
                for node in sorted(set(nodes).intersection(here[rows]))
            )
            if not forced and (still := next(calm, None)) is not None:
                image[still] = still
                return [still]
            reached = forced or dict(list(reached.items())[:1])
        for rows, nodes in reached.items():
            image[nodes] = here[rows]
        return [node for nodes in reached.values() for node in nodes]

    def _is_automorphism(self, image: NDArray[np.int64]) -> bool:
        network, nodes = self._network, self._network.node_count
        if (network.sizes[image] != network.sizes).any():
            return False
        moved = image[network.tail] * nodes + image[network.head]
        order = np.argsort(moved)
        same = (moved[order] == self._codes) & (network.capacity[order] == self._rooms)
        return bool(same.all())


def _neighbors(network: Network) -> list[list[Row]]:
    """Return, per node, its neighbors with capacity and direction of each arc."""
    near: list[list[Row]] = [[] for _ in range(network.node_count)]
    columns = (network.tail, network.head, network.capacity)
    for tail, head, capacity in zip(*(column.tolist() for column in columns), strict=True):
        near[tail].append((head, capacity, 0))
        near[head].append((tail, capacity, 1))
    return near


def _returns(image: NDArray[np.int64], order: int) -> bool:
    """Return whether the ``order``-th power is the identity."""
    now = image
    for _ in range(order - 1):
        now = image[now]
    return bool((now == np.arange(len(image))).all())
