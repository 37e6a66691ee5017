"""Node-link JSON, as networkx and d3 have it.

Links carry ``capacity`` (or ``bandwidth``), 1 if left out; nodes may carry ``kind``,
``compute`` or ``switch``; the graph may carry ``name``, ``recipe`` and ``bandwidth_unit``.
The links of an undirected graph are links each way.
"""

import json
from typing import Any

from topoloom.synth.formats.attributes import PLAIN, Attributes
from topoloom.synth.formats.graph_draft import GraphDraft
from topoloom.synth.formats.topology_draft import wrong
from topoloom.synth.formats.topology_json import parse_json
from topoloom.synth.topology.topology import NodeId, Topology


def node_link(text: str, *, attributes: Attributes = PLAIN) -> Topology:
    """Return the topology of node-link JSON, with its links under ``edges`` or ``links``.

    >>> node_link('{"directed": false, "nodes": [{"id": "a"}, {"id": "b"}], '
    ...           '"edges": [{"source": "a", "target": "b", "capacity": 12.5}]}').links[0]
    Link(source='a', target='b', capacity=Fraction(25, 2))
    """
    # Decimals stay as written: no binary fraction comes between.
    graph = parse_json(text, str)
    if not isinstance(graph, dict):
        raise wrong("", "must be a JSON object with nodes and edges")
    key = "edges" if "edges" in graph else "links"
    draft = GraphDraft(attributes, directed=_directed(graph), default=False, kinds=True)
    for index, node in enumerate(_objects(graph, "nodes")):
        place = f"/nodes/{index}"
        kind_place = place if attributes.kind else f"{place}/kind"
        draft.node(_id(node.get("id"), f"{place}/id"), place, node, kind_place)
    for index, link in enumerate(_objects(graph, key)):
        place = f"/{key}/{index}"
        source, target = (_id(link.get(end), f"{place}/{end}") for end in ("source", "target"))
        capacity_place = place if attributes.capacity else f"{place}/capacity"
        draft.edge(source, target, place, link, capacity_place=capacity_place)
    about = graph.get("graph")
    about = about if isinstance(about, dict) else {}
    return draft.build(about)


def _directed(graph: dict[str, Any]) -> bool | None:
    value = graph.get("directed")
    if value is not None and not isinstance(value, bool):
        raise wrong("/directed", "must be true or false")
    return value


def _objects(graph: dict[str, Any], key: str) -> list[dict[str, Any]]:
    entries = graph.get(key)
    if not isinstance(entries, list):
        raise wrong(f"/{key}", "must be a list")
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise wrong(f"/{key}/{index}", "must be an object")
    return entries


def _id(value: Any, place: str) -> NodeId:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise wrong(place, "must be a string or an integer")
    return value


def to_node_link(topology: Topology) -> str:
    """Return node-link JSON as networkx reads it; fractions are texts.

    >>> print(to_node_link(Topology("ab", [("a", "b", 3)])), end="")
    {"directed": true, "multigraph": true, "graph": {"name": "", "bandwidth_unit": "link"},
    "nodes": [
    {"id": "a", "kind": "compute"},
    {"id": "b", "kind": "compute"}],
    "edges": [
    {"source": "a", "target": "b", "key": 0, "capacity": 3}]}
    """
    nodes = [
        {"id": node, "kind": "switch" if node in topology.switches else "compute"}
        for node in topology.nodes
    ]
    links: list[dict[str, Any]] = []
    for index, link in enumerate(topology.links):
        again = index > 0 and topology.links[index - 1][:2] == link[:2]
        key = links[-1]["key"] + 1 if again else 0
        value = link.capacity if isinstance(link.capacity, int) else str(link.capacity)
        links.append({"source": link.source, "target": link.target, "key": key, "capacity": value})
    return (
        f'{{"directed": true, "multigraph": true, "graph": {json.dumps(topology.labels())},\n'
        f'"nodes": {_lines(nodes)},\n"edges": {_lines(links)}}}\n'
    )


def _lines(entries: list[dict[str, Any]]) -> str:
    return "[\n" + ",\n".join(map(json.dumps, entries)) + "]"
