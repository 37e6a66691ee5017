"""Graphs as networkx writes them: node-link JSON and GraphML.

Links carry ``capacity`` (or ``bandwidth``), 1 if left out; nodes may carry ``kind``,
``compute`` or ``switch``; the graph may carry ``name`` and ``bandwidth_unit``.  The links
of an undirected graph are links each way.  Without a unit it is ``link`` when every
capacity is 1, else ``GB/s``.
"""

import json
from collections.abc import Callable
from typing import Any

from synth.formats.draft import Draft, capacity, line, wrong
from synth.formats.xml import Element, parse
from synth.topology import Capacity, NodeId, Topology
from synth.topology_document import topology_from_document

__all__ = ["MAX_KEYS", "document", "graphml", "node_link"]

MAX_KEYS = 100


def document(text: str) -> Topology:
    """Return the topology of a topology/1 document."""
    return topology_from_document(_json(text, float))


def node_link(text: str) -> Topology:
    """Return the topology of node-link JSON, with its links under ``edges`` or ``links``.

    >>> node_link('{"directed": false, "nodes": [{"id": "a"}, {"id": "b"}], '
    ...           '"edges": [{"source": "a", "target": "b", "capacity": 12.5}]}').links[0]
    Link(source='a', target='b', capacity=Fraction(25, 2))

    Raises
    ------
    InvalidTopology
        Naming the offending place by JSON pointer and the rule it breaks.
    """
    # Decimals stay as written: no binary fraction comes between.
    graph = _json(text, str)
    if not isinstance(graph, dict):
        raise wrong("", "must be a JSON object with nodes and edges")
    key = "edges" if "edges" in graph else "links"
    draft = Draft()
    for index, node in enumerate(_objects(graph, "nodes")):
        place = f"/nodes/{index}"
        draft.node(_id(node.get("id"), f"{place}/id"), place, switch=_is_switch(node, place))
    for index, link in enumerate(_objects(graph, key)):
        place = f"/{key}/{index}"
        source, target = (_id(link.get(end), f"{place}/{end}") for end in ("source", "target"))
        value = _value(link.get("capacity", link.get("bandwidth", 1)), place + "/capacity")
        draft.link(source, target, value, place)
        if not graph.get("directed", False):
            draft.link(target, source, value, place)
    about = graph.get("graph")
    about = about if isinstance(about, dict) else {}
    return draft.build(
        name=_text(about, "name", ""), unit=_text(about, "bandwidth_unit", draft.unit())
    )


def _json(text: str, decimal: Callable[[str], Any]) -> Any:
    try:
        return json.loads(text, parse_float=decimal)
    except RecursionError:
        raise wrong("", "must not nest so deep") from None
    except json.JSONDecodeError as error:
        raise wrong(line(error.lineno), f"must be JSON: {error.msg}") from None
    except ValueError as error:
        raise wrong("", f"must be JSON: {error}") from None


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


def _is_switch(node: dict[str, Any], place: str) -> bool:
    kind = node.get("kind", "compute")
    if kind not in ("compute", "switch"):
        raise wrong(place + "/kind", 'must be "compute" or "switch"')
    return kind == "switch"


def _value(value: Any, place: str) -> Capacity:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise wrong(place, "must be a positive number")
    if isinstance(value, int) and abs(value) >= 10**30:
        raise wrong(place, "must have at most 30 digits")
    return capacity(str(value), place)


def _text(about: dict[str, Any], key: str, default: str) -> str:
    value = about.get(key, default)
    return value if isinstance(value, str) else default


def graphml(text: str) -> Topology:
    """Return the topology of GraphML; ids are texts.

    >>> graphml('<graphml><key id="d0" for="edge" attr.name="capacity" attr.type="int"/>'
    ...         '<graph edgedefault="directed"><node id="a"/><node id="b"/>'
    ...         '<edge source="a" target="b"><data key="d0">25</data></edge></graph></graphml>'
    ...         ).links
    (Link(source='a', target='b', capacity=25),)

    Raises
    ------
    InvalidTopology
        Naming the line and the rule; hyperedges, ports and nested graphs are refused.
    """
    root = parse(text, "graphml")
    graphs = root.all("graph")
    if len(graphs) != 1:
        raise wrong(root.place, "must hold one graph")
    graph = graphs[0]
    data = _Data(root.all("key"))
    draft = Draft()
    for node in graph.all("node"):
        draft.node(node.get("id"), node.place, switch=_is_switch(data.of(node), node.place))
    for edge in graph.all("edge"):
        _add_edge(draft, edge, data.of(edge), _directed(graph, "edgedefault", True))
    for other in graph.children:
        if other.tag not in ("node", "edge", "data", "desc"):
            raise wrong(other.place, f"must not hold <{other.tag[:50]}>")
    about = data.of(graph)
    return draft.build(name=about.get("name", ""), unit=about.get("bandwidth_unit") or draft.unit())


def _add_edge(draft: Draft, edge: Element, values: dict[str, str], default: bool) -> None:
    value = capacity(values.get("capacity", values.get("bandwidth", "1")), edge.place)
    source, target = edge.get("source"), edge.get("target")
    draft.link(source, target, value, edge.place)
    if not _directed(edge, "directed", default):
        draft.link(target, source, value, edge.place)


_DIRECTED = {"directed": True, "true": True, "undirected": False, "false": False}


def _directed(element: Element, name: str, default: bool) -> bool:
    text = element.attributes.get(name)
    if text is not None and text not in _DIRECTED:
        raise wrong(element.place, f"{name} must say directed or not; {text[:50]!r} does not")
    return default if text is None else _DIRECTED[text]


class _Data:
    """The keys of a GraphML file: what its data mean, and what they are if left out."""

    def __init__(self, keys: list[Element]) -> None:
        if len(keys) > MAX_KEYS:
            raise wrong(keys[MAX_KEYS].place, f"must have at most {MAX_KEYS} keys")
        self._names = {key.get("id"): key.attributes.get("attr.name", "") for key in keys}
        self._defaults: dict[str, dict[str, str]] = {"graph": {}, "node": {}, "edge": {}}
        for key in keys:
            for default in key.all("default"):
                kind = key.attributes.get("for", "all")
                for tag in self._defaults if kind == "all" else {kind} & self._defaults.keys():
                    self._defaults[tag][self._names[key.get("id")]] = default.text.strip()

    def of(self, element: Element) -> dict[str, str]:
        """Return the data of an element by the names of their keys."""
        found = dict(self._defaults[element.tag])
        for child in element.children:
            if child.tag == "data":
                key = child.get("key")
                if key not in self._names:
                    raise wrong(child.place, f"key must be that of a <key>; {key[:50]!r} is not")
                found[self._names[key]] = child.text.strip()
            elif element.tag != "graph" and child.tag != "desc":
                raise wrong(child.place, f"<{element.tag}> must not hold <{child.tag[:50]}>")
        return found
