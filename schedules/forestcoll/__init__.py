"""ForestColl: throughput-optimal collectives as packed spanning trees, on any fabric.

Read in this order: `network` (integer capacities), `flow` (the max-flow kernel),
`optimality` (the best rate and the cut that proves it); `trial`, `shares`, `splitting` and
`routes` (switches away); `shortest` (trees of shortest paths, where they do); `packing`,
`forest`, `mending`, `growth` and `shortening` (trees elsewhere).

References
----------
.. [1] Zhao et al., "ForestColl", arXiv:2402.06787.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from schedules.errors import NoSchedule
from schedules.forestcoll.network import Network, network_of
from schedules.forestcoll.optimality import (
    Rate,
    best_rate,
    best_rate_for,
    entry_rate,
    tree_capacities,
)
from schedules.forestcoll.packing import pack
from schedules.forestcoll.routes import Routes
from schedules.forestcoll.shortest import shortest_trees
from schedules.forestcoll.splitting import Splitter
from schedules.model import Collective, Tree, TreeSchedule
from synth.topology import NodeId, Topology

__all__ = ["Optimum", "allgather", "optimum"]


@dataclass(frozen=True, slots=True)
class Optimum:
    """The best allgather rate of a topology, and a cut that no schedule can beat.

    ``inverse_rate`` is 1/x, where x is the bandwidth at which each root can send to all
    others at once; moving M bytes takes M / N * inverse_rate.  ``trees_per_root`` (k)
    trees of bandwidth ``unit_bandwidth`` each reach it: k * unit_bandwidth = x.
    ``bottleneck`` is a set of nodes that holds ``compute_inside`` compute nodes, misses
    one at least, and is left by links of ``exit_capacity`` in all.

    With the best k, inverse_rate = compute_inside / exit_capacity.  With a given k it may
    be larger: then the bottleneck is a set whose exits, each rounded down to whole trees,
    could not carry k * compute_inside trees if the unit bandwidth were any larger.
    """

    inverse_rate: Fraction
    trees_per_root: int
    unit_bandwidth: Fraction
    compute_nodes: int
    bottleneck: frozenset[NodeId] | None
    compute_inside: int
    exit_capacity: Fraction

    @property
    def algbw(self) -> Fraction:
        """Bytes gathered per unit of time: compute nodes / inverse_rate."""
        return self.compute_nodes / self.inverse_rate


def optimum(topology: Topology, trees_per_root: int | None = None) -> Optimum:
    """Return the best possible allgather rate of a topology, exactly.

    Let C be the compute nodes, N = |C|, and out(S) the bandwidth that leaves a set S of
    nodes.  Every allgather of M bytes takes at least M / N * max |S & C| / out(S), over
    all S that miss a compute node; ForestColl's trees reach it [1]_.

    Parameters
    ----------
    topology : Topology
        Any directed graph of compute nodes and switches.
    trees_per_root : int, optional
        The number k of trees per root, at least 1.  Without it, the least k that reaches
        the optimum.  With it, the best rate at which k trees per root can be packed.

    Returns
    -------
    Optimum
        In the topology's unit of bandwidth.

    Raises
    ------
    InvalidTopology
        There are fewer than two compute nodes.
    Unreachable
        Some compute node cannot reach another.
    NoSchedule
        ``trees_per_root`` is less than 1.
    TooLarge
        Capacities scaled to whole numbers do not fit 62 bits.

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
    """
    network = _network(topology, trees_per_root)
    rate = _rate(network, trees_per_root)
    leaving = rate.inside[network.tail] & ~rate.inside[network.head]
    return Optimum(
        inverse_rate=rate.scale / rate.trees_per_root / network.unit,
        trees_per_root=rate.trees_per_root,
        unit_bandwidth=network.unit / rate.scale,
        compute_nodes=len(network.terminals),
        bottleneck=frozenset(topology.nodes[index] for index in np.flatnonzero(rate.inside)),
        compute_inside=int(rate.inside[network.terminals].sum()),
        exit_capacity=int(network.capacity[leaving].sum()) * network.unit,
    )


def allgather(topology: Topology, trees_per_root: int | None = None) -> TreeSchedule:
    """Return an allgather that reaches the optimum: a forest of spanning trees.

    Parameters
    ----------
    topology, trees_per_root
        As for `optimum`.

    Returns
    -------
    TreeSchedule
        Per root the weights add up to k = ``optimum(...).trees_per_root``.  Every link
        carries trees of total weight at most capacity / unit_bandwidth, parallel links
        taken together.

    Raises
    ------
    InvalidTopology, Unreachable, NoSchedule, TooLarge
        As for `optimum`.
    NoSchedule
        A switch lets out more than it takes in, be it only after rounding down to a given
        number of trees, and the optimum needs all of it: it would have to copy data, and
        the cut bound may be out of reach.
    TooLarge
        The flows kept while packing pass `packing.MOST_FLOW_ENTRIES`.

    Notes
    -----
    Without switches, trees of shortest paths are tried first (`shortest`): where they reach
    the optimum, nothing is faster to find nor lower.  Otherwise
    whole links become switch-free arcs (`splitting`), trees are packed into those
    (`packing`), made as shallow as exchanges can (`shortening`) and drawn along the paths
    the arcs stand for (`routes`).  A group of equal trees is cut where its edges are served
    by several paths.  Deterministic.

    Examples
    --------
    >>> pair = Topology("abs", [(x, "s") for x in "ab"] + [("s", x) for x in "ab"], switches="s")
    >>> [(tree.root, tree.weight, tree.edges) for tree in allgather(pair).trees]
    [('a', 1, (('a', 's', 'b'),)), ('b', 1, (('b', 's', 'a'),))]
    """
    network = _network(topology, trees_per_root)
    rate = entry_rate(network, trees_per_root)
    # If trees reach the rate at which nodes can take in all they want, it is the optimum.
    trees = _of_shortest_paths(topology, network, rate)
    if trees is None:
        rate = _rate(network, trees_per_root)
        trees = _of_shortest_paths(topology, network, rate) or _packed(topology, network, rate)
    return TreeSchedule(
        collective=Collective.ALLGATHER,
        topology=topology.digest,
        ranks=topology.compute_nodes,
        trees_per_root=rate.trees_per_root,
        trees=tuple(trees),
    )


def _of_shortest_paths(topology: Topology, network: Network, rate: Rate) -> Iterator[Tree] | None:
    """Return trees of shortest paths at this rate, or None if there are none."""
    if topology.switches:
        return None
    room = tree_capacities(network, rate.scale, rate.trees_per_root)
    groups = shortest_trees(
        network.node_count, network.tail, network.head, room, rate.trees_per_root
    )
    if groups is None:
        return None
    nodes = topology.nodes
    ends = zip(network.tail.tolist(), network.head.tolist(), strict=True)
    names = [(nodes[source], nodes[target]) for source, target in ends]
    return (
        Tree(nodes[group.root], group.multiplicity, tuple([names[a] for a in group.arcs.tolist()]))
        for group in groups
    )


def _packed(topology: Topology, network: Network, rate: Rate) -> Iterator[Tree]:
    """Return trees packed after the switches are taken away."""
    room = tree_capacities(network, rate.scale, rate.trees_per_root)
    ends = zip(network.tail.tolist(), network.head.tolist(), strict=True)
    capacities = {pair: trees for pair, trees in zip(ends, room.tolist(), strict=True) if trees}
    routes = None
    if topology.switches:
        splitter = Splitter(capacities, network.terminals, rate.trees_per_root, topology.nodes)
        splitter.remove_switches()
        capacities, routes = splitter.capacities, splitter.routes
    return _trees(topology, network, capacities, routes, rate.trees_per_root)


def _trees(
    topology: Topology,
    network: Network,
    capacities: dict[tuple[int, int], int],
    routes: Routes | None,
    trees_per_root: int,
) -> Iterator[Tree]:
    """Pack trees between the terminals and draw them on the topology."""
    nodes, ranks = topology.nodes, network.terminals
    pairs = list(capacities)
    ends = np.searchsorted(ranks, np.array(pairs, dtype=np.int64))
    room = np.array(list(capacities.values()), dtype=np.int64)
    names = [(nodes[source], nodes[target]) for source, target in pairs]
    for group in pack(len(ranks), ends[:, 0], ends[:, 1], room, trees_per_root):
        root = nodes[ranks[group.root]]
        arcs = group.arcs.tolist()
        if routes is None:
            yield Tree(root, group.multiplicity, tuple([names[arc] for arc in arcs]))
            continue
        for weight, paths in routes.draw([pairs[arc] for arc in arcs], group.multiplicity):
            edges = tuple(tuple([nodes[place] for place in path]) for path in paths)
            yield Tree(root, weight, edges)


def _network(topology: Topology, trees_per_root: int | None) -> Network:
    if trees_per_root is not None and trees_per_root < 1:
        raise NoSchedule("trees_per_root", f"must be at least 1; got {trees_per_root}")
    topology.require_connected()
    return network_of(topology)


def _rate(network: Network, trees_per_root: int | None) -> Rate:
    if trees_per_root is None:
        return best_rate(network)
    return best_rate_for(network, trees_per_root)
