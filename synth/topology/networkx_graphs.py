"""Conversion between topologies and networkx graphs, with attributes of any name."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import networkx as nx

from topoloom.synth.errors import InvalidTopology
from topoloom.synth.topology.rates import unit_name
from topoloom.synth.topology.topology import Capacity, NodeId, Topology

COMPUTE, SWITCH = "compute", "switch"


def from_networkx(
    graph: "nx.Graph[Any]",
    *,
    capacity: str = "capacity",
    kind: str = "kind",
    name: str | None = None,
    bandwidth_unit: str | None = None,
) -> Topology:
    """Return the topology of a networkx graph of any of its four classes.

    Args:
        graph: Nodes are integers or texts, in rank order.  Edges of an undirected graph become
            two-way links.
        capacity: Attribute with the capacity of an edge, a positive integer, Fraction, or text
            ``"p/q"``; 1 if missing.  A float must be a whole number, as other floats denote no
            exact fraction.
        kind: Attribute of nodes with ``"compute"`` or ``"switch"``; ``"compute"`` if missing.
        name, bandwidth_unit: Default to those of the graph, else ``""`` and ``"link"``.

    Raises:
        InvalidTopology: Names the node or edge and the rule.

    >>> from_networkx(nx.cycle_graph(3)).link_count
    6
    >>> graph = nx.DiGraph([("a", "s"), ("s", "b"), ("b", "a")])
    >>> graph.nodes["s"]["role"] = "switch"
    >>> sorted(from_networkx(graph, kind="role").switches)
    ['s']
    """
    switches = []
    for node, data in graph.nodes(data=True):
        if type(node) not in (int, str):
            raise InvalidTopology("/nodes", f"must be integers or texts, not {node!r}")
        role = data.get(kind, COMPUTE)
        if role not in (COMPUTE, SWITCH):
            rule = f"{kind} of node {node!r} must be {COMPUTE} or {SWITCH}, not {role!r}"
            raise InvalidTopology("/nodes", rule)
        if role == SWITCH:
            switches.append(node)
    attributes = graph.graph
    return Topology(
        graph.nodes,
        _links(graph, capacity),
        switches=switches,
        name=str(attributes.get("name", "")) if name is None else name,
        bandwidth_unit=unit_name(
            str(attributes.get("bandwidth_unit", "link"))
            if bandwidth_unit is None
            else bandwidth_unit
        ),
    )


def to_networkx(
    topology: Topology, *, capacity: str = "capacity", kind: str = "kind"
) -> "nx.MultiDiGraph[NodeId]":
    """Return a networkx multigraph; `from_networkx` with the same attributes inverts this.

    The graph does not state which switches are ``multicast``.

    >>> ring = Topology(range(3), [(0, 1, 2), (1, 2, 2), (2, 0, 2)], name="ring")
    >>> [gbps for *_, gbps in to_networkx(ring, capacity="gbps").edges(data="gbps")]
    [2, 2, 2]
    >>> from_networkx(to_networkx(ring)) == ring
    True
    """
    graph = topology.to_networkx()
    for data, key, attribute in (
        *((data, "kind", kind) for _, data in graph.nodes(data=True)),
        *((data, "capacity", capacity) for *_, data in graph.edges(data=True)),
    ):
        data[attribute] = data.pop(key)
    return graph


def _links(graph: "nx.Graph[Any]", key: str) -> Iterator[tuple[NodeId, NodeId, Capacity]]:
    for source, target, data in graph.edges(data=True):
        value = _capacity(data.get(key, 1), f"{key} of edge {source!r} - {target!r}")
        yield source, target, value
        if not graph.is_directed():
            yield target, source, value


def _capacity(value: Any, what: str) -> Capacity:
    wrong = InvalidTopology("/links", f"{what} must be a positive exact number, not {value!r}")
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction | str):
        raise wrong
    if isinstance(value, float) and not value.is_integer():
        raise wrong
    try:
        exact = Fraction(value)
    except (ValueError, ZeroDivisionError):
        raise wrong from None
    if exact <= 0:
        raise wrong
    return exact.numerator if exact.denominator == 1 else exact
