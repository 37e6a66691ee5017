"""Degraded topologies: parts lost or slow, with a name that states the changes."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from topoloom.synth.errors import InvalidTopology
from topoloom.synth.naming.short_names import MAX_NAME, shortened
from topoloom.synth.topology.topology import Capacity, Link, NodeId, Shared, Topology

MAX_DIGITS = 30
MOST_PAIRS = 20_000
"""Most pairs of joined nodes for which the loss of each is evaluated."""

Ends = tuple[NodeId, NodeId]


class Changes(NamedTuple):
    """Lost and slow parts, as resolved: ids of the topology, in its order.

    ``slow_links`` are pairs with the remaining share of their capacity.
    """

    without_nodes: tuple[NodeId, ...]
    without_links: tuple[Ends, ...]
    slow_links: tuple[tuple[NodeId, NodeId, Fraction], ...]

    def __str__(self) -> str:
        parts = [f"without {node}" for node in self.without_nodes]
        parts += [f"without {one}-{other}" for one, other in self.without_links]
        parts += [f"{one}-{other} at {factor}" for one, other, factor in self.slow_links]
        return ", ".join(parts)


def degraded(
    topology: Topology,
    *,
    without_nodes: Iterable[NodeId] = (),
    without_links: Iterable[Sequence[NodeId]] = (),
    slow_links: Iterable[tuple[NodeId, NodeId, Capacity]] = (),
) -> Topology:
    """Return the topology without some nodes and links, and with some links slower.

    Args:
        topology: The healthy topology; not modified.
        without_nodes: Hosts or switches that are lost with all their links.
        without_links (iterable of (one, other)): Pairs of nodes that lose all links between them,
            both ways.
        slow_links (iterable of (one, other, factor)): Pairs of nodes whose links, both ways, keep
            this share of their capacity; 0 < factor < 1, exact.

    Returns:
        Named after the healthy topology and the changes; a name of more than 80 characters states
        only their number.  Without a recipe.  Its compute nodes may be disconnected.

    Raises:
        InvalidTopology: A node or a link does not exist or is named twice, a factor is not between
            0 and 1, a capacity would need more than 30 digits, or no node remains.  The field is
            ``/without_nodes/0`` and so on.

    Ids may be given as text, ``"3"`` for 3.  O(nodes + links log links).

    >>> ring = Topology("abc", ["ab", "ba", "bc", "cb", "ca", "ac"], name="ring")
    >>> degraded(ring, without_links=["ab"], slow_links=[("c", "b", Fraction(1, 2))])
    <Topology ring without a-b, b-c at 1/2: 3 compute, 4 links>
    >>> degraded(ring, without_nodes=["d"])
    Traceback (most recent call last):
    ...
    topoloom.synth.errors.InvalidTopology: /without_nodes/0: must be the id of a node; 'd' is not
    """
    changes = resolve(
        topology, without_nodes=without_nodes, without_links=without_links, slow_links=slow_links
    )
    lost = set(changes.without_nodes)
    factors = {frozenset(pair): Fraction(0) for pair in changes.without_links}
    factors |= {frozenset((one, other)): factor for one, other, factor in changes.slow_links}
    nodes = [node for node in topology.nodes if node not in lost]
    links = [
        Link(source, target, capacity * factor)
        for source, target, capacity in topology.links
        if source not in lost
        and target not in lost
        and (factor := factors.get(frozenset((source, target)), 1))
    ]
    _require_short_capacities(changes, links)
    return Topology(
        nodes,
        links,
        switches=topology.switches - lost,
        multicast=topology.multicast - lost,
        shared=_still_shared(topology, links),
        latencies=_still_joined(topology, links),
        name=_name(topology, changes),
        bandwidth_unit=topology.bandwidth_unit,
        assumed=topology.assumed,
    )


def _still_shared(topology: Topology, links: list[Link]) -> list[Shared]:
    """Return the shared limits on the remaining links."""
    left = {link[:2] for link in links}
    kept = [
        Shared(tuple(p for p in limit.links if p in left), limit[1]) for limit in topology.shared
    ]
    return [limit for limit in kept if limit.links]


def _still_joined(topology: Topology, links: list[Link]) -> dict[Ends, Fraction]:
    """Return the latencies of the remaining links."""
    left = {link[:2] for link in links}
    return {pair: latency for pair, latency in topology.latencies.items() if pair in left}


def resolve(
    topology: Topology,
    *,
    without_nodes: Iterable[NodeId] = (),
    without_links: Iterable[Sequence[NodeId]] = (),
    slow_links: Iterable[tuple[NodeId, NodeId, Capacity]] = (),
) -> Changes:
    """Return the changes in normal form: equal changes, in any order, give equal results.

    Parameters and errors as `degraded`.

    >>> resolve(Topology([0, 1], [(0, 1)]), without_links=[("1", "0")])
    Changes(without_nodes=(), without_links=((0, 1),), slow_links=())
    """
    find = _Finder(topology)
    nodes = [find.node(f"/without_nodes/{i}", node) for i, node in enumerate(without_nodes)]
    pairs = [find.pair(f"/without_links/{i}", pair) for i, pair in enumerate(without_links)]
    slow = [
        (*find.pair(f"/slow_links/{i}", (one, other)), _factor(f"/slow_links/{i}", factor))
        for i, (one, other, factor) in enumerate(slow_links)
    ]
    position = topology.position
    return Changes(
        tuple(sorted(nodes, key=position.__getitem__)),
        tuple(sorted(pairs, key=lambda pair: (position[pair[0]], position[pair[1]]))),
        tuple(sorted(slow, key=lambda entry: (position[entry[0]], position[entry[1]]))),
    )


def joined_pairs(topology: Topology) -> int:
    """Return the number of pairs of nodes joined by links.

    >>> joined_pairs(Topology("abc", ["ab", "ba", "bc", "bc"]))
    2
    """
    return len({frozenset(link[:2]) for link in topology.links})


class _Finder:
    """Looks up nodes and joined pairs; raises for repetitions."""

    def __init__(self, topology: Topology) -> None:
        # Ids of a topology differ as text too, so a text identifies one node.
        self._ids: dict[str, NodeId] = {str(node): node for node in topology.nodes}
        self._position = topology.position
        self._joined = {frozenset(link[:2]) for link in topology.links}
        self._seen: set[NodeId | frozenset[NodeId]] = set()

    def _id(self, place: str, given: NodeId) -> NodeId:
        node_id = self._ids.get(str(given))
        if node_id is None:
            raise InvalidTopology(place, f"must be the id of a node; {str(given)[:50]!r} is not")
        return node_id

    def node(self, place: str, given: NodeId) -> NodeId:
        node_id = self._id(place, given)
        self._once(place, node_id)
        return node_id

    def pair(self, place: str, given: Sequence[NodeId]) -> Ends:
        """Return the two ids in the order of the topology."""
        if len(given) != 2:
            raise InvalidTopology(place, "must be a pair of ids")
        one, other = sorted((self._id(place, end) for end in given), key=self._position.__getitem__)
        ends = frozenset((one, other))
        if ends not in self._joined:
            raise InvalidTopology(place, f"must be joined by a link; {one} and {other} are not")
        self._once(place, ends)
        return one, other

    def _once(self, place: str, what: NodeId | frozenset[NodeId]) -> None:
        if what in self._seen:
            raise InvalidTopology(place, "must be named once")
        self._seen.add(what)


def _factor(place: str, factor: Capacity) -> Fraction:
    if not 0 < factor < 1:
        raise InvalidTopology(place, f"must leave a share between 0 and 1; not {factor}")
    return Fraction(factor)


def _require_short_capacities(changes: Changes, links: Iterable[Link]) -> None:
    """Raise if a capacity would need more digits than a topology/1 document allows."""
    slow = {frozenset(ends[:2]): index for index, ends in enumerate(changes.slow_links)}
    for link in links:
        exact = Fraction(link.capacity)
        if max(exact.numerator, exact.denominator) >= 10**MAX_DIGITS:
            place = slow.get(frozenset(link[:2]))
            raise InvalidTopology(
                "/links" if place is None else f"/slow_links/{place}",
                f"must leave a capacity of at most {MAX_DIGITS} digits",
            )


def _name(topology: Topology, changes: Changes) -> str:
    name = f"{topology.name or 'topology'} {changes}".rstrip()
    if len(name) <= MAX_NAME:
        return name
    count = sum(map(len, changes))
    return shortened(f"{topology.name[:50]} with {count} change{'s' if count > 1 else ''}")
