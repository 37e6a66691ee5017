"""Topologies as text that other programs read: GraphML, Graphviz DOT, edge lists."""

import io
from collections.abc import Callable, Mapping
from types import MappingProxyType

import networkx as nx

from synth.topology import Topology

__all__ = ["TEXT_FORMATS", "to_dot", "to_edgelist", "to_graphml"]


def to_graphml(topology: Topology) -> str:
    """Return GraphML: nodes carry ``kind``, links ``capacity``; integers stay exact.

    ``networkx.read_graphml`` and the usual viewers read it.  Where some capacity is no
    integer, all capacities are texts such as ``1/2``.

    >>> ring = Topology("ab", [("a", "b"), ("b", "a")])
    >>> nx.parse_graphml(to_graphml(ring)).number_of_edges()
    2
    """
    graph = nx.MultiDiGraph(name=topology.name, bandwidth_unit=topology.bandwidth_unit)
    for node in topology.nodes:
        graph.add_node(node, kind="switch" if node in topology.switches else "compute")
    # 64-bit integers are what readers of GraphML can hold.
    whole = all(isinstance(link.capacity, int) and link.capacity < 2**63 for link in topology.links)
    for link in topology.links:
        capacity = link.capacity if whole else str(link.capacity)
        graph.add_edge(link.source, link.target, capacity=capacity)
    buffer = io.BytesIO()
    nx.write_graphml_xml(graph, buffer)
    return buffer.getvalue().decode() + "\n"


def to_dot(topology: Topology) -> str:
    r"""Return Graphviz DOT; switches are boxes, capacities other than 1 are labels.

    >>> print(to_dot(Topology(range(2), [(0, 1), (1, 0, 2)], name="pair")), end="")
    digraph "pair" {
      "0";
      "1";
      "0" -> "1";
      "1" -> "0" [label="2"];
    }
    """
    lines = [f"digraph {_quoted(topology.name)} {{"]
    for node in topology.nodes:
        shape = " [shape=box]" if node in topology.switches else ""
        lines.append(f"  {_quoted(node)}{shape};")
    for link in topology.links:
        label = "" if link.capacity == 1 else f' [label="{link.capacity}"]'
        lines.append(f"  {_quoted(link.source)} -> {_quoted(link.target)}{label};")
    return "\n".join([*lines, "}", ""])


def to_edgelist(topology: Topology) -> str:
    r"""Return one line per link: source, target and capacity, separated by tabs.

    >>> to_edgelist(Topology(range(2), [(0, 1), (1, 0, 2)]))
    '0\t1\t1\n1\t0\t2\n'
    """
    return "".join(f"{link.source}\t{link.target}\t{link.capacity}\n" for link in topology.links)


def _quoted(text: object) -> str:
    escaped = str(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


TEXT_FORMATS: Mapping[str, Callable[[Topology], str]] = MappingProxyType(
    {"graphml": to_graphml, "dot": to_dot, "edgelist": to_edgelist}
)
"""Writers by name."""
