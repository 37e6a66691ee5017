"""Validation of node ids, switches and links of a topology."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from topoloom.synth.errors import InvalidTopology

NodeId: TypeAlias = int | str
Capacity: TypeAlias = int | Fraction


class Shared(NamedTuple):
    """A limit on the total traffic over several links.

    ``links`` are ordered pairs (source, target), each with all parallel links of the pair.
    """

    links: tuple[tuple[NodeId, NodeId], ...]
    capacity: Capacity


def node_positions(nodes: tuple[NodeId, ...]) -> dict[NodeId, int]:
    """Return the index of every id; raise InvalidTopology unless ids are unique as text."""
    if not nodes:
        raise InvalidTopology("/nodes", "must not be empty")
    position: dict[NodeId, int] = {}
    texts: set[str] = set()
    for index, node in enumerate(nodes):
        if isinstance(node, bool) or not isinstance(node, int | str):
            raise InvalidTopology(f"/nodes/{index}/id", "must be a string or an integer")
        # 1 and "1" would be the same node in text formats.
        if str(node) in texts:
            raise InvalidTopology(f"/nodes/{index}/id", f"must be unique; {node!r} is repeated")
        texts.add(str(node))
        position[node] = index
    return position


def require_switches(
    nodes: tuple[NodeId, ...], switches: frozenset[NodeId], multicast: frozenset[NodeId]
) -> None:
    """Raise InvalidTopology unless switches are nodes and multicast nodes are switches."""
    if multicast - switches:
        named = min(map(str, multicast - switches))
        raise InvalidTopology("/nodes", f"only switches may be multicast; {named!r} is none")
    unknown = switches - set(nodes)
    if unknown:
        raise InvalidTopology(
            "/nodes", f"every switch must be a node; {min(map(str, unknown))!r} is not"
        )


def link_row(
    position: dict[NodeId, int], index: int, link: Sequence[Any]
) -> tuple[int, int, Capacity]:
    """Return source position, target position and capacity of the link at ``index``, validated."""
    source, target = link[0], link[1]
    capacity: Any = link[2] if len(link) > 2 else 1
    for end, node in (("source", source), ("target", target)):
        if isinstance(node, bool) or not isinstance(node, int | str) or node not in position:
            raise InvalidTopology(
                f"/links/{index}/{end}", f"must be the id of a node; {node!r} is not"
            )
    if source == target:
        raise InvalidTopology(
            f"/links/{index}", f"must join two different nodes; both are {source!r}"
        )
    return position[source], position[target], _whole(f"/links/{index}/capacity", capacity)


def shared_limits(
    position: dict[NodeId, int], pairs: set[tuple[int, int]], shared: Iterable[Any]
) -> tuple[Shared, ...]:
    """Return the limits validated, in the order of the nodes, without duplicates.

    ``pairs`` are the positions joined by links.
    """
    found: dict[Shared, None] = {}
    for index, (links, capacity) in enumerate(shared):
        ends = [tuple(link[:2]) for link in links]
        if not ends or len(set(ends)) < len(ends):
            raise InvalidTopology(f"/shared/{index}/links", "must hold links, each once")
        for place, (source, target) in enumerate(ends):
            if (position.get(source), position.get(target)) not in pairs:
                raise InvalidTopology(
                    f"/shared/{index}/links/{place}",
                    f"must be joined by a link; {source!r} and {target!r} are not",
                )
        ends.sort(key=lambda pair: (position[pair[0]], position[pair[1]]))
        whole = _whole(f"/shared/{index}/capacity", capacity)
        found[Shared(tuple((source, target) for source, target in ends), whole)] = None
    order = sorted(found, key=lambda one: ([_places(position, pair) for pair in one.links], one[1]))
    return tuple(order)


def _places(position: dict[NodeId, int], pair: tuple[NodeId, NodeId]) -> tuple[int, int]:
    return position[pair[0]], position[pair[1]]


def _whole(place: str, capacity: Any) -> Capacity:
    """Return a capacity in lowest terms, as an integer if whole."""
    if isinstance(capacity, bool) or not isinstance(capacity, int | Fraction):
        raise InvalidTopology(place, "must be an integer or a Fraction")
    if capacity <= 0:
        raise InvalidTopology(place, "must be positive")
    exact = Fraction(capacity)
    return exact.numerator if exact.denominator == 1 else exact
