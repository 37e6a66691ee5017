"""An allreduce whose two passes run at once, each on its share of every link.

`allreduce_rate` finds the shares of the roots and divides the links.  This module packs each pass
on its own part of the fabric, with the roots' shards.  The reduce pass is the time reversal of a
broadcast on the transposed topology.
"""

from collections.abc import Iterable
from dataclasses import replace

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import TreeSchedule
from topoloom.schedules.trees import limits
from topoloom.schedules.trees.flow.demand import demand_of
from topoloom.schedules.trees.flow.network import network_of
from topoloom.schedules.trees.forestcoll import allgather
from topoloom.schedules.trees.linear_program.link_division import Division
from topoloom.schedules.trees.multicast import spliced_tree, without_repeated_sends
from topoloom.schedules.trees.rates.allreduce_rate import AllreduceBound, allreduce_bound
from topoloom.schedules.trees.symmetry.canonical_order import canonical_order
from topoloom.synth.topology.topology import Link, NodeId, Topology


def passes_together(
    topology: Topology, participants: Iterable[NodeId] | None = None
) -> tuple[TreeSchedule, TreeSchedule] | None:
    """Return two allgathers that fit the links at once, or None if a sequence is best.

    Parameters
    ----------
    topology, participants
        As for `allreduce_bound`.

    Returns
    -------
    tuple of TreeSchedule, or None
        An allgather on the transposed topology, whose reverse is the reduce-scatter, and an
        allgather on the topology, with the same shards.

    Raises
    ------
    InvalidTopology, Unreachable, NoSchedule, TooLarge, TookTooLong
        As `allreduce_bound` and `allgather`.

    Examples
    --------
    >>> star = [(leaf, "hub") for leaf in "abc"] + [("hub", leaf) for leaf in "abc"]
    >>> adding, spreading = passes_together(Topology(["hub", *"abc"], star))
    >>> {tree.root: set(tree.edges) for tree in spreading.trees}["a"] == {
    ...     ("a", "hub"), ("hub", "b"), ("hub", "c")}
    True
    """
    members = None if participants is None else list(participants)
    given, topology = topology, _in_canonical_order(topology, members)
    bound = allreduce_bound(topology, members)
    if bound.division is None:
        return None
    spreading = _part(topology, bound, members, inward=False)
    adding = _part(topology, bound, members, inward=True)
    whole = [given.transpose(), given]
    if adding == spreading:
        forest = _packed(spreading, bound.division, whole[1], members)
        return replace(forest, topology=whole[0].digest), forest
    return (
        _packed(adding, bound.division, whole[0], members),
        _packed(spreading, bound.division, whole[1], members),
    )


def _in_canonical_order(topology: Topology, members: list[NodeId] | None) -> Topology:
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
    topology: Topology, bound: AllreduceBound, members: list[NodeId] | None, *, inward: bool
) -> Topology:
    """Return the part of the topology of one pass, transposed for the reduce pass.

    Switches that receive a copy of all data are compute nodes here.
    """
    division = bound.division
    assert division is not None
    network = network_of(topology, demand_of(topology, participants=members))
    names = topology.nodes
    links = []
    ends = zip(network.tail.tolist(), network.head.tolist(), strict=True)
    for (tail, head), share in zip(ends, division.capacities[inward], strict=True):
        if share:
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
    part: Topology, division: Division, whole: Topology, members: list[NodeId] | None
) -> TreeSchedule:
    """Return an allgather of the whole topology, packed on a part of it."""
    demand = demand_of(whole, participants=members)
    names = part.nodes
    copying = [names[node] for node in division.receivers if names[node] in whole.switches]
    taking_part = [*demand.ranks, *copying]
    sizes = {rank: division.sizes[part.position[rank]] for rank in demand.ranks}
    equal = set(sizes.values()) == {1}
    forest = _few_trees(part, None if equal and not copying else sizes, taking_part)
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


def _few_trees(
    part: Topology, sizes: dict[NodeId, int] | None, taking_part: list[NodeId]
) -> TreeSchedule:
    """Return the trees of a pass; those within `limits.MANY_TREES_GAP` if the exact are too many.

    The share of a link is an exact fraction, and may have a large denominator.
    """
    forest = allgather(part, shards=sizes, participants=taking_part)
    if forest.trees_per_root <= limits.MANY_TREES:
        return forest
    try:
        fewer = allgather(
            part, max_gap=limits.MANY_TREES_GAP, shards=sizes, participants=taking_part
        )
    except NoSchedule:
        # A switch would have to copy.
        return forest
    return min(forest, fewer, key=lambda one: one.trees_per_root)
