"""GEXF, the format of Gephi.

Links carry ``capacity`` (or ``bandwidth``), 1 if left out; nodes may carry ``kind``,
``compute`` or ``switch``; the graph may carry ``name`` and ``bandwidth_unit``.  An edge's own
``weight`` is an attribute of that name.  The links of an undirected graph are links each way.
"""

from xml.sax.saxutils import quoteattr

from topoloom.synth.formats.attributes import PLAIN, Attributes
from topoloom.synth.formats.graph_draft import GraphDraft
from topoloom.synth.formats.safe_xml import Element, parse
from topoloom.synth.formats.topology_draft import wrong
from topoloom.synth.formats.writer_checks import require_writable
from topoloom.synth.topology.topology import Topology

MAX_ATTRIBUTES = 100

_TYPES = {"directed": True, "undirected": False, "mutual": False}


def gexf(text: str, *, attributes: Attributes = PLAIN) -> Topology:
    """Return the topology of GEXF; ids are texts.

    >>> gexf('<gexf><graph defaultedgetype="directed">'
    ...      '<attributes class="edge"><attribute id="0" title="capacity"/></attributes>'
    ...      '<nodes><node id="a"/><node id="b"/></nodes><edges><edge source="a" target="b">'
    ...      '<attvalues><attvalue for="0" value="25"/></attvalues></edge></edges></graph></gexf>'
    ...      ).links
    (Link(source='a', target='b', capacity=25),)

    Raises:
        InvalidTopology: Naming the line and the rule; nodes within nodes are refused.
    """
    root = parse(text, "gexf")
    graphs = root.all("graph")
    if len(graphs) != 1:
        raise wrong(root.place, "must hold one graph")
    graph = graphs[0]
    data = {kind: _Titles(graph, kind) for kind in ("node", "edge")}
    directed = _directed(graph, "defaultedgetype")
    draft = GraphDraft(attributes, directed=directed, default=False, kinds=True)
    for node in _children(graph, "nodes", "node"):
        draft.node(node.get("id"), node.place, data["node"].values(node))
    for edge in _children(graph, "edges", "edge"):
        values = data["edge"].values(edge)
        if "weight" in edge.attributes:
            values.setdefault("weight", edge.attributes["weight"])
        source, target = edge.get("source"), edge.get("target")
        draft.edge(source, target, edge.place, values, directed=_directed(edge, "type"))
    return draft.build(graph.attributes)


def _children(graph: Element, group: str, tag: str) -> list[Element]:
    found = [child for part in graph.all(group) for child in part.children]
    for child in found:
        if child.tag != tag:
            raise wrong(child.place, f"<{group}> must not hold <{child.tag[:50]}>")
        if child.all("nodes", "edges"):
            raise wrong(child.place, f"<{tag}> must hold no graph of its own")
    return found


def _directed(element: Element, name: str) -> bool | None:
    text = element.attributes.get(name)
    if text is not None and text not in _TYPES:
        raise wrong(element.place, f"{name} must say directed or not; {text[:50]!r} does not")
    return None if text is None else _TYPES[text]


class _Titles:
    """The attributes that a file declares for nodes or for edges, and their defaults."""

    def __init__(self, graph: Element, kind: str) -> None:
        self._titles: dict[str, str] = {}
        self._defaults: dict[str, str] = {}
        for group in graph.all("attributes"):
            if group.attributes.get("class") != kind:
                continue
            for attribute in group.all("attribute"):
                self._declare(attribute)

    def _declare(self, attribute: Element) -> None:
        if len(self._titles) >= MAX_ATTRIBUTES:
            raise wrong(attribute.place, f"must declare at most {MAX_ATTRIBUTES} attributes")
        title = attribute.get("title")
        self._titles[attribute.get("id")] = title
        for default in attribute.all("default"):
            self._defaults[title] = default.text.strip()

    def values(self, element: Element) -> dict[str, str]:
        """Return the data of a node or an edge by their titles."""
        found = dict(self._defaults)
        for group in element.all("attvalues"):
            for value in group.all("attvalue"):
                key = value.attributes.get("for", value.attributes.get("id", ""))
                if key not in self._titles:
                    raise wrong(value.place, f"for must be a declared attribute; not {key[:50]!r}")
                found[self._titles[key]] = value.get("value")
        return found


_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2">
<graph defaultedgetype="directed" mode="static" {}>
<attributes class="node"><attribute id="0" title="kind" type="string"/></attributes>
<attributes class="edge"><attribute id="1" title="capacity" type="{}"/></attributes>"""


def to_gexf(topology: Topology) -> str:
    """Return GEXF as networkx and Gephi read it: node ``kind``, link ``capacity``.

    Capacities are typed as long integers, or as text if one of them is a fraction.

    Raises:
        InvalidTopology: An id or a label holds a control character.

    >>> gexf(to_gexf(Topology("ab", [("a", "b", 3)], switches="b"))).links
    (Link(source='a', target='b', capacity=3),)
    """
    require_writable(topology)
    whole = all(isinstance(capacity, int) for capacity in topology.capacities)
    about = " ".join(f"{label}={quoteattr(text)}" for label, text in topology.labels().items())
    lines = [_HEAD.format(about, "long" if whole else "string"), "<nodes>"]
    for node in topology.nodes:
        kind = "switch" if node in topology.switches else "compute"
        id = quoteattr(str(node))
        lines.append(f"<node id={id} label={id}>{_values(0, kind)}</node>")
    lines += ["</nodes>", "<edges>"]
    for index, link in enumerate(topology.links):
        ends = f"source={quoteattr(str(link.source))} target={quoteattr(str(link.target))}"
        lines.append(f'<edge id="{index}" {ends}>{_values(1, str(link.capacity))}</edge>')
    return "\n".join([*lines, "</edges>", "</graph>", "</gexf>", ""])


def _values(attribute: int, value: str) -> str:
    return f'<attvalues><attvalue for="{attribute}" value="{value}"/></attvalues>'
