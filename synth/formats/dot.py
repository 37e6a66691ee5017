"""Graphviz DOT: nodes and edges with their attributes, and the labs of NVIDIA Air.

A reader of its own, because pydot prints its errors, keeps no lines and needs minutes for files
of 10,000 edges.  Source: graphviz.org, "DOT Language".
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import NamedTuple

from topoloom.synth.formats.attributes import PLAIN, Attributes
from topoloom.synth.formats.graph_draft import GraphDraft
from topoloom.synth.formats.topology_draft import line, wrong
from topoloom.synth.formats.writer_checks import require_writable
from topoloom.synth.recipes.topology_document import MAX_LINKS
from topoloom.synth.topology.topology import Topology

MAX_DEPTH = 100
"""Most subgraphs inside each other."""

_TOKEN = re.compile(
    r'"(?:[^"\\]|\\.)*"|->|--|[{}\[\];,=:+]|-?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)|[A-Za-z_\x80-\U0010ffff]'
    r"[\w\x80-\U0010ffff]*|<(?:[^<>]|<[^<>]*>)*>|\s+|//[^\n]*|#[^\n]*|/\*.*?\*/",
    re.S,
)
_BLANK = re.compile(r"\s+|//|#|/\*")
_FUNCTION = "function"
_FORWARDING = ("leaf", "spine", "tor", "superspine", "exit", "border", "fabric", "oob-switch")
"""Functions of NVIDIA Air's nodes that forward packets."""

Data = dict[str, str]


class Token(NamedTuple):
    """A token: its text without quotes, its place, and whether it was quoted."""

    text: str
    place: str
    quoted: bool = False


def dot_graph(text: str, *, attributes: Attributes = PLAIN) -> Topology:
    """Return the topology of a DOT file; ``--`` is a link each way, ``->`` one link.

    Nodes are switches as in other graphs; without the attribute ``kind``, NVIDIA Air's ``function``
    tells: leaf, spine and the like are switches.

    >>> made = dot_graph('graph { a [kind=compute]; a:p1 -- {b c} [capacity=25] }')
    >>> made.nodes, made.link_count
    (('a', 'b', 'c'), 4)
    """
    reader = _Reader(text)
    reader.graph()
    nodes, edges = reader.nodes, reader.edges
    by_function = attributes.kind is None and _names_functions(nodes)
    if by_function:
        attributes = replace(attributes, kind=_FUNCTION, switch_values=_FORWARDING)
    draft = GraphDraft(attributes, directed=reader.is_directed, default=True, kinds=True)
    for name, (place, data) in nodes.items():
        draft.node(name, place, data)
    for source, target, place, data in edges:
        draft.edge(source, target, place, data)
    if by_function:
        draft.assume(
            f"Switches are the nodes whose function is {', '.join(_FORWARDING)}.", "kind_attribute"
        )
    return draft.build({"name": reader.name})


def _names_functions(nodes: dict[str, tuple[str, Data]]) -> bool:
    return any(_FUNCTION in data for _, data in nodes.values()) and not any(
        "kind" in data for _, data in nodes.values()
    )


def _tokens(text: str) -> Iterator[Token]:
    number, at = 1, 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            shown = text[at : at + 20].partition("\n")[0]
            raise wrong(line(number), f"must be DOT; {shown!r} is not")
        found = match[0]
        if not _BLANK.match(found):
            quoted = found.startswith(('"', "<"))
            plain = re.sub(r'\\(["\\])', r"\1", found[1:-1]) if quoted else found
            yield Token(plain, line(number), quoted)
        number += found.count("\n")
        at = match.end()
    yield Token("", line(number))


@dataclass(frozen=True, slots=True)
class _Defaults:
    """Attributes that statements ``node [...]`` and ``edge [...]`` give to what follows."""

    node: Data
    edge: Data


class _Reader:
    """A recursive descent over the tokens of one graph."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._token = next(self._tokens)
        self.nodes: dict[str, tuple[str, Data]] = {}
        self.edges: list[tuple[str, str, str, Data]] = []
        self.is_directed = False
        self.name = ""

    def graph(self) -> None:
        """Read the whole text."""
        self._take_word("strict")
        if self._token.text.lower() not in ("graph", "digraph"):
            raise wrong(self._token.place, "must begin with graph or digraph")
        self.is_directed = self._next().text.lower() == "digraph"
        if not self._is("{"):
            self.name = self._identifier()
        self._statements(_Defaults({}, {}), 0)
        if self._token.text or self._token.quoted:
            raise wrong(self._token.place, "must hold one graph")

    def _next(self) -> Token:
        token = self._token
        self._token = next(self._tokens, token)
        return token

    def _is(self, text: str) -> bool:
        return self._token.text == text and not self._token.quoted

    def _take(self, text: str) -> bool:
        found = self._is(text)
        if found:
            self._next()
        return found

    def _take_word(self, word: str) -> bool:
        found = self._token.text.lower() == word and not self._token.quoted
        if found:
            self._next()
        return found

    def _expect(self, text: str) -> None:
        if not self._take(text):
            shown = self._token.text[:20] or "the end of the file"
            raise wrong(self._token.place, f"must have {text!r}; not {shown!r}")

    def _identifier(self) -> str:
        token = self._next()
        if not token.quoted and not re.fullmatch(r"[\w.\x80-\U0010ffff-]+", token.text):
            shown = token.text[:20] or "the end of the file"
            raise wrong(token.place, f"must have a name; not {shown!r}")
        text = token.text
        while token.quoted and self._take("+"):
            text += self._next().text
        return text

    def _statements(self, defaults: _Defaults, depth: int) -> set[str]:
        """Read ``{ ... }`` and return its nodes."""
        if depth > MAX_DEPTH:
            raise wrong(self._token.place, f"must have at most {MAX_DEPTH} subgraphs in each other")
        self._expect("{")
        found: dict[str, None] = {}
        inner = _Defaults(dict(defaults.node), dict(defaults.edge))
        while not self._take("}"):
            found.update(dict.fromkeys(self._statement(inner, depth)))
            while self._take(";") or self._take(","):
                pass
        return set(found)

    def _statement(self, defaults: _Defaults, depth: int) -> list[str]:
        word = self._token.text.lower() if not self._token.quoted else ""
        if word in ("node", "edge", "graph"):
            self._next()
            data = self._attributes()
            if word != "graph":
                getattr(defaults, word).update(data)
            return []
        place = self._token.place
        ends = [self._operand(defaults, depth)]
        if len(ends[0]) == 1 and self._take("="):
            self._identifier()
            return []
        while self._is("--") or self._is("->"):
            self._next()
            ends.append(self._operand(defaults, depth))
        data = self._attributes()
        if len(ends) == 1:
            for name in ends[0]:
                self._node(name, place, defaults.node, data)
            return ends[0]
        for name in (name for end in ends for name in end):
            self._node(name, place, defaults.node, {})
        for sources, targets in pairwise(ends):
            if len(self.edges) + len(sources) * len(targets) > MAX_LINKS:
                raise wrong(place, f"must have at most {MAX_LINKS} links")
            for source, target in product(sources, targets):
                self.edges.append((source, target, place, defaults.edge | data))
        return [name for end in ends for name in end]

    def _operand(self, defaults: _Defaults, depth: int) -> list[str]:
        """Read a node with its port, or a subgraph; return its nodes."""
        if self._take_word("subgraph") and not self._is("{"):
            self._identifier()
        if self._is("{"):
            return sorted(self._statements(defaults, depth + 1))
        name = self._identifier()
        while self._take(":"):
            self._identifier()
        return [name]

    def _node(self, name: str, place: str, usual: Data, own: Data) -> None:
        """Add attributes to a node; the usual ones count where the node is first named."""
        self.nodes.setdefault(name, (place, dict(usual)))[1].update(own)

    def _attributes(self) -> Data:
        """Read lists such as ``[a=1, b="2"] [c=3]``."""
        data: Data = {}
        while self._take("["):
            while not self._take("]"):
                key = self._identifier()
                data[key] = self._identifier() if self._take("=") else "true"
                while self._take(";") or self._take(","):
                    pass
        return data


def dot(topology: Topology) -> str:
    r"""Return Graphviz DOT for drawing: ids and capacities are labels, the recipe a comment.

    >>> print(dot(Topology(["a", 's"1'], [("a", 's"1', 3)], switches=['s"1'])))
    digraph "" {
      0 [label="a"];
      1 [label="s\"1", shape=box];
      0 -> 1 [label="3"];
    }
    <BLANKLINE>

    Raises:
        InvalidTopology: An id or a label holds a control character.
    """
    require_writable(topology)
    labels = topology.labels()
    lines = [f"digraph {quoted(labels['name'])} {{"]
    if "recipe" in labels:
        lines.append(f"  comment={quoted(labels['recipe'])};")
    for index, node in enumerate(topology.nodes):
        shape = ", shape=box" if node in topology.switches else ""
        lines.append(f"  {index} [label={quoted(str(node))}{shape}];")
    ends = zip(topology.sources.tolist(), topology.targets.tolist(), strict=True)
    for (source, target), capacity in zip(ends, topology.capacities, strict=True):
        lines.append(f'  {source} -> {target} [label="{capacity}"];')
    return "\n".join([*lines, "}", ""])


def quoted(text: str) -> str:
    """Return a text as a string of dot."""
    # In labels a lone backslash starts an escape, so it is doubled.
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
