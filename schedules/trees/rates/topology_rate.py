"""The best rate of a topology in its own terms, with the cut that proves it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.trees.flow.demand import demand_of, require_paths
from topoloom.schedules.trees.flow.network import Network, copying_nodes, network_of
from topoloom.schedules.trees.flow.optimality import Rate, best_rate, best_rate_for, data_inside
from topoloom.schedules.trees.linear_program.certificate import Proof
from topoloom.schedules.trees.rates.balanced_capacities import usable_network
from topoloom.schedules.trees.rates.fewest_trees import fewest_trees, least_trees
from topoloom.schedules.trees.rates.pattern_counts import pattern_counts
from topoloom.synth.topology.topology import NodeId, Topology


@dataclass(frozen=True, slots=True)
class Optimum:
    """The best allgather rate of a topology, and a cut that proves it.

    ``inverse_rate`` is 1/x, where x is the bandwidth at which each root can send to all others
    at once; M bytes take M / N * inverse_rate.  ``trees_per_root`` (k) trees of bandwidth
    ``unit_bandwidth`` each reach it: k * unit_bandwidth = x.  ``bottleneck`` is a set of nodes
    with ``compute_inside`` compute nodes that misses at least one; links of total
    ``exit_capacity`` leave it.

    For unequal shards x and k are per unit of size: a root whose shard has size s sends at
    s * x, over s * k trees.  ``data`` is the total size of all shards, N for equal shards, and
    ``data_inside`` that of the bottleneck.

    With the best k, inverse_rate = data_inside / exit_capacity.  With a given k it may be
    larger.  The bottleneck is then a set whose exits, each rounded down to whole trees, could
    not carry k * data_inside trees if the unit bandwidth were any larger.

    ``gap`` is the excess over the time with the best k, as a share: with any number of trees the
    inverse rate is at least inverse_rate / (1 + gap).

    Where a forwarding node can send more than it receives, all values refer to the capacities that
    such nodes can use (``trimmed``; `balanced_capacities`).  Without a ``proof``, the bottleneck of
    any number of trees is still a cut of all links.  With a proof, the exits of the bottleneck are
    the usable capacities, and the proof shows that no others are better.  With a proof by patterns
    of copies, the bottleneck is the worst cut of all links, which allows more.

    ``least`` states, without a requested number or gap, whether the number of trees is minimal:
    cuts exclude every smaller number.  Otherwise the search exceeded its limit, or a number that
    cuts allow would require switches to copy.

    ``bound`` is set where switches that copy send more than they receive, and it is unknown whether
    a higher rate is possible.  ``bound`` is a lower bound on the inverse rate, to which the
    bottleneck or the proof refers.
    """

    inverse_rate: Fraction
    trees_per_root: int
    unit_bandwidth: Fraction
    compute_nodes: int
    bottleneck: frozenset[NodeId]
    compute_inside: int
    exit_capacity: Fraction
    data: int
    data_inside: int
    gap: Fraction = Fraction(0)
    trimmed: bool = False
    proof: Proof | None = None
    least: bool | None = None
    bound: Fraction | None = None

    @property
    def algbw(self) -> Fraction:
        """Bytes gathered per unit of time: data / inverse_rate."""
        return self.data / self.inverse_rate


def optimum(
    topology: Topology,
    trees_per_root: int | None = None,
    *,
    max_gap: Fraction | int | None = None,
    shards: Mapping[NodeId, int] | None = None,
    participants: Iterable[NodeId] | None = None,
    root: NodeId | None = None,
    inward: bool = False,
) -> Optimum:
    """Return the best possible allgather or broadcast rate of a topology, exactly.

    Let C be the compute nodes, N = |C|, and out(S) the bandwidth out of a set S of nodes.
    Every allgather of M bytes takes at least M / N * max |S & C| / out(S), over all S that miss
    a compute node; ForestColl's trees reach this bound [1]_.  With shards of sizes w it is
    M / w(C) * max w(S & C) / out(S); for one root it is M over the least max-flow from the root
    to any compute node (Edmonds).

    Args:
        topology: Any directed graph of compute nodes and switches.
        trees_per_root: The number k of trees per root, at least 1; the result is the best rate of k
            trees per root.  Default: the least k that reaches the optimum, from
            `fewest_trees.least_trees`.
        max_gap: Instead of k: the fewest trees per root whose best rate takes at most 1 + max_gap
            times the optimal time.
        shards: Relative sizes of the shards by compute node, integers from 0; absent nodes have
            size 0.  Default: equal shards.
        participants: The participating compute nodes, at least two.  All others only forward, as
            switches do.  Default: all.
        root: For a broadcast, instead of shards: the compute node that brings all data.
        inward: For a reduce-scatter or a reduce: all directions are reversed.  Links of total
            ``exit_capacity`` then *enter* the bottleneck.

    Returns:
        In the topology's unit of bandwidth.

    Raises:
        InvalidTopology: There are fewer than two compute nodes.
        Unreachable: Some compute node with data cannot reach another participant.
        NoSchedule: A rule of `demand.demand_of` is broken, ``trees_per_root`` is less than 1,
            ``max_gap`` is no exact number or negative, or both are given.
        TooLarge: Capacities scaled to integers do not fit 62 bits, or ``max_gap`` needs more than
            `limits.MAX_TREES_TRIED` trees per root.

    The value is that of the cut bound, or of the linear program of `balanced_capacities` where
    forwarding nodes send more than they receive.  `allgather` reaches it.

    >>> ring = Topology(range(4), [(i, (i + 1) % 4) for i in range(4)])
    >>> best = optimum(ring)
    >>> best.inverse_rate, best.trees_per_root, best.algbw
    (Fraction(3, 1), 1, Fraction(4, 3))
    >>> sorted(best.bottleneck), best.compute_inside, best.exit_capacity
    ([1, 2, 3], 3, Fraction(1, 1))

    With links of 2 and 3, five trees per root saturate them; six are slower again:

    >>> wheel = [(i, (i + step) % 3, 1 + step) for i in range(3) for step in (1, 2)]
    >>> [optimum(Topology(range(3), wheel), k).gap for k in (4, 5, 6)]
    [Fraction(1, 24), Fraction(0, 1), Fraction(1, 24)]
    >>> optimum(Topology(range(3), wheel), max_gap=Fraction(1, 10)).trees_per_root
    4
    """
    require_counts(trees_per_root, max_gap)
    demand = demand_of(topology, shards, participants, root)
    require_paths(topology, demand, inward=inward)
    whole = network_of(topology.transpose() if inward else topology, demand)
    within = usable_network(whole, copying_nodes(topology))
    network, trimmed = within.network, within.network is not whole
    rate, _, proven = rates(network, trees_per_root, max_gap)
    inverse, trees = rate.inverse / network.unit, rate.trees_per_root
    inside, counted = rate.inside, network
    free = trees_per_root is None and max_gap is None
    if free and within.parts:
        each = within.rate / whole.data
        inverse, proven = 1 / each, False
        trees = pattern_counts(within.parts, each / whole.unit).trees_per_root
    by_patterns = within.proof is not None and bool(within.proof.patterns)
    if trimmed and (by_patterns or (within.proof is None and (free or within.copying))):
        # A cut of all links is also a proof.
        inside, counted = best_rate(whole).inside, whole
    leaving = inside[counted.tail] & ~inside[counted.head]
    return Optimum(
        inverse_rate=inverse,
        trees_per_root=trees,
        unit_bandwidth=1 / (inverse * trees),
        compute_nodes=len(whole.terminals),
        bottleneck=frozenset(topology.nodes[index] for index in np.flatnonzero(inside)),
        compute_inside=int(inside[whole.terminals].sum()),
        exit_capacity=int(counted.capacity[leaving].sum()) * counted.unit,
        data=network.data,
        data_inside=data_inside(network, inside),
        gap=inverse * within.rate / whole.data - 1,
        trimmed=trimmed,
        proof=None if within.proof is None else within.proof.named(topology.nodes),
        least=proven if free else None,
        bound=None if within.bound is None else whole.data / within.bound / whole.unit,
    )


class RequestedRates(NamedTuple):
    """``best`` is the rate with every link saturated, ``rate`` that of the requested number.

    Without a requested number, ``rate`` equals ``best`` with the fewest trees found, and
    ``proven`` states whether cuts exclude every smaller number.
    """

    rate: Rate
    best: Rate
    proven: bool = False


def rates(
    network: Network, trees_per_root: int | None, max_gap: Fraction | int | None = None
) -> RequestedRates:
    """Return the best rate, and that of a number of trees or of the fewest within a gap."""
    best = best_rate(network)
    if trees_per_root is None and max_gap is None:
        least = least_trees(network, best)
        rate = Rate(best.inverse * least.trees, least.trees, best.inside)
        return RequestedRates(rate, best, least.proven)
    if max_gap is not None:
        trees_per_root = fewest_trees(network, best, Fraction(max_gap))
    assert trees_per_root is not None
    return RequestedRates(best_rate_for(network, trees_per_root, best), best)


def require_counts(trees_per_root: int | None, max_gap: object) -> None:
    """Raise NoSchedule unless at most one is given, within its domain."""
    if trees_per_root is not None and trees_per_root < 1:
        raise NoSchedule("trees_per_root", f"must be at least 1; got {trees_per_root}")
    if max_gap is None:
        return
    if isinstance(max_gap, bool) or not isinstance(max_gap, Fraction | int):
        raise NoSchedule("max_gap", f"must be a fraction or an integer; got {max_gap!r}")
    if max_gap < 0:
        raise NoSchedule("max_gap", f"must not be negative; got {max_gap}")
    if trees_per_root is not None:
        raise NoSchedule("max_gap", "must not be given together with trees_per_root")
