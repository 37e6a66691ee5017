"""An allreduce whose two passes run at once, each on its share of every link.

`allreduce_rate` finds the shares of the roots and divides the links.  This module packs each pass
on its own part of the fabric, with the roots' shards.  The reduce pass is the time reversal of a
broadcast on the transposed topology.

Capacity that neither pass uses may be divided evenly between them, as room for lower trees.  The
lower of the forests with and without that room is kept.  Large fabrics with a fault are packed by
images of a few trees where these exist close to the optimum.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from topoloom.schedules.errors import NoSchedule, TookTooLong, TooLarge
from topoloom.schedules.model.schedule import TreeSchedule, tree_height
from topoloom.schedules.trees import limits
from topoloom.schedules.trees.flow.demand import demand_of
from topoloom.schedules.trees.flow.network import network_of
from topoloom.schedules.trees.forestcoll import (
    allgather,
    allgather_by_images,
    allgather_within,
    optimum,
)
from topoloom.schedules.trees.multicast import spliced_tree, without_repeated_sends
from topoloom.schedules.trees.rates.allreduce_rate import AllreduceBound, allreduce_bound
from topoloom.schedules.trees.symmetry.canonical_order import canonical_order
from topoloom.synth.topology.topology import Link, NodeId, Topology


def passes_together(
    topology: Topology, participants: Iterable[NodeId] | None = None
) -> tuple[TreeSchedule, TreeSchedule] | None:
    """Return two allgathers that fit the links at once, or None if a sequence is best.

    Args:
        topology, participants: As for `allreduce_bound`.

    Returns:
        An allgather on the transposed topology, whose reverse is the reduce-scatter, and an
        allgather on the topology, with the same shards.

    Raises:
        InvalidTopology, Unreachable, NoSchedule, TooLarge, TookTooLong: As `allreduce_bound` and
            `allgather`.
        TooLarge: Above `limits.MAX_PACKED_RANKS` ranks no images are found, and packing takes more
            than `limits.MAX_JOINT_WORK`.

    >>> star = [(leaf, "hub") for leaf in "abc"] + [("hub", leaf) for leaf in "abc"]
    >>> adding, spreading = passes_together(Topology(["hub", *"abc"], star))
    >>> {tree.root: set(tree.edges) for tree in spreading.trees}["a"] == {
    ...     ("a", "hub"), ("hub", "b"), ("hub", "c")}
    True
    """
    members = None if participants is None else list(participants)
    given = topology
    topology, bound = bound_in_canonical_order(topology, None if members is None else (*members,))
    if bound.division is None:
        return None
    ways = (_few_trees,)
    if len(bound.division.receivers) > limits.MAX_PACKED_RANKS:
        ways = (_images, _few_trees)
    for way in ways:
        both = _both(topology, bound, members, given, way)
        if both is not None:
            return both
    return None


def bound_in_canonical_order(
    topology: Topology, members: tuple[NodeId, ...] | None
) -> tuple[Topology, AllreduceBound]:
    """Return the topology in an order that depends on its structure alone, and its bound.

    Generating a schedule and checking its rate ask for the same bound, which takes seconds for
    1,024 ranks, or fails after minutes.
    """
    ordered, found = _ordered(topology, members)
    if isinstance(found, Exception):
        raise found
    return ordered, found


@lru_cache(maxsize=2)
def _ordered(
    topology: Topology, members: tuple[NodeId, ...] | None
) -> tuple[Topology, AllreduceBound | TooLarge | TookTooLong]:
    ordered = _in_canonical_order(topology, members)
    try:
        return ordered, allreduce_bound(ordered, members)
    except (TooLarge, TookTooLong) as error:
        return ordered, error


_Way = Callable[[Topology, Fraction, dict[NodeId, int] | None, list[NodeId]], TreeSchedule | None]


def _both(
    topology: Topology,
    bound: AllreduceBound,
    members: list[NodeId] | None,
    whole: Topology,
    way: _Way,
) -> tuple[TreeSchedule, TreeSchedule] | None:
    """Return the trees of both passes; None if one has none in this way."""
    division = bound.division
    assert division is not None
    room: tuple[bool, ...] = (way is _images,)
    if way is _few_trees and len(division.receivers) <= limits.MAX_PACKED_RANKS:
        room = False, True
    if topology.shared:
        room = (False,)
    adding, spreading = (
        [_part(topology, bound, members, inward=inward, spare=spare) for spare in room]
        for inward in (True, False)
    )
    turned = whole.transpose()
    second = _lowest(spreading, bound, whole, members, way)
    if second is None or adding == spreading:
        return second and (replace(second, topology=turned.digest), second)
    first = _lowest(adding, bound, turned, members, way)
    return first and (first, second)


def _lowest(
    parts: Sequence[Topology],
    bound: AllreduceBound,
    whole: Topology,
    members: list[NodeId] | None,
    way: _Way,
) -> TreeSchedule | None:
    """Return the lowest of the forests packed on each part; None if the first part has none.

    Later parts have more room.  Their forests count only if these are exact and have few trees.
    """
    best = _packed(parts[0], bound, whole, members, way)
    for part in parts[1:] if best else ():
        try:
            other = _packed(part, bound, whole, members, way)
        except (NoSchedule, TooLarge, TookTooLong):
            # A switch sends more than it receives there, and would have to copy.
            continue
        best = min((one for one in (best, other) if one), key=_many_and_high)
    return best


def _many_and_high(forest: TreeSchedule) -> tuple[bool, int, int]:
    """Return whether a forest has very many trees, its height, and its number of trees."""
    many, height = forest.trees_per_root, max(map(tree_height, forest.trees))
    return many > limits.MANY_TREES, height, many


def _in_canonical_order(topology: Topology, members: tuple[NodeId, ...] | None) -> Topology:
    """Return the topology with its nodes in an order that does not depend on the given order.

    The shares of the links, and so the trees, depend on the order of nodes.
    """
    network = network_of(topology, demand_of(topology, participants=members))
    copies = [node in topology.multicast for node in topology.nodes]
    order = canonical_order(network, list(zip(network.kinds, copies, strict=True)))
    return Topology(
        [topology.nodes[index] for index in order.tolist()],
        topology.links,
        switches=topology.switches,
        multicast=topology.multicast,
        shared=topology.shared,
        bandwidth_unit=topology.bandwidth_unit,
    )


def _part(
    topology: Topology,
    bound: AllreduceBound,
    members: list[NodeId] | None,
    *,
    inward: bool,
    spare: bool,
) -> Topology:
    """Return the part of the topology of one pass, transposed for the reduce pass.

    Switches that receive a copy of all data are compute nodes here.  With ``spare`` each pass has
    half of what neither uses of a link.
    """
    division = bound.division
    assert division is not None
    network = network_of(topology, demand_of(topology, participants=members))
    names = topology.nodes
    links = []
    ends = zip(network.tail.tolist(), network.head.tolist(), strict=True)
    unused = [Fraction(0)] * len(network.tail)
    if spare:
        used = map(sum, zip(*division.capacities, strict=True))
        unused = [most - one for most, one in zip(network.capacity.tolist(), used, strict=True)]
    shares = zip(division.capacities[inward], unused, strict=True)
    for (tail, head), (own, rest) in zip(ends, shares, strict=True):
        if share := own + rest / 2:
            pair = (names[head], names[tail]) if inward else (names[tail], names[head])
            capacity = share * network.unit
            whole = capacity.numerator if capacity.denominator == 1 else capacity
            links.append(Link(*pair, whole))
    receivers = {names[node] for node in division.receivers}
    return Topology(
        names,
        links,
        switches=topology.switches - receivers,
        bandwidth_unit=topology.bandwidth_unit,
    )


def _packed(
    part: Topology,
    bound: AllreduceBound,
    whole: Topology,
    members: list[NodeId] | None,
    way: _Way,
) -> TreeSchedule | None:
    """Return an allgather of the whole topology, packed on a part of it; None if none is found."""
    division = bound.division
    assert division is not None
    demand = demand_of(whole, participants=members)
    names = part.nodes
    copying = [names[node] for node in division.receivers if names[node] in whole.switches]
    taking_part = [*demand.ranks, *copying]
    sizes = {rank: division.sizes[part.position[rank]] for rank in demand.ranks}
    equal = set(sizes.values()) == {1}
    inverse_rate = sum(sizes.values()) / bound.feasible
    forest = way(part, inverse_rate, None if equal and not copying else sizes, taking_part)
    if forest is None:
        return None
    ranks = set(demand.ranks)
    plain = replace(
        forest,
        topology=whole.digest,
        ranks=demand.ranks,
        trees=tuple(spliced_tree(tree, copying) for tree in forest.trees)
        if copying
        else forest.trees,
        shards=() if equal else tuple(sizes.values()),
        idle=tuple(node for node in whole.compute_nodes if node not in ranks),
    )
    return without_repeated_sends(plain, whole)


def _images(
    part: Topology,
    inverse_rate: Fraction,
    sizes: dict[NodeId, int] | None,
    taking_part: list[NodeId],
) -> TreeSchedule | None:
    """Return images of a few trees within `limits.MANY_TREES_GAP`, or None."""
    return None if sizes else allgather_by_images(part, limits.MANY_TREES_GAP, taking_part)


def _few_trees(
    part: Topology,
    inverse_rate: Fraction,
    sizes: dict[NodeId, int] | None,
    taking_part: list[NodeId],
) -> TreeSchedule:
    """Return the trees of a pass; those within `limits.MANY_TREES_GAP` if the exact are too many.

    The share of a link is an exact fraction, and may have a large denominator.
    """
    count = optimum(part, shards=sizes, participants=taking_part).trees_per_root
    work = len(taking_part) ** 2 * len(part.links) * count
    if len(taking_part) > limits.MAX_PACKED_RANKS and work > limits.MAX_JOINT_WORK:
        raise TooLarge("/topology", "packing trees of both passes would take many minutes")
    if count > limits.MANY_TREES:
        time = inverse_rate * (1 + limits.MANY_TREES_GAP)
        few = allgather_within(
            part, time, limits.MANY_TREES, shards=sizes, participants=taking_part
        )
        if few is not None:
            return few
    return allgather(part, shards=sizes, participants=taking_part)
