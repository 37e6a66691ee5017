"""ForestColl: throughput-optimal collectives as packed spanning trees, on any fabric.

Read in this order: `demand` (who brings how much), `network` (integer capacities), `flow`
(the max-flow kernel), `optimality` (the best rate and the cut that proves it), `fewness` (how
few trees come close to it); `trial`, `shares`, `splitting` and `routes` (switches away);
`packing`, `forest`, `mending`, `growth` and `shortening` (trees).

References
----------
.. [1] Zhao et al., "ForestColl", arXiv:2402.06787.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedules.errors import NoSchedule
from schedules.forestcoll.demand import Demand, demand_of, require_paths
from schedules.forestcoll.fewness import fewest_trees
from schedules.forestcoll.network import Network, network_of
from schedules.forestcoll.optimality import (
    Rate,
    best_rate,
    best_rate_for,
    data_inside,
    tree_capacities,
)
from schedules.forestcoll.packing import pack
from schedules.forestcoll.routes import Routes
from schedules.forestcoll.splitting import Splitter
from schedules.model import Collective, Tree, TreeSchedule
from synth.topology import NodeId, Topology

__all__ = ["Optimum", "allgather", "broadcast", "optimum"]


@dataclass(frozen=True, slots=True)
class Optimum:
    """The best allgather rate of a topology, and a cut that no schedule can beat.

    ``inverse_rate`` is 1/x, where x is the bandwidth at which each root can send to all
    others at once; moving M bytes takes M / N * inverse_rate.  ``trees_per_root`` (k)
    trees of bandwidth ``unit_bandwidth`` each reach it: k * unit_bandwidth = x.
    ``bottleneck`` is a set of nodes that holds ``compute_inside`` compute nodes, misses
    one at least, and is left by links of ``exit_capacity`` in all.

    Where shards are not equal, x and k are per unit of size: a root whose shard has size s
    sends at s * x, over s * k trees.  ``data`` is the size of all shards together, which is N
    where they are equal, and ``data_inside`` that of the bottleneck's.

    With the best k, inverse_rate = data_inside / exit_capacity.  With a given k it may
    be larger: then the bottleneck is a set whose exits, each rounded down to whole trees,
    could not carry k * data_inside trees if the unit bandwidth were any larger.

    ``gap`` is how much longer than with the best k everything takes, as a share of that:
    with any number of trees the inverse rate is at least inverse_rate / (1 + gap).
    """

    inverse_rate: Fraction
    trees_per_root: int
    unit_bandwidth: Fraction
    compute_nodes: int
    bottleneck: frozenset[NodeId] | None
    compute_inside: int
    exit_capacity: Fraction
    data: int
    data_inside: int
    gap: Fraction = Fraction(0)

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
) -> Optimum:
    """Return the best possible allgather rate of a topology, exactly.

    Let C be the compute nodes, N = |C|, and out(S) the bandwidth that leaves a set S of
    nodes.  Every allgather of M bytes takes at least M / N * max |S & C| / out(S), over
    all S that miss a compute node; ForestColl's trees reach it [1]_.  With shards of sizes w it
    is M / w(C) * max w(S & C) / out(S); for one root that is M over the least max-flow from
    the root to any compute node (Edmonds).

    Parameters
    ----------
    topology : Topology
        Any directed graph of compute nodes and switches.
    trees_per_root : int, optional
        The number k of trees per root, at least 1.  Without it, the least k that reaches
        the optimum.  With it, the best rate at which k trees per root can be packed.
    max_gap : Fraction or int, optional
        Instead of k: the fewest trees per root whose best rate takes at most 1 + max_gap
        times as long as the optimum.  At 0 that may be fewer than without it, because links
        that no bottleneck needs may then be left unused in part.
    shards : mapping, optional
        Relative sizes of the shards by compute node, integers from 0; nodes left out have
        size 0.  Equal shards without it.
    participants : iterable, optional
        The compute nodes that take part, at least two.  All others forward only, as
        switches do.  All take part without it.

    Returns
    -------
    Optimum
        In the topology's unit of bandwidth.

    Raises
    ------
    InvalidTopology
        There are fewer than two compute nodes.
    Unreachable
        Some compute node that brings data cannot reach another that takes part.
    NoSchedule
        ``shards`` or ``participants`` break a rule of `demand.demand_of`, ``trees_per_root``
        is less than 1, ``max_gap`` is no exact number or negative, or both are given.
    TooLarge
        Capacities scaled to whole numbers do not fit 62 bits, or ``max_gap`` needs more than
        `fewness.MOST_TREES_TRIED` trees per root.

    Notes
    -----
    The value is that of the cut bound.  It is reached whenever the switches let out as
    much as they take in; see `allgather`.

    Examples
    --------
    >>> ring = Topology(range(4), [(i, (i + 1) % 4) for i in range(4)])
    >>> best = optimum(ring)
    >>> best.inverse_rate, best.trees_per_root, best.algbw
    (Fraction(3, 1), 1, Fraction(4, 3))
    >>> sorted(best.bottleneck), best.compute_inside, best.exit_capacity
    ([1, 2, 3], 3, Fraction(1, 1))

    Links of 2 and 3 take five trees per root to be full; six are slower again:

    >>> wheel = [(i, (i + step) % 3, 1 + step) for i in range(3) for step in (1, 2)]
    >>> [optimum(Topology(range(3), wheel), k).gap for k in (4, 5, 6)]
    [Fraction(1, 24), Fraction(0, 1), Fraction(1, 24)]
    >>> optimum(Topology(range(3), wheel), max_gap=Fraction(1, 10)).trees_per_root
    4
    """
    demand = demand_of(topology, shards, participants)
    network, rate, best = _solve(topology, demand, trees_per_root, max_gap)
    leaving = rate.inside[network.tail] & ~rate.inside[network.head]
    return Optimum(
        inverse_rate=rate.inverse / network.unit,
        trees_per_root=rate.trees_per_root,
        unit_bandwidth=network.unit / rate.scale,
        compute_nodes=len(network.terminals),
        bottleneck=frozenset(topology.nodes[index] for index in np.flatnonzero(rate.inside)),
        compute_inside=int(rate.inside[network.terminals].sum()),
        exit_capacity=int(network.capacity[leaving].sum()) * network.unit,
        data=network.data,
        data_inside=data_inside(network, rate.inside),
        gap=rate.inverse / best.inverse - 1,
    )


def allgather(
    topology: Topology,
    trees_per_root: int | None = None,
    *,
    max_gap: Fraction | int | None = None,
    shards: Mapping[NodeId, int] | None = None,
    participants: Iterable[NodeId] | None = None,
) -> TreeSchedule:
    """Return an allgather that reaches the optimum: a forest of spanning trees.

    Parameters
    ----------
    topology, trees_per_root, max_gap, shards, participants
        As for `optimum`.

    Returns
    -------
    TreeSchedule
        Per root the weights add up to k = ``optimum(...).trees_per_root``, times the size
        of its shard without the factor that all sizes share.  Every link
        carries trees of total weight at most capacity / unit_bandwidth, parallel links
        taken together.

    Raises
    ------
    InvalidTopology, Unreachable, NoSchedule, TooLarge
        As for `optimum`.
    NoSchedule
        A switch, or a compute node that takes no part, lets out more than it takes in, be it
        only after rounding down to a given number of trees, and the optimum needs all of it:
        it would have to copy data, and the cut bound may be out of reach.
    TooLarge
        The flows kept while packing pass `packing.MOST_FLOW_ENTRIES`.

    Notes
    -----
    Whole links become switch-free arcs (`splitting`), trees are packed into those
    (`packing`), made as shallow as exchanges can (`shortening`) and drawn along the paths
    the arcs stand for (`routes`).  A group of equal trees is cut where its edges are served
    by several paths.  Deterministic.

    Examples
    --------
    >>> pair = Topology("abs", [(x, "s") for x in "ab"] + [("s", x) for x in "ab"], switches="s")
    >>> [(tree.root, tree.weight, tree.edges) for tree in allgather(pair).trees]
    [('a', 1, (('a', 's', 'b'),)), ('b', 1, (('b', 's', 'a'),))]
    """
    demand = demand_of(topology, shards, participants)
    network, rate, _ = _solve(topology, demand, trees_per_root, max_gap)
    trees_per_root = rate.trees_per_root
    trees = trees_per_root * network.sizes
    room = tree_capacities(network, rate.scale, trees_per_root)
    ends = zip(network.tail.tolist(), network.head.tolist(), strict=True)
    capacities = {pair: trees for pair, trees in zip(ends, room.tolist(), strict=True) if trees}
    routes = None
    if len(demand.ranks) < topology.node_count:
        splitter = Splitter(capacities, network.terminals, trees, trees_per_root, topology.nodes)
        splitter.remove_switches()
        capacities, routes = splitter.capacities, splitter.routes
    taking_part = set(demand.ranks)
    return TreeSchedule(
        collective=Collective.ALLGATHER,
        topology=topology.digest,
        ranks=demand.ranks,
        trees_per_root=trees_per_root,
        trees=tuple(_trees(topology, network, capacities, routes, trees)),
        shards=() if set(demand.sizes) == {1} else demand.sizes,
        idle=tuple(node for node in topology.compute_nodes if node not in taking_part),
    )


def broadcast(
    topology: Topology,
    root: NodeId,
    trees_per_root: int | None = None,
    *,
    max_gap: Fraction | int | None = None,
    participants: Iterable[NodeId] | None = None,
) -> TreeSchedule:
    """Return a broadcast that reaches the optimum: all trees have one root.

    Parameters
    ----------
    root : NodeId
        The compute node that has the data; it takes part.
    topology, trees_per_root, max_gap, participants
        As for `optimum`, with all data in the root's shard.

    Raises
    ------
    InvalidTopology, Unreachable, NoSchedule, TooLarge
        As for `allgather`.  Only the root must reach the others.

    Examples
    --------
    >>> diamond = Topology("abcd", [(s, t) for s, t in ("ab", "ac", "bd", "cd", "bc", "cb")])
    >>> optimum(diamond, shards={"a": 1}).inverse_rate  # 2 links enter every node but a
    Fraction(1, 2)
    >>> sorted(tree.root for tree in broadcast(diamond, "a").trees)
    ['a', 'a']
    """
    try:
        schedule = allgather(
            topology, trees_per_root, max_gap=max_gap, shards={root: 1}, participants=participants
        )
    except NoSchedule as error:
        if error.field == "shards":
            raise NoSchedule("root", error.rule) from None
        raise
    return replace(schedule, collective=Collective.BROADCAST)


def _trees(
    topology: Topology,
    network: Network,
    capacities: dict[tuple[int, int], int],
    routes: Routes | None,
    trees: NDArray[np.int64],
) -> Iterator[Tree]:
    """Pack trees between the terminals and draw them on the topology."""
    nodes, ranks = topology.nodes, network.terminals
    pairs = list(capacities)
    ends = np.searchsorted(ranks, np.array(pairs, dtype=np.int64))
    room = np.array(list(capacities.values()), dtype=np.int64)
    names = [(nodes[source], nodes[target]) for source, target in pairs]
    for group in pack(len(ranks), ends[:, 0], ends[:, 1], room, trees[ranks]):
        root = nodes[ranks[group.root]]
        arcs = group.arcs.tolist()
        if routes is None:
            yield Tree(root, group.multiplicity, tuple([names[arc] for arc in arcs]))
            continue
        for weight, paths in routes.draw([pairs[arc] for arc in arcs], group.multiplicity):
            edges = tuple(tuple([nodes[place] for place in path]) for path in paths)
            yield Tree(root, weight, edges)


class _Solution(NamedTuple):
    """``best`` is the rate of any number of trees, ``rate`` that of the number asked for."""

    network: Network
    rate: Rate
    best: Rate


def _solve(
    topology: Topology,
    demand: Demand,
    trees_per_root: int | None,
    max_gap: Fraction | int | None,
) -> _Solution:
    if trees_per_root is not None and trees_per_root < 1:
        raise NoSchedule("trees_per_root", f"must be at least 1; got {trees_per_root}")
    if max_gap is not None:
        _require_gap(max_gap, trees_per_root)
    require_paths(topology, demand)
    network = network_of(topology, demand)
    best = best_rate(network)
    if max_gap is not None:
        trees_per_root = fewest_trees(network, best, Fraction(max_gap))
    if trees_per_root is None:
        return _Solution(network, best, best)
    return _Solution(network, best_rate_for(network, trees_per_root, best), best)


def _require_gap(max_gap: object, trees_per_root: int | None) -> None:
    if isinstance(max_gap, bool) or not isinstance(max_gap, Fraction | int):
        raise NoSchedule("max_gap", f"must be a fraction or an integer; got {max_gap!r}")
    if max_gap < 0:
        raise NoSchedule("max_gap", f"must not be negative; got {max_gap}")
    if trees_per_root is not None:
        raise NoSchedule("max_gap", "must not be given together with trees_per_root")
