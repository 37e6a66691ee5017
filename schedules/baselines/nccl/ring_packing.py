"""Packing rings into link capacities: a linear program over rings, with rings generated for it.

The program maximizes the total width of rings such that no link carries more than its capacity.
Its dual prices every link: a ring that costs less than 1 improves the program.  Finding the
cheapest ring is a traveling salesman problem, solved by a heuristic (`cheap_order`).  The result
is therefore a lower bound of the best packing; the least cut around a rank is an upper bound.
"""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, linprog
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from topoloom.schedules.baselines.nccl.cheap_order import NO_LINK, cheap_order
from topoloom.synth.topology.topology import NodeId, Topology

TOUR_WORK = 4_000
"""Generated rings times ranks, at most: 235 rings of 17 ranks, 31 of 128."""

LEAST_TOURS = 24
ATTEMPTS = 8
"""Attempts to reach the bound by rings that each take a link whole: these are few."""

FEW_PARTS, MANY_PARTS = 5_040, 10**6
"""Widths are multiples of the total width by the smallest number that is exact, or by the last."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Hop = tuple[NodeId, NodeId]


Tour = list[list[int]]
"""For each rank of a ring the numbers of the hops to the next rank."""


class Ring(NamedTuple):
    """The path from each rank to the next, and the capacity taken of every link."""

    paths: tuple[tuple[NodeId, ...], ...]
    width: Fraction

    @property
    def order(self) -> tuple[NodeId, ...]:
        """The ranks in order."""
        return tuple(path[0] for path in self.paths)


class PricedLinks:
    """The links of a topology, parallel ones merged, and cheapest paths over switches alone.

    In the graph of the paths each rank is two nodes: paths begin at one and end at the other.
    """

    def __init__(self, topology: Topology) -> None:
        self.ranks = topology.compute_nodes
        merged: defaultdict[Hop, Fraction] = defaultdict(Fraction)
        for link in topology.links:
            merged[link.source, link.target] += Fraction(link.capacity)
        self.hops = list(merged)
        self.exact = [merged[hop] for hop in self.hops]
        self.capacity: Floats = np.array([float(one) for one in self.exact])
        count, switches = (
            len(self.ranks),
            [one for one in topology.nodes if one in topology.switches],
        )
        out = {node: at for at, node in enumerate((*self.ranks, *switches))}
        into = {node: at for at, node in enumerate((*switches, *self.ranks), start=count)}
        self._tail = np.array([out[source] for source, _ in self.hops])
        self._head = np.array([into[target] for _, target in self.hops])
        self._nodes, self._first_in = count + len(into), count + len(switches)
        self._number = {
            ends: at
            for at, ends in enumerate(zip(self._tail.tolist(), self._head.tolist(), strict=True))
        }

    def bound(self) -> Fraction:
        """Return the least capacity into or out of a rank: no packing is wider."""
        out: defaultdict[NodeId, Fraction] = defaultdict(Fraction)
        into: defaultdict[NodeId, Fraction] = defaultdict(Fraction)
        for (source, target), capacity in zip(self.hops, self.exact, strict=True):
            out[source] += capacity
            into[target] += capacity
        return min(min(out[rank], into[rank]) for rank in self.ranks)

    def ring(self, tour: Tour, width: Fraction) -> Ring:
        """Return a ring as paths of nodes."""
        paths = ((self.hops[hops[0]][0], *(self.hops[hop][1] for hop in hops)) for hops in tour)
        return Ring(tuple(paths), width)

    def cheapest_tour(self, price: Floats, start: int | None = None) -> Tour | None:
        """Return a cheap ring at these prices, or None if the search finds no ring.

        With a ``start``, return a chain from this rank: the way back to it is free, and left out.
        """
        graph = csr_matrix((price, (self._tail, self._head)), shape=(self._nodes,) * 2)
        sources = np.arange(len(self.ranks))
        cost, before = dijkstra(graph, indices=sources, return_predecessors=True)
        cost = np.minimum(cost[:, self._first_in :], NO_LINK)
        if start is not None:
            # Of equal chains, the one in the order of the ranks.
            ahead = (sources[None, :] - sources[:, None]) % len(sources)
            cost += 1e-6 * price.min() * ahead
            cost[:, start] = 0
        tour = cheap_order(cost)
        if tour is None:
            return None
        if start is not None:
            at = tour.index(start)
            tour = tour[at:] + tour[:at]
            return [self._hops(before[rank], rank, after) for rank, after in pairwise(tour)]
        return [self._hops(before[rank], rank, after) for rank, after in pairwise((*tour, tour[0]))]

    def _hops(self, before: Ints, rank: int, after: int) -> list[int]:
        node, found = self._first_in + after, []
        while node != rank:
            found.append(self._number[int(before[node]), node])
            node = int(before[node])
        return found[::-1]


def pack_rings(topology: Topology, most: int) -> tuple[Ring, ...]:
    """Return at most ``most`` rings over all ranks, as wide in all as this search finds.

    >>> from topoloom.synth.fabrics import fabric
    >>> float(sum(ring.width for ring in pack_rings(fabric("dgx-1v"), 64)))
    150.0
    """
    links = PricedLinks(topology)
    if len(links.ranks) < 2:
        return ()
    random = np.random.default_rng(1)
    attempts = (_one_by_one(links, random, 0.05 * 2**number) for number in range(ATTEMPTS))
    found: list[Taken] = []
    for taken in attempts:
        if sum(taken.widths) >= links.bound() and len(taken.widths) <= most:
            return tuple(map(links.ring, *taken))
        found.append(taken)
    tours = _generated(links, [tour for taken in found for tour in taken.tours], random)
    if not tours:
        return ()
    widest = np.argsort(-_program(links, tours).x, kind="stable")[:most]
    chosen = [tours[at] for at in widest]
    widths = _exact(links, chosen)
    return tuple(
        links.ring(tour, width) for tour, width in zip(chosen, widths, strict=True) if width
    )


class Taken(NamedTuple):
    """Rings, and the capacity that each takes of its links."""

    tours: list[Tour]
    widths: list[Fraction]


def _one_by_one(links: PricedLinks, random: np.random.Generator, spread: float) -> Taken:
    """Return rings that take all that is left of their narrowest link, until there is none.

    ``spread`` is the range of the random change of every price, relative to the price.
    """
    left, taken = list(links.exact), Taken([], [])
    while True:
        rest = np.array([float(one) for one in left])
        price = (1 + spread * random.random(len(left))) / np.maximum(rest, 1 / NO_LINK**2)
        tour = links.cheapest_tour(price)
        if tour is None:
            return taken
        times = Counter(hop for hops in tour for hop in hops)
        width = min(left[hop] / count for hop, count in times.items())
        for hop, count in times.items():
            left[hop] -= width * count
        taken.tours.append(tour)
        taken.widths.append(width)


def _generated(links: PricedLinks, tours: list[Tour], random: np.random.Generator) -> list[Tour]:
    """Return more rings: at first away from loaded links, then those that improve the program."""
    known = {tuple(map(tuple, tour)): tour for tour in tours}
    load, bound = np.zeros(len(links.hops)), float(links.bound())
    budget = max(LEAST_TOURS, TOUR_WORK // len(links.ranks))
    price, spread = 1 / links.capacity, 0.05
    for number in range(budget):
        if number < budget // 4:
            price = np.exp(3 * load / max(load.max(), 1e-9)) / links.capacity
        else:
            spread = 0.3 * (number % 3 > 0)
            if not spread and known:
                solved = _program(links, list(known.values()))
                if -solved.fun >= bound * (1 - 1e-9):
                    break
                price = -solved.ineqlin.marginals
        # Small differences, so that equal prices do not give the same ring again.
        wanted = price * (1 + spread * random.random(len(price)))
        tour = links.cheapest_tour(wanted + 1e-7 * (1 + random.random(len(price))))
        if tour is not None:
            known.setdefault(tuple(map(tuple, tour)), tour)
            hops = np.concatenate(tour)
            np.add.at(load, hops, 1 / links.capacity[hops])
    return list(known.values())


def _crossings(links: PricedLinks, tours: list[Tour]) -> csr_matrix:
    rows = [np.concatenate(tour) for tour in tours]
    columns = np.repeat(np.arange(len(tours)), list(map(len, rows)))
    places = np.concatenate(rows), columns
    return csr_matrix((np.ones(len(columns)), places), shape=(len(links.hops), len(tours)))


def _program(links: PricedLinks, tours: list[Tour]) -> OptimizeResult:
    """Solve for the widths of rings with the largest sum."""
    matrix = _crossings(links, tours)
    return linprog(-np.ones(len(tours)), A_ub=matrix, b_ub=links.capacity, method="highs")


def _exact(links: PricedLinks, tours: list[Tour]) -> list[Fraction]:
    """Return exact widths: multiples of the total by a small fraction, no link above capacity."""
    widths = _program(links, tours).x
    total = widths.sum()
    shares = widths / total
    few = range(1, FEW_PARTS)
    parts = next((one for one in few if _are_whole(shares * one)), MANY_PARTS)
    counts = [round(one) for one in (shares * parts).tolist()]
    load: Counter[int] = Counter()
    for tour, count in zip(tours, counts, strict=True):
        for hop in (hop for hops in tour for hop in hops):
            load[hop] += count
    unit = min(links.exact[hop] / count for hop, count in load.items() if count)
    return [unit * count for count in counts]


def _are_whole(values: Floats) -> bool:
    return bool(np.abs(values - np.round(values)).max() < 1e-6)
