"""What ids of nodes, switches and links must be, in a topology of any origin."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from synth.errors import InvalidTopology

__all__ = ["Capacity", "NodeId", "positions_of", "require_switches", "row_of"]

NodeId: TypeAlias = int | str
Capacity: TypeAlias = int | Fraction


def positions_of(nodes: tuple[NodeId, ...]) -> dict[NodeId, int]:
    """Return the index of every id; raise InvalidTopology unless they are unique as texts."""
    if not nodes:
        raise InvalidTopology("/nodes", "must not be empty")
    position: dict[NodeId, int] = {}
    texts: set[str] = set()
    for index, node in enumerate(nodes):
        if isinstance(node, bool) or not isinstance(node, int | str):
            raise InvalidTopology(f"/nodes/{index}/id", "must be a string or an integer")
        # 1 and "1" would be one node in every text format.
        if str(node) in texts:
            raise InvalidTopology(f"/nodes/{index}/id", f"must be unique; {node!r} is repeated")
        texts.add(str(node))
        position[node] = index
    return position


def require_switches(
    nodes: tuple[NodeId, ...], switches: frozenset[NodeId], multicast: frozenset[NodeId]
) -> None:
    """Raise InvalidTopology unless switches are nodes, and what copies is a switch."""
    if multicast - switches:
        named = min(map(str, multicast - switches))
        raise InvalidTopology("/nodes", f"only switches may be multicast; {named!r} is none")
    unknown = switches - set(nodes)
    if unknown:
        raise InvalidTopology(
            "/nodes", f"every switch must be a node; {min(map(str, unknown))!r} is not"
        )


def row_of(
    position: dict[NodeId, int], index: int, link: Sequence[Any]
) -> tuple[int, int, Capacity]:
    """Return source and target position and the capacity of the link at ``index``, checked."""
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
    if isinstance(capacity, bool) or not isinstance(capacity, int | Fraction):
        raise InvalidTopology(f"/links/{index}/capacity", "must be an integer or a Fraction")
    if capacity <= 0:
        raise InvalidTopology(f"/links/{index}/capacity", "must be positive")
    exact = Fraction(capacity)
    whole = exact.numerator if exact.denominator == 1 else exact
    return position[source], position[target], whole
