"""The participants of a collective, and the size of the data of each.

The plain demand is that of an allgather: every compute node takes part, with equal shards.
A *broadcast* is an allgather in which one shard holds all data.  Compute nodes that do not
take part forward data as switches do, without copies.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import gcd

from topoloom.schedules.errors import NoSchedule, TooLarge
from topoloom.synth.errors import Unreachable
from topoloom.synth.topology.topology import NodeId, Topology


@dataclass(frozen=True, slots=True)
class Demand:
    """``ranks`` are the participating compute nodes, in the topology's order.

    ``sizes`` are the relative sizes of their shards, without a common factor.  Data of size 0
    has no root, but its rank receives all other data.
    """

    ranks: tuple[NodeId, ...]
    sizes: tuple[int, ...]

    @property
    def roots(self) -> tuple[NodeId, ...]:
        """The ranks with data."""
        return tuple(rank for rank, size in zip(self.ranks, self.sizes, strict=True) if size)


def demand_of(
    topology: Topology,
    shards: Mapping[NodeId, int] | None = None,
    participants: Iterable[NodeId] | None = None,
    root: NodeId | None = None,
) -> Demand:
    """Return the demand, validated against the topology.

    Args:
        shards: Relative sizes of the shards, integers from 0; absent ranks have size 0.  Default:
            all 1.
        participants: At least two compute nodes; default: all.
        root: Instead of shards: the rank that brings all data.

    Raises:
        InvalidTopology: There are fewer than two compute nodes.
        NoSchedule: A node is unknown, a switch, or duplicate; a size is no nonnegative integer,
            belongs to an idle node, or all sizes are 0; or both a root and shards are given.
        TooLarge: The sizes do not fit 62 bits.

    >>> ring = Topology("abc", [("a", "b"), ("b", "c"), ("c", "a")])
    >>> demand_of(ring, {"a": 20, "c": 10}), demand_of(ring, participants="ca").ranks
    (Demand(ranks=('a', 'b', 'c'), sizes=(2, 0, 1)), ('a', 'c'))
    """
    if len(topology.compute_nodes) < 2:
        topology.require_connected()
    ranks = topology.compute_nodes
    if participants is not None:
        ranks = _chosen(topology, list(participants))
    if root is not None:
        if shards is not None:
            raise NoSchedule("shards", "must not be given together with a root")
        _require_member(topology, set(ranks), root, "root")
        return Demand(ranks, tuple(int(rank == root) for rank in ranks))
    if shards is None:
        return Demand(ranks, (1,) * len(ranks))
    return Demand(ranks, _sizes(topology, ranks, shards))


def _sizes(
    topology: Topology, ranks: tuple[NodeId, ...], shards: Mapping[NodeId, int]
) -> tuple[int, ...]:
    members = set(ranks)
    for node, size in shards.items():
        _require_member(topology, members, node, "shards")
        if type(size) is not int or size < 0:
            raise NoSchedule("shards", f"the size of {node!r} must be an integer from 0: {size!r}")
    sizes = [shards.get(rank, 0) for rank in ranks]
    common = gcd(*sizes)
    if not common:
        raise NoSchedule("shards", "must hold a size above 0")
    if sum(sizes) // common >= 1 << 62:
        raise TooLarge("shards", "the sizes, without a common factor, must add up to below 2**62")
    return tuple(size // common for size in sizes)


def require_paths(topology: Topology, demand: Demand, *, inward: bool = False) -> None:
    """Raise Unreachable unless every root reaches every rank, or with ``inward`` the reverse.

    Two searches suffice: through the first root all roots reach all ranks.

    Raises:
        Unreachable: Names two compute nodes.

    >>> line = Topology("abc", [("a", "b"), ("b", "c")])
    >>> require_paths(line, demand_of(line, {"a": 1}))
    >>> require_paths(line, demand_of(line, {"b": 1}))
    Traceback (most recent call last):
    ...
    topoloom.synth.errors.Unreachable: /links: compute node 'b' must reach 'a'
    """
    if demand.roots == topology.compute_nodes:
        topology.require_connected()
        return
    onward: dict[NodeId, list[NodeId]] = defaultdict(list)
    back: dict[NodeId, list[NodeId]] = defaultdict(list)
    for link in topology.links:
        onward[link.source].append(link.target)
        back[link.target].append(link.source)
    if inward:
        onward, back = back, onward
    first = demand.roots[0]
    far = _reached(onward, first)
    near = _reached(back, first)
    pairs = [(first, rank) for rank in demand.ranks if rank not in far]
    pairs += [(root, first) for root in demand.roots if root not in near]
    for source, target in pairs:
        ends = (target, source) if inward else (source, target)
        raise Unreachable("/links", f"compute node {ends[0]!r} must reach {ends[1]!r}")


def _chosen(topology: Topology, participants: list[NodeId]) -> tuple[NodeId, ...]:
    computes = set(topology.compute_nodes)
    for node in participants:
        _require_member(topology, computes, node, "participants")
    chosen = set(participants)
    if len(chosen) < len(participants):
        raise NoSchedule("participants", "must name each compute node once")
    if len(chosen) < 2:
        raise NoSchedule("participants", "must name at least two compute nodes")
    return tuple(node for node in topology.compute_nodes if node in chosen)


def _require_member(topology: Topology, members: set[NodeId], node: NodeId, field: str) -> None:
    if type(node) not in (int, str) or node not in topology.position:
        raise NoSchedule(field, f"{node!r} is no node of the topology")
    if node in topology.switches:
        raise NoSchedule(field, f"{node!r} is a switch, not a compute node")
    if node not in members:
        raise NoSchedule(field, f"{node!r} takes no part")


def _reached(onward: Mapping[NodeId, list[NodeId]], start: NodeId) -> set[NodeId]:
    found, queue = {start}, [start]
    for node in queue:
        for other in onward.get(node, ()):
            if other not in found:
                found.add(other)
                queue.append(other)
    return found
