"""GraphML, as networkx, yEd and others write it.

Links carry ``capacity`` (or ``bandwidth``), 1 if left out; nodes may carry ``kind``,
``compute`` or ``switch``; the graph may carry ``name``, ``recipe`` and ``bandwidth_unit``.
The links of an undirected graph are links each way.
"""

import networkx as nx

from topoloom.synth.formats.attributes import PLAIN, Attributes
from topoloom.synth.formats.graph_draft import GraphDraft
from topoloom.synth.formats.safe_xml import Element, parse
from topoloom.synth.formats.topology_draft import wrong
from topoloom.synth.formats.writer_checks import require_writable
from topoloom.synth.topology.topology import Topology

MAX_KEYS = 100


def graphml(text: str, *, attributes: Attributes = PLAIN) -> Topology:
    """Return the topology of GraphML; ids are texts.

    >>> graphml('<graphml><key id="d0" for="edge" attr.name="capacity" attr.type="int"/>'
    ...         '<graph edgedefault="directed"><node id="a"/><node id="b"/>'
    ...         '<edge source="a" target="b"><data key="d0">25</data></edge></graph></graphml>'
    ...         ).links
    (Link(source='a', target='b', capacity=25),)

    Raises:
        InvalidTopology: Naming the line and the rule; hyperedges, ports and nested graphs are
            refused.
    """
    root = parse(text, "graphml")
    graphs = root.all("graph")
    if len(graphs) != 1:
        raise wrong(root.place, "must hold one graph")
    graph = graphs[0]
    data = _Data(root.all("key"))
    directed = _directed(graph, "edgedefault")
    draft = GraphDraft(attributes, directed=directed, default=True, kinds=True)
    for node in graph.all("node"):
        draft.node(node.get("id"), node.place, data.of(node))
    for edge in graph.all("edge"):
        source, target = edge.get("source"), edge.get("target")
        own = _directed(edge, "directed")
        draft.edge(source, target, edge.place, data.of(edge), directed=own)
    for other in graph.children:
        if other.tag not in ("node", "edge", "data", "desc"):
            raise wrong(other.place, f"must not hold <{other.tag[:50]}>")
    about = data.of(graph)
    return draft.build(about)


_DIRECTED = {"directed": True, "true": True, "undirected": False, "false": False}


def _directed(element: Element, name: str) -> bool | None:
    text = element.attributes.get(name)
    if text is not None and text not in _DIRECTED:
        raise wrong(element.place, f"{name} must say directed or not; {text[:50]!r} does not")
    return None if text is None else _DIRECTED[text]


class _Data:
    """The keys of a GraphML file: names, types and defaults of its data."""

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


def to_graphml(topology: Topology) -> str:
    """Return GraphML as networkx writes it: node ``kind``, link ``capacity``.

    Capacities are typed as integers, or as text if one of them is a fraction.

    Raises:
        InvalidTopology: An id or a label holds a character that XML cannot.
    """
    require_writable(topology)
    whole = all(isinstance(capacity, int) for capacity in topology.capacities)
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph(None, None, **topology.labels())
    for node in topology.nodes:
        graph.add_node(str(node), kind="switch" if node in topology.switches else "compute")
    for link in topology.links:
        capacity = link.capacity if whole else str(link.capacity)
        graph.add_edge(str(link.source), str(link.target), capacity=capacity)
    return "\n".join(nx.generate_graphml(graph)) + "\n"
