"""Measure the cost of a topology on the graph: the closed form of BFB, exactly.

In a breadth-first broadcast (BFB) every destination u receives, in step t, the shards of all nodes
at distance t from it, each along shortest paths.  The links into u share the shards as evenly as
the masks allow (`synth.evaluation.bfs_broadcast`), so the largest load of a link is

    U(u, t) = max over sets S of links into u of (shards that can enter by S only) / |S|,

by linear programming duality, with the capacity of S for |S| where capacities differ.
No linear program is solved.
"""

import os
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import lcm
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.errors import NotMeasurable
from topoloom.synth.evaluation import all_pairs
from topoloom.synth.evaluation.batch_kernel import (
    LANES,
    MAX_BATCHED_STEPS,
    TOO_FAR,
    OutLinks,
    measure_batch,
    out_links,
)
from topoloom.synth.evaluation.bfs_broadcast import in_links, search_memory
from topoloom.synth.evaluation.cost import Cost
from topoloom.synth.evaluation.load_balance import scratch
from topoloom.synth.evaluation.range_kernel import (
    MAX_COUNTED_DEGREE,
    MAX_TABLE_DEGREE,
    measure_range,
    raise_loads,
)
from topoloom.synth.kernels.parallel import at_once
from topoloom.synth.limits import MAX_DEGREE
from topoloom.synth.topology.topology import Topology

Integers: TypeAlias = NDArray[np.int64]
Positions: TypeAlias = Sequence[int] | Integers
_Loads: TypeAlias = tuple[int, Integers, Integers]

_MAX_CAPACITY = 2**40
_WORKERS = min(8, os.cpu_count() or 1)
# Below this number of link visits a second thread does not pay.
_THREADING_PAYS = 2_000_000
# Speedup of batches.
_BATCHED_FASTER = 4
# Least number of destinations for a batch.
_LEAST_BATCHED = LANES // 2
# Steps beyond the first destination's that all pairs may take before batches take over.
_MORE_STEPS = 4


def measure(topology: Topology, destinations: Positions | None = None) -> Cost:
    """Return the exact cost of the breadth-first-broadcast allgather.

    Args:
        topology: Direct-connect (no switches), strongly connected, at most `MAX_DEGREE` links into
            any node.
        destinations: Positions of the destinations to measure, by default all.  Must represent
            every orbit of nodes (`synth.symmetry.orbits.representatives`), or the cost may be too
            low.

    Returns:
        ``steps`` is the diameter; ``bandwidth``, in M / B, is
        B / N * sum over t of max over u of U(u, t), where B is the largest capacity
        into or out of a node: d of them for unit links of degree d.

    Raises:
        NotMeasurable: There are switches, too many links into a node, or capacities with too large
            a common denominator.
        Unreachable, InvalidTopology: Not strongly connected, or fewer than two nodes.

    Time, per destination: O(links) for the search; O(2^d d) per step for degrees up to
    8; above, a few small flows (`synth.evaluation.load_balance`).  Uses all processors.

    Profile (1024 nodes of degree 4): two thirds of the time is the search, with one comparison
    per link in its inner loop; the table of 16 sets per step is the rest.

    References:
        Zhao et al., "Efficient Direct-Connect Topologies for Collective Communications",
        arXiv:2202.03356: BFB schedules.

    >>> measure(Topology(range(4), [(i, (i + 1) % 4) for i in range(4)]))
    Cost(steps=3, bandwidth=Fraction(3, 4))
    """
    everywhere = np.arange(topology.node_count)
    return CostProbe(topology).measure(everywhere if destinations is None else destinations)


def measure_both(topology: Topology, destinations: Positions | None = None) -> tuple[Cost, Cost]:
    """Return the cost on the topology and on its transpose.

    The second is the cost of the reduce-scatter on the topology.  A topology and its transpose
    have the same automorphisms, so the same destinations serve.

    >>> in_star = Topology(range(3), [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2)])
    >>> [cost.bandwidth for cost in measure_both(in_star)]
    [Fraction(4, 3), Fraction(4, 3)]
    """
    cost = measure(topology, destinations)
    turned = topology.transpose()
    if turned == topology:
        return cost, cost
    return cost, measure(turned, destinations)


def step_loads(topology: Topology, goals: Positions | None = None) -> tuple[Fraction, ...]:
    """Return max over u of U(u, t) for t = 1 .. diameter.

    In shards per unit of `whole_capacities`.  ``goals`` restricts the destinations u.  Domain and
    errors as `measure`.

    >>> step_loads(Topology(range(3), [(0, 1), (1, 2), (2, 0)]))
    (Fraction(1, 1), Fraction(1, 1))
    """
    probe = CostProbe(topology)
    probe.measure(np.arange(topology.node_count) if goals is None else goals)
    return probe.loads


class CostProbe:
    """The cost of a topology over the destinations measured so far, a lower bound on the cost.

    Domain and errors as `measure`.

    >>> probe = CostProbe(Topology(range(3), [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2)]))
    >>> probe.measure([1]), probe.measure([0, 2])
    (Cost(steps=2, bandwidth=Fraction(4, 3)), Cost(steps=2, bandwidth=Fraction(4, 3)))
    """

    def __init__(self, topology: Topology) -> None:
        _require_measurable(topology)
        if topology.node_count < 2 or len(topology.sources) == 0:
            topology.require_connected()
        capacity = whole_capacities(topology)
        self._topology = topology
        self._widest = widest_node(topology, capacity)
        self._links = in_links(topology, capacity)
        self._degree = int(topology.in_degrees.max())
        self._narrow = self._degree <= MAX_TABLE_DEGREE
        self._batched = self._narrow and bool((capacity == 1).all())
        self._steps = 0
        self._over, self._under = self._no_loads()

    def measure(self, destinations: Positions) -> Cost:
        """Measure more destinations; return the cost over all so far.

        O(destinations * links); uses all processors.
        """
        goals = np.asarray(destinations, np.int64)
        if self._steps == 0:
            # The first search gives the diameter and so selects the method for the others.
            self._raise(self._one_by_one(goals[:1]))
            goals = goals[1:]
        if not self._all_pairs(goals):
            self._towards(goals)
        total = _total(*self._pairs)
        return Cost(self._steps, total * self._widest / self._topology.node_count)

    def _towards(self, goals: Integers) -> None:
        """Raise the loads to those of some destinations, by searches towards these."""
        visits = len(goals) * self._topology.link_count
        if self._batched and self._steps <= MAX_BATCHED_STEPS and len(goals) >= _LEAST_BATCHED:
            run, workers = self._side_by_side, _workers(visits // _BATCHED_FASTER)
            pieces = [goals[low : low + LANES] for low in range(0, len(goals), LANES)]
        else:
            run, workers = self._one_by_one, _workers(visits)
            # Several pieces per worker even out their times.
            bounds = np.linspace(0, len(goals), 4 * workers + 1 if workers > 1 else 2).astype(int)
            pieces = [goals[low:high] for low, high in pairwise(bounds.tolist())]
        self._raise(*at_once(run, pieces, workers))

    def _all_pairs(self, goals: Integers) -> bool:
        """Raise the loads to those of most nodes, by searches from all; return whether this pays.

        Also returns False, and raises nothing, if some distance is much longer than the first.
        """
        nodes = self._topology.node_count
        many = nodes >= all_pairs.FEWEST_NODES and 2 * len(goals) > nodes
        narrow = self._batched and self._degree <= all_pairs.MAX_DEGREE
        if not (many and narrow and self._steps <= MAX_BATCHED_STEPS):
            return False
        workers = _workers(nodes * self._topology.link_count // _BATCHED_FASTER)
        most = self._steps + _MORE_STEPS
        found = all_pairs.largest_loads(self._links, goals, self._degree, most, workers)
        if found is None:
            return False
        steps, loads, denominator = found
        over, under = self._no_loads()
        over[: steps + 1], under[: steps + 1] = loads, denominator
        self._raise((steps, over, under))
        return True

    @property
    def loads(self) -> tuple[Fraction, ...]:
        """The largest load of every step so far, in shards per unit of `whole_capacities`."""
        over, under = (array.tolist() for array in self._pairs)
        return tuple(map(Fraction, over, under))

    @property
    def _pairs(self) -> tuple[Integers, Integers]:
        """Numerators, at most the number of nodes, and denominators of the loads."""
        steps = slice(1, self._steps + 1)
        return self._over[steps], self._under[steps]

    def _raise(self, *results: _Loads) -> None:
        for steps, over, under in results:
            if steps < 0:
                self._topology.require_connected()
            self._steps = max(self._steps, steps)
            raise_loads(over, under, self._over, self._under)

    def _side_by_side(self, goals: Integers) -> _Loads:
        over, under = self._no_loads()
        steps = measure_batch(self._links, self._out, goals, self._degree, over, under)
        return self._one_by_one(goals) if steps == TOO_FAR else (steps, over, under)

    @cached_property
    def _out(self) -> OutLinks:
        return out_links(self._links)

    def _one_by_one(self, goals: Integers) -> _Loads:
        over, under = self._no_loads()
        nodes, degree = self._topology.node_count, self._degree
        steps = measure_range(
            self._links,
            goals,
            search_memory(nodes),
            scratch(1 if self._narrow else nodes, degree),
            np.zeros(nodes, np.int64),
            np.zeros(nodes, np.int64),
            np.zeros(1 << min(degree, MAX_COUNTED_DEGREE), np.int64),
            np.zeros(1 << min(degree, MAX_TABLE_DEGREE), np.int64),
            over,
            under,
        )
        return steps, over, under

    def _no_loads(self) -> tuple[Integers, Integers]:
        nodes = self._topology.node_count
        return np.zeros(nodes + 1, np.int64), np.ones(nodes + 1, np.int64)


def _workers(visits: int) -> int:
    return _WORKERS if visits > _THREADING_PAYS else 1


def whole_capacities(topology: Topology) -> NDArray[np.int64]:
    """Return the capacities, by link, scaled to the least integers; int64.

    >>> whole_capacities(Topology("ab", [("a", "b", Fraction(1, 2)), ("b", "a", 3)])).tolist()
    [1, 6]

    Raises:
        NotMeasurable: A scaled capacity exceeds 2**40.
    """
    if topology.has_equal_capacities:
        return np.ones(topology.link_count, np.int64)
    distinct = {Fraction(capacity) for capacity in set(topology.capacities)}
    scale = lcm(*(capacity.denominator for capacity in distinct))
    if max(distinct) * scale > _MAX_CAPACITY:
        raise NotMeasurable("/links", "the capacities must have a smaller common denominator")
    return np.array([int(capacity * scale) for capacity in topology.capacities], np.int64)


def diameter(topology: Topology) -> int:
    """Return the longest distance between two nodes: T_L in steps.

    >>> diameter(Topology(range(4), [(i, (i + 1) % 4) for i in range(4)]))
    3
    """
    return len(step_loads(topology))


def _require_measurable(topology: Topology) -> None:
    if topology.switches:
        raise NotMeasurable(
            "/nodes", "must hold no switches: this cost is of direct links; see the optimum"
        )
    if topology.shared:
        raise NotMeasurable("/shared", "must be empty: this cost treats links separately")
    if topology.in_degrees.max(initial=0) > MAX_DEGREE:
        raise NotMeasurable("/links", f"at most {MAX_DEGREE} links may enter a node")


def widest_node(topology: Topology, capacity: Integers) -> int:
    """Return B, the largest capacity into or out of a node, in `whole_capacities`."""
    if topology.has_equal_capacities:
        return topology.degree
    # No overflow: fewer than 2**22 links of at most 2**40.
    through = np.zeros((2, topology.node_count), np.int64)
    np.add.at(through[0], topology.sources, capacity)
    np.add.at(through[1], topology.targets, capacity)
    return int(through.max())


def _total(over: Integers, under: Integers) -> Fraction:
    """Return the sum of many fractions with few denominators (a ring of 4096: 4095 with one)."""
    parts = ((over[under == bottom].sum(), bottom) for bottom in np.unique(under).tolist())
    return sum((Fraction(int(top), bottom) for top, bottom in parts), Fraction(0))
