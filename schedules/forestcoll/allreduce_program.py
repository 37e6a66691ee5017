"""The linear program of `allreduce`, solved in floats by cutting planes.

Nothing here needs to be exact: what is made of it is proven afterwards.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array, hstack, vstack

from schedules.forestcoll.flow import arcs_of, scratch_for, shortfall
from schedules.forestcoll.network import Network
from schedules.progress import tell

__all__ = ["Program", "Solution", "reaches"]

Solution = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
"""x by rank, b and a by arc, capacities divided by the largest."""

_MOST_ROUNDS = 100
_PATIENCE = 30
_CLOSE = 1e-7
_STEPS = (0.5, 0.1)
_UNITS = 1 << 40
_SLACK = 1 << 12


class Program:
    """The linear program, with the cutting planes found so far; columns are x, b and a.

    ``cuts`` are pairs (nodes inside, inward); the first are all sets that miss one rank, both
    ways.  ``weights`` is the dual of the last solution: p and q of each of ``forwarding`` in
    turn, then those of the sets it was solved with, then those of the links.  ``inner`` is a
    solution that breaks no set.
    """

    def __init__(
        self, network: Network, forwarding: list[int], inner: Solution | None = None
    ) -> None:
        self.network, self.inner = network, inner
        self.whole = float(network.capacity.max())
        self.forwarding = forwarding
        self.known: set[tuple[bytes, bool]] = set()
        self.cuts: list[tuple[NDArray[np.bool_], bool]] = []
        self.weights = np.zeros(0)
        for node in network.terminals.tolist():
            inside = np.ones(network.node_count, np.bool_)
            inside[node] = False
            self._add(inside, inward=False)
            self._add(inside, inward=True)

    def solve(self) -> Solution:
        """Return the best solution; after `_MOST_ROUNDS` rounds some sets may still break it.

        Sets are sought that break the solution, and sets that break points between it and the
        inner one, which cut deeper; a point that none breaks is the inner one from then on.
        A solution that breaks none is a corner, and can be rounded exactly: only after
        `_PATIENCE` rounds is an inner one taken instead that is close.
        """
        solution = self._solved()
        for done in range(_MOST_ROUNDS):
            tell("bounding the allreduce", done, _MOST_ROUNDS)
            if not self._add_broken(solution):
                return solution
            if self.inner is not None and self._moved(solution) and done >= _PATIENCE:
                break
            solution = self._solved()
        return solution if self.inner is None else self.inner

    def _moved(self, solution: Solution) -> bool:
        """Move the inner point towards a solution; return whether it is close to the best."""
        assert self.inner is not None
        for step in _STEPS:
            ends = zip(self.inner, solution, strict=True)
            shares, spreading, adding = ((1 - step) * one + step * other for one, other in ends)
            if not self._add_broken((shares, spreading, adding)):
                self.inner = shares, spreading, adding
                break
        return bool(self.inner[0].sum() >= (1 - _CLOSE) * solution[0].sum())

    def _solved(self) -> Solution:
        from scipy.optimize import linprog

        ranks, arcs = len(self.network.terminals), len(self.network.tail)
        goal = np.concatenate([-np.ones(ranks), np.zeros(2 * arcs)])
        rows, limits = self._rows()
        found = linprog(goal, A_ub=rows, b_ub=limits, method="highs-ds")
        if found.status:
            raise RuntimeError(f"the linear program was not solved: {found.message}")
        self.weights = -found.ineqlin.marginals
        return found.x[:ranks], found.x[ranks : ranks + arcs], found.x[ranks + arcs :]

    def _rows(self) -> tuple[csr_array, NDArray[np.float64]]:
        """Return the rows of p, q, the sets and the links, in this order."""
        network, rows = self.network, []
        nothing = np.zeros(len(network.terminals))
        unused = np.zeros(len(network.tail))
        for node in self.forwarding:
            out = (network.tail == node) * 1.0 - (network.head == node)
            rows.append(np.concatenate([nothing, out, unused]))
            rows.append(np.concatenate([nothing, unused, -out]))
        for inside, inward in self.cuts:
            crossing = -1.0 * self.crossing(inside, inward)
            both = (unused, crossing) if inward else (crossing, unused)
            rows.append(np.concatenate([inside[network.terminals], *both]))
        one = eye_array(len(network.tail))
        empty = csr_array((len(network.tail), len(network.terminals)))
        links = hstack([empty, one, one])
        limits = np.concatenate([np.zeros(len(rows)), network.capacity / self.whole])
        return csr_array(vstack([csr_array(np.array(rows)), links])), limits

    def crossing(self, inside: NDArray[np.bool_], inward: bool) -> NDArray[np.bool_]:
        """Return which arcs leave the set, or enter it."""
        tail, head = inside[self.network.tail], inside[self.network.head]
        return ~tail & head if inward else tail & ~head

    def _add(self, inside: NDArray[np.bool_], *, inward: bool) -> bool:
        key = (inside.tobytes(), inward)
        if key in self.known:
            return False
        self.known.add(key)
        self.cuts.append((inside, inward))
        return True

    def _add_broken(self, solution: Solution) -> bool:
        """Add the sets that a solution breaks by more than rounding; return whether any is new."""
        shares, spreading, adding = solution
        network, new = self.network, False
        supply = np.zeros(network.node_count, np.int64)
        supply[network.terminals] = _units(shares)
        for inward, capacity in ((False, spreading), (True, adding)):
            for inside in self._broken(_units(capacity), supply, inward):
                new |= self._add(inside, inward=inward)
        return new

    def _broken(
        self, units: NDArray[np.int64], supply: NDArray[np.int64], inward: bool
    ) -> list[NDArray[np.bool_]]:
        network = self.network
        ends = (network.head, network.tail) if inward else (network.tail, network.head)
        arcs, scratch = arcs_of(network.node_count, *ends), scratch_for(network.node_count)
        flow, left = np.zeros_like(units), np.zeros_like(supply)
        found, first = [], 0
        while True:
            first, missing = shortfall(
                arcs, units, network.terminals, first, supply, flow, left, scratch
            )
            if not missing:
                return found
            if missing > _SLACK:
                found.append(scratch.level[: network.node_count] < 0)
            first += 1


def _units(values: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.maximum(0, np.rint(values * _UNITS)).astype(np.int64)


def reaches(network: Network) -> bool:
    """Return whether every rank gets something from every root."""
    arcs = arcs_of(network.node_count, network.tail, network.head)
    room = np.full(len(network.tail), len(network.terminals), np.int64)
    shares = (network.sizes > 0).astype(np.int64)
    flow, supply = np.zeros_like(room), np.zeros_like(shares)
    scratch = scratch_for(network.node_count)
    _, missing = shortfall(arcs, room, network.terminals, 0, shares, flow, supply, scratch)
    return not missing
