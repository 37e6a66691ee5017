"""Edge lists: a line for every link, as networkx and many others write them.

An edge list does not say which nodes are switches, so all are compute nodes.
"""

import re
from collections.abc import Iterable

from topoloom.synth.formats.attributes import PLAIN, Attributes
from topoloom.synth.formats.graph_draft import GraphDraft
from topoloom.synth.formats.tables import Row, numbered_rows, unread_attributes
from topoloom.synth.formats.topology_draft import line, wrong
from topoloom.synth.formats.writer_checks import require_words
from topoloom.synth.topology.rates import UNITS, unit_name
from topoloom.synth.topology.topology import NodeId, Topology

_HEADINGS = {("source", "target"), ("source", "destination"), ("src", "dst"), ("from", "to")}
_DIRECTION = re.compile(r"^[ \t]{0,9}#[ \t]{0,9}((?:un)?directed)\b", re.I | re.M)
"""A comment such as ``# Undirected graph``, which the SNAP collection writes."""
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")


def edgelist(
    text: str, *, attributes: Attributes = PLAIN, directed: bool | None = None
) -> Topology:
    r"""Return the topology of links, a line each: source, target, capacity.

    Cells are set apart by blanks, commas or semicolons; ``#`` begins a comment; a first
    line ``source target …``, ``src dst …`` or ``from to …`` is a heading, whose third name
    may be the unit: ``GB/s``, ``gbps``; a comment that begins with ``undirected`` or
    ``directed`` states the direction, unless the parameter does; by default links are one-way.
    The capacity is an exact number or a networkx dictionary with ``capacity`` or ``bandwidth``,
    such as ``{'capacity': 25}``; left out, it is 1.  Nodes are in the order of the sources, then of
    the targets; ids are numbers, in ascending order, if all are.

    >>> edgelist("a b 3/2\nb c").capacities, edgelist("0 1\n1 2", directed=False).link_count
    ((Fraction(3, 2), 1), 4)
    """
    name = attributes.capacity or "capacity"
    listed = list(numbered_rows(text, attributes.capacity))
    body = below_heading(listed)
    rows = [_edge(number, cells, name) for number, cells in body]
    if not rows:
        raise wrong("", "an edge list must have a line of source and target")
    places: dict[str, str] = {}
    for source, _, _, place in rows:
        places.setdefault(source, place)
    for _, target, _, place in rows:
        places.setdefault(target, place)
    ids = ids_of(places)
    if directed is None and (comment := _DIRECTION.search(text[:4096])):
        directed = comment[1].lower() == "directed"
    draft = GraphDraft(attributes, directed=directed, default=True, kinds=False)
    for name, id in ids.items():
        draft.node(id, places[name])
    unread = unread_attributes(text)
    for source, target, data, place in rows:
        draft.edge(ids[source], ids[target], place, data or unread)
    return draft.build(_unit_of(listed[0][1]) if len(listed) > len(body) else {})


def ids_of(names: Iterable[str]) -> dict[str, NodeId]:
    """Return the ids of nodes in their order: numbers, ascending, if all names are.

    >>> ids_of(["10", "9"]), ids_of(["b", "1"])
    ({'9': 9, '10': 10}, {'b': 'b', '1': '1'})
    """
    found = list(dict.fromkeys(names))
    if all(map(_WHOLE.fullmatch, found)):
        return {name: int(name) for name in sorted(found, key=int)}
    return {name: name for name in found}


def below_heading(rows: list[Row]) -> list[Row]:
    """Return the rows of an edge list without its heading, if there is one.

    >>> below_heading([(1, ["Source", "Target", "GB/s"]), (2, ["a", "b", "25"])])
    [(2, ['a', 'b', '25'])]
    """
    heading = rows and tuple(cell.lower() for cell in rows[0][1][:2]) in _HEADINGS
    return rows[1:] if heading else rows


def _unit_of(heading: list[str]) -> dict[str, str]:
    """Return the unit that the third column of a heading names, as data of the graph."""
    unit = unit_name("".join(heading[2:3]))
    return {"bandwidth_unit": unit} if unit in UNITS else {}


def _edge(number: int, cells: list[str], name: str) -> tuple[str, str, dict[str, str], str]:
    place = line(number)
    if len(cells) not in (2, 3) or not all(cells):
        raise wrong(place, "must be source, target and, if need be, capacity")
    return cells[0], cells[1], {name: cells[2]} if len(cells) == 3 else {}, place


def to_edgelist(topology: Topology) -> str:
    """Return one line ``source target capacity`` per link, as networkx reads it.

    >>> from fractions import Fraction
    >>> print(to_edgelist(Topology("ab", [("a", "b", Fraction(3, 2)), ("b", "a")])), end="")
    a b 3/2
    b a 1

    Raises:
        InvalidTopology: An id is empty or holds a blank, ``#`` or a control character.
    """
    require_words(topology, "an edge list")
    return "".join(f"{link.source} {link.target} {link.capacity}\n" for link in topology.links)
