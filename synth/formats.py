"""Topologies as text: topology/1 JSON, GraphML, Graphviz DOT, edge list.

All keep every link, parallel ones included, and write fractions as ``p/q``.  JSON
keeps everything; GraphML loses only whether an id was a number; DOT is for drawing, and has
the recipe as a comment; an edge list holds links alone: no isolated nodes, no kinds, no
names.
"""

import json
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

import networkx as nx

from synth.errors import InvalidTopology
from synth.topology import Topology

__all__ = ["FORMATS", "dot", "edgelist", "graphml", "to_json"]

# Control characters, halves of surrogate pairs, and what XML 1.0 excludes besides.
_UNWRITABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_BREAKS_COLUMNS = re.compile(r"\s|#|^$")


def to_json(topology: Topology) -> str:
    """Return the topology/1 document, one node or link a line.

    >>> from fractions import Fraction
    >>> print(to_json(Topology(["a", "b"], [("a", "b", Fraction(1, 2))], name="half")))
    {
    "schema": "topology/1",
    "name": "half",
    "bandwidth_unit": "link",
    "nodes": [
    {"id": "a", "kind": "compute"},
    {"id": "b", "kind": "compute"}
    ],
    "links": [
    {"source": "a", "target": "b", "capacity": "1/2"}
    ]
    }
    <BLANKLINE>
    """
    members: list[str] = []
    for key, value in topology.to_document().items():
        text = json.dumps(value)
        if isinstance(value, list) and value:
            text = "[\n" + ",\n".join(json.dumps(entry) for entry in value) + "\n]"
        members.append(f'"{key}": {text}')
    return "{\n" + ",\n".join(members) + "\n}\n"


def graphml(topology: Topology) -> str:
    """Return GraphML as networkx writes it: node ``kind``, link ``capacity``.

    Capacities are typed as integers, or as text if one of them is a fraction.

    Raises
    ------
    InvalidTopology
        An id or a label holds a character that XML cannot.
    """
    _require_writable(topology)
    whole = all(isinstance(capacity, int) for capacity in topology.capacities)
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph(None, None, **topology.labels())
    for node in topology.nodes:
        graph.add_node(str(node), kind="switch" if node in topology.switches else "compute")
    for link in topology.links:
        capacity = link.capacity if whole else str(link.capacity)
        graph.add_edge(str(link.source), str(link.target), capacity=capacity)
    return "\n".join(nx.generate_graphml(graph)) + "\n"


def dot(topology: Topology) -> str:
    r"""Return Graphviz DOT: nodes are numbered, ids and capacities are labels.

    >>> print(dot(Topology(["a", 's"1'], [("a", 's"1', 3)], switches=['s"1'])))
    digraph "" {
      0 [label="a"];
      1 [label="s\"1", shape=box];
      0 -> 1 [label="3"];
    }
    <BLANKLINE>

    Raises
    ------
    InvalidTopology
        An id or a label holds a control character.
    """
    _require_writable(topology)
    labels = topology.labels()
    lines = [f"digraph {_quoted(labels['name'])} {{"]
    if "recipe" in labels:
        lines.append(f"  comment={_quoted(labels['recipe'])};")
    for index, node in enumerate(topology.nodes):
        shape = ", shape=box" if node in topology.switches else ""
        lines.append(f"  {index} [label={_quoted(str(node))}{shape}];")
    ends = zip(topology.sources.tolist(), topology.targets.tolist(), strict=True)
    for (source, target), capacity in zip(ends, topology.capacities, strict=True):
        lines.append(f'  {source} -> {target} [label="{capacity}"];')
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    # In labels a lone backslash starts an escape, so it is doubled.
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def edgelist(topology: Topology) -> str:
    """Return one line ``source target capacity`` per link, as networkx reads it.

    >>> from fractions import Fraction
    >>> print(edgelist(Topology("ab", [("a", "b", Fraction(3, 2)), ("b", "a")])), end="")
    a b 3/2
    b a 1

    Raises
    ------
    InvalidTopology
        An id is empty or holds a blank, ``#`` or a control character.
    """
    _require_writable(topology)
    for index, node in enumerate(topology.nodes):
        if _BREAKS_COLUMNS.search(str(node)):
            raise InvalidTopology(
                f"/nodes/{index}/id", "must not be empty or hold blanks or # in an edge list"
            )
    return "".join(f"{link.source} {link.target} {link.capacity}\n" for link in topology.links)


def _require_writable(topology: Topology) -> None:
    named = [(f"/{label}", text) for label, text in topology.labels().items()]
    named += [(f"/nodes/{index}/id", str(node)) for index, node in enumerate(topology.nodes)]
    for field, text in named:
        if _UNWRITABLE.search(text):
            raise InvalidTopology(field, "must not hold control characters in this format")


FORMATS: Mapping[str, Callable[[Topology], str]] = MappingProxyType(
    {"json": to_json, "graphml": graphml, "dot": dot, "edgelist": edgelist}
)
"""The writers by the name of their format."""
