"""Members of topology/1 documents: nodes, links and shared limits as JSON types."""

from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction
from typing import NotRequired, TypedDict

from topoloom.synth.topology.latencies import Pair, document_latency
from topoloom.synth.topology.validation import Capacity, NodeId, Shared


class NodeRow(TypedDict):
    """A node as in documents."""

    id: NodeId
    kind: str
    multicast: NotRequired[bool]


class LinkRow(TypedDict):
    """A link as in documents; the latency in microseconds."""

    source: NodeId
    target: NodeId
    capacity: int | str
    latency_us: NotRequired[int | str]


class SharedRow(TypedDict):
    """A shared limit as in documents."""

    links: list[list[NodeId]]
    capacity: int | str


def node_members(
    nodes: Iterable[NodeId], switches: Collection[NodeId], multicast: Collection[NodeId]
) -> list[NodeRow]:
    """Return the member ``nodes`` of a document.

    >>> node_members(["a", "s"], ["s"], [])
    [{'id': 'a', 'kind': 'compute'}, {'id': 's', 'kind': 'switch'}]
    """
    rows: list[NodeRow] = []
    for node in nodes:
        rows.append({"id": node, "kind": "switch" if node in switches else "compute"})
        if node in multicast:
            rows[-1]["multicast"] = True
    return rows


def link_members(
    links: Iterable[tuple[NodeId, NodeId, Capacity]], latencies: Mapping[Pair, Fraction]
) -> list[LinkRow]:
    """Return the member ``links`` of a document.

    >>> link_members([("a", "b", 1)], {("a", "b"): Fraction(1, 10**6)})
    [{'source': 'a', 'target': 'b', 'capacity': 1, 'latency_us': 1}]
    """
    # A call of `document_capacity` for each link would take 8 % of the time of a digest.
    rows: list[LinkRow] = [
        {
            "source": source,
            "target": target,
            "capacity": capacity if isinstance(capacity, int) else str(capacity),
        }
        for source, target, capacity in links
    ]
    for row in rows if latencies else ():
        row["latency_us"] = document_latency(latencies[row["source"], row["target"]])
    return rows


def document_capacity(capacity: Capacity) -> int | str:
    """Return a capacity as in documents.

    >>> document_capacity(3), document_capacity(Fraction(1, 2))
    (3, '1/2')
    """
    return capacity if isinstance(capacity, int) else str(capacity)


def shared_members(shared: tuple[Shared, ...]) -> dict[str, list[SharedRow]]:
    """Return the member ``shared`` of a document; empty without limits."""
    rows: list[SharedRow] = [
        {"links": [list(pair) for pair in one.links], "capacity": document_capacity(one.capacity)}
        for one in shared
    ]
    return {"shared": rows} if rows else {}
