"""Lower bounds on the inverse rate of any schedule by cuts, derived from links alone."""

from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction
from types import MappingProxyType

from topoloom.schedules.errors import InvalidSchedule
from topoloom.synth.topology.topology import NodeId, Topology


def cut_inverse_rate(
    topology: Topology,
    inside: Collection[NodeId],
    sizes: Mapping[NodeId, int],
    *,
    trees_per_root: int | None = None,
    inward: bool = False,
) -> Fraction:
    """Return the lower bound on the inverse rate by the links out of a set of nodes.

    All data that starts in the set must leave it, since some rank is outside.  With k trees per
    root, of a unit bandwidth 1/U each, a link of bandwidth b carries at most floor(U b) trees.
    The bound is the least U that lets all trees out, divided by k.

    Parameters
    ----------
    topology : Topology
        Parallel links count as one.
    inside : collection of node ids
        The set.
    sizes : mapping
        Size of the shard of every rank; 0 for ranks without data.
    trees_per_root : int, optional
        k, per unit of size.  Default: any number.
    inward : bool
        For reduce-scatter and reduce: the data must enter the set.

    Raises
    ------
    InvalidSchedule
        No rank is outside, no data is inside, or no link leads out: nothing is proved.

    Examples
    --------
    >>> ring = Topology(range(4), [(i, (i + 1) % 4, 2) for i in range(4)])
    >>> cut_inverse_rate(ring, {1, 2, 3}, dict.fromkeys(range(4), 1))
    Fraction(3, 2)
    """
    members = set(inside)
    if members >= set(sizes):
        raise InvalidSchedule("/bottleneck/nodes", "must leave out a rank")
    exits: dict[tuple[NodeId, NodeId], Fraction] = {}
    for source, target, capacity in topology.links:
        here, there = (target, source) if inward else (source, target)
        if here in members and there not in members:
            exits[here, there] = exits.get((here, there), Fraction(0)) + capacity
    data = sum(size for rank, size in sizes.items() if rank in members)
    if not exits or not data:
        raise InvalidSchedule("/bottleneck/nodes", "must hold data and have a link out")
    total = sum(exits.values(), Fraction(0))
    if trees_per_root is None:
        return data / total
    demand = trees_per_root * data
    scale = demand / total
    while sum(scale * room // 1 for room in exits.values()) < demand:
        scale = min((scale * room // 1 + 1) / room for room in exits.values())
    return scale / trees_per_root


def weighted_inverse_rate(
    topology: Topology,
    sets: Iterable[tuple[Collection[NodeId], Fraction]],
    prices: Mapping[NodeId, Fraction],
    sizes: Mapping[NodeId, int],
    sharing: Mapping[int, Fraction] = MappingProxyType({}),
    *,
    inward: bool = False,
) -> Fraction:
    """Return the lower bound on the inverse rate by several sets and forwarding nodes together.

    Let x be the bandwidth per unit of size, and b the used capacity of links.  Each set S has
    outgoing data x w(S), and a node u that only forwards sends no more than it receives.  With
    nonnegative weights y_S of the sets and p_u of such nodes,

        x sum y_S w(S) <= sum y_S b(out of S) + p_u (b(into u) - b(out of u))
                       <= sum over links s -> t of c max(0, p_t - p_s + y of the sets it leaves).

    Limits c_g that links share have nonnegative weights r_g.  The coefficient of a link decreases
    by the r_g of its limits, and the sum of c_g r_g is added.

    Parameters
    ----------
    topology : Topology
    sets : iterable of (set, weight)
    prices : mapping
        The weights p_u.
    sizes : mapping
        Size of the shard of every rank; 0 for ranks without data.
    sharing : mapping
        The weights r_g, by the index of the limit in the topology.
    inward : bool
        For reduce-scatter and reduce: all directions are reversed.

    Raises
    ------
    InvalidSchedule
        A weight is negative, a set contains all ranks, a price is that of a rank, or the sets hold
        no data: nothing is proved.

    Examples
    --------
    Two links leave the switch and one enters; no single set proves more than 3/2:

    >>> links = [(node, "w", 1) for node in "abcd"] + [("w", node, 2) for node in "abcd"]
    >>> star = Topology("abcdw", links, switches="w")
    >>> sets = [(set("abcdw") - {node}, Fraction(1, 4)) for node in "abcd"]
    >>> prices = {"w": Fraction(1, 4)}
    >>> weighted_inverse_rate(star, sets, prices, dict.fromkeys("abcd", 1))
    Fraction(3, 1)
    """
    if any(price < 0 or node in sizes for node, price in prices.items()):
        raise InvalidSchedule("/proof/prices", "must be from 0, of nodes that only forward")
    held, crossed = Fraction(0), dict[tuple[NodeId, NodeId], Fraction]()
    pairs = {(link.source, link.target) for link in topology.links}
    for inside, weight in sets:
        members = set(inside)
        if weight < 0 or members >= set(sizes):
            raise InvalidSchedule("/proof/sets", "must miss a rank each, with weights from 0")
        held += weight * sum(size for rank, size in sizes.items() if rank in members)
        for source, target in pairs:
            here, there = (target, source) if inward else (source, target)
            if here in members and there not in members:
                crossed[source, target] = crossed.get((source, target), Fraction(0)) + weight
    if not held:
        raise InvalidSchedule("/proof/sets", "must hold data")
    none, total = Fraction(0), Fraction(0)
    for index, weight in sharing.items():
        if weight < 0 or not 0 <= index < len(topology.shared):
            raise InvalidSchedule("/proof/sharing", "must be from 0, of limits of the topology")
        total += weight * topology.shared[index].capacity
        for pair in topology.shared[index].links:
            crossed[pair] = crossed.get(pair, none) - weight
    for source, target, capacity in topology.links:
        here, there = (target, source) if inward else (source, target)
        price = prices.get(there, none) - prices.get(here, none)
        total += capacity * max(none, price + crossed.get((source, target), none))
    return held / total
