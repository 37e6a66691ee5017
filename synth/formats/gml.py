"""GML, the graph modelling language, as networkx, Gephi and the Topology Zoo write it.

Links carry ``capacity`` (or ``bandwidth``), 1 if left out; nodes may carry ``kind``,
``compute`` or ``switch``; the graph may carry ``name`` and ``bandwidth_unit``.  The links
of an undirected graph are links each way.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from topoloom.synth.formats.attributes import PLAIN, Attributes
from topoloom.synth.formats.graph_draft import GraphDraft
from topoloom.synth.formats.topology_draft import line, wrong
from topoloom.synth.formats.writer_checks import require_writable
from topoloom.synth.topology.topology import NodeId, Topology

MAX_DEPTH = 64
MAX_ENTRIES = 2_000_000
"""Keys, values and brackets in all."""

# Possessive: blanks and comments are never tried in pieces.
_TOKEN = re.compile(
    r"(?P<blank>(?:[ \t\r\n]++|\#[^\n]*+)*+)(?:(?P<key>[A-Za-z_][A-Za-z0-9_.:-]{0,99})"
    r"|(?P<number>[+-]?[0-9.][0-9.]{0,60}(?:[eE][+-]?[0-9]{1,2})?)"
    r'|(?P<quoted>"(?P<text>[^"]{0,100000})")|(?P<mark>[\[\]])|(?P<end>\Z))'
)
_INTEGER = re.compile(r"-?[0-9]{1,18}")
# Unicode ends at 1114111; Python refuses to read integers of more than 4,300 digits.
_LONG_REFERENCE = re.compile(r"&#(?:[0-9]{8,}|[xX][0-9A-Fa-f]{8,})")


def gml(text: str, *, attributes: Attributes = PLAIN) -> Topology:
    """Return the topology of a GML text; a node's id is its label if all have one.

    >>> gml('graph [ directed 1 node [ id 0 label "a" ] node [ id 1 label "b" ] '
    ...     'edge [ source 0 target 1 capacity 2.5 ] ]').links
    (Link(source='a', target='b', capacity=Fraction(5, 2)),)
    """
    graphs = [entry for entry in _parse(text).entries if entry.key == "graph"]
    if len(graphs) != 1 or not isinstance(graphs[0].value, _List):
        raise wrong("", "must hold one graph [ ... ]")
    graph = graphs[0].value
    about = graph.values()
    directed = str(about["directed"]) == "1" if "directed" in about else None
    draft = GraphDraft(attributes, directed=directed, default=False, kinds=True)
    ids = _ids(graph)
    for (place, node), id in zip(graph.lists("node"), ids.values(), strict=True):
        draft.node(id, place, node)
    for place, edge in graph.lists("edge"):
        ends = [ids.get(_text(edge.get(end))) for end in ("source", "target")]
        if ends[0] is None or ends[1] is None:
            raise wrong(place, "source and target must be ids of nodes")
        draft.edge(ends[0], ends[1], place, edge)
    return draft.build(about)


@dataclass(slots=True)
class _Entry:
    key: str
    value: Any
    place: str


@dataclass(slots=True)
class _List:
    """A GML list, the text between brackets: keys, each with a number, a text or a list."""

    entries: list[_Entry] = field(default_factory=list)

    def values(self) -> dict[str, Any]:
        """Return the numbers and texts by their keys; the first of each."""
        found: dict[str, Any] = {}
        for entry in self.entries:
            if not isinstance(entry.value, _List):
                found.setdefault(entry.key, entry.value)
        return found

    def lists(self, key: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the place and the values of every list of that key."""
        for entry in self.entries:
            if entry.key == key:
                if not isinstance(entry.value, _List):
                    raise wrong(entry.place, f"{key} must be followed by [")
                yield entry.place, entry.value.values()


def _ids(graph: _List) -> dict[str, NodeId]:
    """Return the id of every node by its number in the text, in order."""
    found: dict[str, dict[str, Any]] = {}
    for place, node in graph.lists("node"):
        number = _text(node.get("id"))
        if not number or number in found:
            raise wrong(place, "node must have an id of its own")
        found[number] = node
    labels = [_text(node.get("label")) for node in found.values()]
    labelled = all("label" in node for node in found.values()) and len(set(labels)) == len(labels)
    key = "label" if labelled else "id"
    return {number: node[key] for number, node in found.items()}


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _parse(text: str) -> _List:
    """Return the entries of a text, without recursion."""
    top = _List()
    open_lists = [top]
    key: tuple[str, str] | None = None
    number, count, position = 1, 0, 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            rest = text[position:].lstrip()[:20]
            raise wrong(line(number), f"must be GML; {rest!r} is not")
        position = match.end()
        number += match["blank"].count("\n")
        place, word, kind = line(number), match[match.lastgroup or "end"], match.lastgroup
        if kind == "end":
            break
        count += 1
        if count > MAX_ENTRIES:
            raise wrong(place, f"must have at most {MAX_ENTRIES} words")
        if word == "]":
            if key is not None or len(open_lists) == 1:
                raise wrong(place, "] must end a list of keys with values")
            open_lists.pop()
        elif key is None:
            if kind != "key":
                raise wrong(place, f"must be a key; {word[:50]!r} is not")
            key = (word, place)
        else:
            number += word.count("\n")
            value = _value(word, match, place)
            open_lists[-1].entries.append(_Entry(key[0], value, key[1]))
            key = None
            if isinstance(value, _List):
                open_lists.append(value)
                if len(open_lists) > MAX_DEPTH:
                    raise wrong(place, f"must nest at most {MAX_DEPTH} deep")
    if key is not None or len(open_lists) > 1:
        raise wrong(line(number), "must not end in the middle of a list")
    return top


def _value(word: str, match: "re.Match[str]", place: str) -> Any:
    if word == "[":
        return _List()
    if match.lastgroup == "quoted":
        if _LONG_REFERENCE.search(match["text"]):
            raise wrong(place, "a character reference must have at most 7 digits")
        return html.unescape(match["text"])
    if match.lastgroup != "number":
        raise wrong(place, f"a key must be followed by a value; {word[:50]!r} is none")
    return int(word) if _INTEGER.fullmatch(word) else word


def to_gml(topology: Topology) -> str:
    """Return GML as networkx reads it: labels are ids, and numbers stay numbers.

    >>> print(to_gml(Topology(["a", 7], [("a", 7, 3)], switches=[7])), end="")
    graph [
      directed 1
      multigraph 1
      name ""
      bandwidth_unit "link"
      node [ id 0 label "a" kind "compute" ]
      node [ id 1 label 7 kind "switch" ]
      edge [ source 0 target 1 key 0 capacity 3 ]
    ]

    Raises:
        InvalidTopology: An id or a label holds a control character.
    """
    require_writable(topology)
    lines = ["graph [", "  directed 1", "  multigraph 1"]
    lines += [f"  {label} {_quoted(text)}" for label, text in topology.labels().items()]
    for index, node in enumerate(topology.nodes):
        kind = "switch" if node in topology.switches else "compute"
        lines.append(f'  node [ id {index} label {_literal(node)} kind "{kind}" ]')
    ends = zip(topology.sources.tolist(), topology.targets.tolist(), strict=True)
    before, key = (-1, -1), 0
    for pair, capacity in zip(ends, topology.capacities, strict=True):
        key = key + 1 if pair == before else 0
        before = pair
        value = _literal(capacity if isinstance(capacity, int) else str(capacity))
        lines.append(f"  edge [ source {pair[0]} target {pair[1]} key {key} capacity {value} ]")
    return "\n".join([*lines, "]", ""])


def _literal(value: int | str) -> str:
    # Numbers of GML have 32 bits; larger ones are texts.
    if isinstance(value, int) and -(2**31) <= value < 2**31:
        return str(value)
    return _quoted(str(value))


def _quoted(text: str) -> str:
    plain = "".join(
        char if " " <= char <= "~" and char not in '&"' else f"&#{ord(char)};" for char in text
    )
    return f'"{plain}"'
