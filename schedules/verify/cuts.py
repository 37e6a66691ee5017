"""What one cut of a topology proves of every schedule, derived from its links alone."""

from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction
from types import MappingProxyType

from topoloom.schedules.errors import InvalidSchedule
from topoloom.synth.topology.topology import NodeId, Topology

__all__ = ["cut_inverse_rate", "weighted_inverse_rate"]


def cut_inverse_rate(
    topology: Topology,
    inside: Collection[NodeId],
    sizes: Mapping[NodeId, int],
    *,
    trees_per_root: int | None = None,
    inward: bool = False,
) -> Fraction:
    """Return the least inverse rate of any schedule, as far as the links out of a set tell.

    All data that begins in the set has to leave it, since some rank is outside.  With a
    number k of trees per root, of a unit bandwidth 1/U each, a link of bandwidth b carries
    floor(U b) of them at most; the least U that lets all trees out, over k, is the bound.

    Parameters
    ----------
    topology : Topology
        Parallel links count as one.
    inside : collection of node ids
        The set.
    sizes : mapping
        Size of the shard of every rank; 0 for ranks that bring none.
    trees_per_root : int, optional
        k, per unit of size.  Left out: any number.
    inward : bool
        For reduce-scatter and reduce: the data has to come in.

    Raises
    ------
    InvalidSchedule
        No rank is outside, or no data inside, or no link leads out: nothing is proven.

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
    """Return the least inverse rate as far as several sets and forwarding nodes tell together.

    Let x be the bandwidth per unit of size, and b what is used of the links.  Each set S lets
    x w(S) out, and a node u that only forwards lets out no more than it takes in.  With
    weights y_S of the sets and p_u of such nodes, from 0,

        x sum y_S w(S) <= sum y_S b(out of S) + p_u (b(into u) - b(out of u))
                       <= sum over links s -> t of c max(0, p_t - p_s + y of the sets it leaves).

    With weights r_g from 0 of limits c_g that links share, a link counts less by the r_g of those
    that hold it, and the sum of c_g r_g is added.

    Parameters
    ----------
    topology : Topology
    sets : iterable of (set, weight)
    prices : mapping
        The weights p_u.
    sizes : mapping
        Size of the shard of every rank; 0 for ranks that bring none.
    sharing : mapping
        The weights r_g, by the place of the limit in the topology.
    inward : bool
        For reduce-scatter and reduce: everything the other way.

    Raises
    ------
    InvalidSchedule
        A weight is negative, a set misses no rank, a price is that of a rank, or nothing is
        held: nothing is proven.

    Examples
    --------
    Two leave the switch where one enters; no single set tells more than 3/2:

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
            raise InvalidSchedule("/proof/sharing", "must be from 0, of limits that there are")
        total += weight * topology.shared[index].capacity
        for pair in topology.shared[index].links:
            crossed[pair] = crossed.get(pair, none) - weight
    for source, target, capacity in topology.links:
        here, there = (target, source) if inward else (source, target)
        price = prices.get(there, none) - prices.get(here, none)
        total += capacity * max(none, price + crossed.get((source, target), none))
    return held / total
