"""Adjacency lists: a line for every node and those it has links to, as networkx writes them.

They say nothing of capacities (but for the multiline form) or switches.  ``adjlist`` takes
every entry as a directed link; networkx writes an undirected graph with every edge at one
of its ends, which is ``undirected-adjlist``.
"""

from topoloom.synth.formats.attributes import PLAIN, Attributes
from topoloom.synth.formats.edge_list import ids_of
from topoloom.synth.formats.graph_draft import GraphDraft
from topoloom.synth.formats.tables import numbered_rows, unread_attributes
from topoloom.synth.formats.topology_draft import line, wrong
from topoloom.synth.formats.writer_checks import (
    require_hosts_only,
    require_unit_links,
    require_words,
)
from topoloom.synth.topology.topology import Topology

Entry = tuple[str, dict[str, str], str]


def adjlist(text: str, *, attributes: Attributes = PLAIN, directed: bool | None = None) -> Topology:
    r"""Return the topology of lines that name a node and then the targets of its links.

    Blanks, commas or semicolons set names apart, ``#`` begins a comment.  A node named twice
    in one line is joined by parallel links.  ``directed`` states whether entries are links one way
    or each way; None leaves that to ``attributes``.

    >>> adjlist("a b c\nb c\nc a").link_count, adjlist("a b c\nb c\nc", directed=False).link_count
    (4, 6)

    Raises:
        InvalidTopology: A node begins two lines, or has a link to itself; the line is named.
    """
    return _graph(_lines(text), attributes, directed=directed)


def multiline_adjlist(text: str, *, attributes: Attributes = PLAIN) -> Topology:
    r"""Return the topology of a multiline adjacency list; its links are directed.

    A line has a node and the number of its links, each of the next lines a target and, in a
    networkx dictionary, the capacity.

    >>> multiline_adjlist("a 1\nb {'capacity': 3}\nb 0").links
    (Link(source='a', target='b', capacity=3),)
    """
    lines: dict[str, tuple[str, list[Entry]]] = {}
    rows, unread = numbered_rows(text, attributes.capacity), unread_attributes(text)
    for number, cells in rows:
        place = line(number)
        count = cells[1] if len(cells) == 2 else ""
        if not (count.isascii() and count.isdigit() and len(count) <= 9):
            raise wrong(place, "must be a node and the number of its links")
        entries = _begin(lines, cells[0], place)
        for _ in range(int(count)):
            found = next(rows, None)
            if found is None:
                raise wrong(place, f"must be followed by {count} lines of targets")
            place = line(found[0])
            if len(found[1]) > 2:
                raise wrong(place, "must be a target and, if need be, its data")
            data = (
                {attributes.capacity or "capacity": found[1][1]} if len(found[1]) == 2 else unread
            )
            entries.append((found[1][0], data, place))
    return _graph(lines, attributes)


def _lines(text: str) -> dict[str, tuple[str, list[Entry]]]:
    lines: dict[str, tuple[str, list[Entry]]] = {}
    for number, (name, *targets) in numbered_rows(text):
        place = line(number)
        _begin(lines, name, place).extend((target, {}, place) for target in targets if target)
    return lines


def _begin(lines: dict[str, tuple[str, list[Entry]]], name: str, place: str) -> list[Entry]:
    if name in lines:
        raise wrong(place, f"must not begin with a node that had its line: {name[:50]!r}")
    lines[name] = (place, [])
    return lines[name][1]


def _graph(
    lines: dict[str, tuple[str, list[Entry]]], attributes: Attributes, directed: bool | None = None
) -> Topology:
    if not lines:
        raise wrong("", "an adjacency list must have a line")
    places = {name: place for name, (place, _) in lines.items()}
    for _, entries in lines.values():
        for target, _, place in entries:
            places.setdefault(target, place)
    ids = ids_of(places)
    draft = GraphDraft(attributes, directed=directed, default=True, kinds=False)
    for name, id in ids.items():
        draft.node(id, places[name])
    for name, (_, entries) in lines.items():
        for target, data, place in entries:
            draft.edge(ids[name], ids[target], place, data)
    return draft.build()


def to_adjlist(topology: Topology) -> str:
    """Return a line for every node and the targets of its links.

    >>> print(to_adjlist(Topology("abc", [("a", "b"), ("b", "a"), ("a", "c")])), end="")
    a b c
    b a
    c

    Raises:
        InvalidTopology: There are switches, a capacity is not 1, or an id is no word.
    """
    require_words(topology, "an adjacency list")
    require_hosts_only(topology, "an adjacency list")
    require_unit_links(topology, "an adjacency list")
    targets: dict[int | str, list[str]] = {node: [str(node)] for node in topology.nodes}
    for link in topology.links:
        targets[link.source].append(str(link.target))
    return "".join(" ".join(names) + "\n" for names in targets.values())
