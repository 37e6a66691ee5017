"""What one cut of a topology proves of every schedule, derived from its links alone."""

from collections.abc import Collection, Mapping
from fractions import Fraction

from schedules.errors import InvalidSchedule
from synth.topology import NodeId, Topology

__all__ = ["cut_inverse_rate"]


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
