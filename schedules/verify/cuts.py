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

    Args:
        topology: Parallel links count as one.
        inside: The set.
        sizes: Size of the shard of every rank; 0 for ranks without data.
        trees_per_root: k, per unit of size.  Default: any number.
        inward: For reduce-scatter and reduce: the data must enter the set.

    Raises:
        InvalidSchedule: No rank is outside, no data is inside, or no link leads out: nothing is
            proved.

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

    Args:
        sets: Iterable of (set, weight).
        prices: The weights p_u.
        sizes: Size of the shard of every rank; 0 for ranks without data.
        sharing: The weights r_g, by the index of the limit in the topology.
        inward: For reduce-scatter and reduce: all directions are reversed.

    Raises:
        InvalidSchedule: A weight is negative, a set contains all ranks, a price is that of a rank,
            or the sets hold no data: nothing is proved.

    Two links leave the switch and one enters; no single set proves more than 3/2:

    >>> links = [(node, "w", 1) for node in "abcd"] + [("w", node, 2) for node in "abcd"]
    >>> star = Topology("abcdw", links, switches="w")
    >>> sets = [(set("abcdw") - {node}, Fraction(1, 4)) for node in "abcd"]
    >>> prices = {"w": Fraction(1, 4)}
    >>> weighted_inverse_rate(star, sets, prices, dict.fromkeys("abcd", 1))
    Fraction(3, 1)
    """
    crossed, held_by = _crossed(topology, sets, prices, sizes, set(sizes), inward)
    held = sum((size * held_by[rank] for rank, size in sizes.items()), Fraction(0))
    if not held:
        raise InvalidSchedule("/proof/sets", "must hold data")
    none, total = Fraction(0), Fraction(0)
    for index, weight in sharing.items():
        if weight < 0 or not 0 <= index < len(topology.shared):
            raise InvalidSchedule("/proof/sharing", "must be from 0, of limits of the topology")
        total += weight * topology.shared[index].capacity
        for pair in topology.shared[index].links:
            crossed[pair] -= weight
    for source, target, capacity in topology.links:
        total += capacity * max(none, crossed[source, target])
    return held / total


def pattern_inverse_rate(
    topology: Topology,
    patterns: Mapping[
        frozenset[NodeId],
        tuple[Iterable[tuple[Collection[NodeId], Fraction]], Mapping[NodeId, Fraction]],
    ],
    sizes: Mapping[NodeId, int],
    *,
    inward: bool = False,
) -> Fraction:
    """Return the lower bound on the inverse rate by sets and prices for every pattern of copies.

    The trees that are copied at the switches W alone reach all ranks and all of W, and pass other
    nodes.  In `weighted_inverse_rate` a set then misses a rank or a switch of W, and all other
    nodes may have a price.  With x_W,v the bandwidth of these trees with root v, Y_W(v) the weight
    of the sets of W that hold v, and L(v) the least Y_W(v) over all W,

        x sum w(v) L(v) <= sum over v and W of Y_W(v) x_W,v
                        <= sum over links of c max(0, coefficient for W, over all W).

    Args:
        patterns: For every set of multicast switches: sets with weights, and prices.
        sizes, inward: As for `weighted_inverse_rate`.

    Raises:
        InvalidSchedule: As `weighted_inverse_rate`, or a set of multicast switches has no weights.

    The switch receives every shard once if it copies, and twice if not:

    >>> links = [("a", "w", 1), ("w", "b", 1), ("w", "c", 1), ("b", "a", 3), ("c", "a", 3)]
    >>> lame = Topology("abcw", links, switches="w", multicast="w")
    >>> sets = [(set("abc"), Fraction(1))], {}
    >>> plain = [(set("abcw") - {node}, Fraction(1)) for node in "bc"], {"w": Fraction(1)}
    >>> patterns = {frozenset("w"): sets, frozenset(): plain}
    >>> pattern_inverse_rate(lame, patterns, dict.fromkeys("abc", 1))
    Fraction(3, 1)
    """
    copying = sorted(topology.multicast, key=str)
    if topology.shared or len(patterns) < 1 << len(copying) or set().union(*patterns) - {*copying}:
        raise InvalidSchedule("/proof/patterns", "must hold every set of the multicast switches")
    none = Fraction(0)
    most, least = dict[tuple[NodeId, NodeId], Fraction](), dict[NodeId, Fraction]()
    for pattern, (sets, prices) in patterns.items():
        crossed, held = _crossed(topology, sets, prices, sizes, {*sizes, *pattern}, inward)
        most = {pair: max(most.get(pair, none), one) for pair, one in crossed.items()}
        least = {rank: min(least.get(rank, held[rank]), held[rank]) for rank in sizes}
    total = sum((link.capacity * most[link.source, link.target] for link in topology.links), none)
    data = sum((size * least[rank] for rank, size in sizes.items()), none)
    if not data:
        raise InvalidSchedule("/proof/patterns", "must hold data")
    return data / total


def _crossed(
    topology: Topology,
    sets: Iterable[tuple[Collection[NodeId], Fraction]],
    prices: Mapping[NodeId, Fraction],
    sizes: Mapping[NodeId, int],
    receivers: set[NodeId],
    inward: bool,
) -> tuple[dict[tuple[NodeId, NodeId], Fraction], dict[NodeId, Fraction]]:
    """Return the coefficient of every pair of joined nodes, and the weight that holds each rank."""
    if any(price < 0 or node in receivers for node, price in prices.items()):
        raise InvalidSchedule("/proof/prices", "must be from 0, of nodes that only forward")
    none = Fraction(0)
    held = dict.fromkeys(sizes, none)
    pairs = {(link.source, link.target) for link in topology.links}
    ends = {pair: pair[::-1] if inward else pair for pair in pairs}
    found = {
        pair: prices.get(there, none) - prices.get(here, none)
        for pair, (here, there) in ends.items()
    }
    for inside, weight in sets:
        members = set(inside)
        if weight < 0 or members >= receivers:
            raise InvalidSchedule("/proof/sets", "must miss a rank each, with weights from 0")
        for rank in members & sizes.keys():
            held[rank] += weight
        for pair, (here, there) in ends.items():
            if here in members and there not in members:
                found[pair] += weight
    return found, held
