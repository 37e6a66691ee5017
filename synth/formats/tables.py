"""Plain tables of cells: their rows, and the adjacency matrix.

A table does not say which nodes are switches, so all are compute nodes.
"""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice

from topoloom.synth.formats.attributes import CAPACITIES, PLAIN, Attributes
from topoloom.synth.formats.graph_draft import GraphDraft
from topoloom.synth.formats.topology_draft import capacity, line, wrong
from topoloom.synth.topology.topology import NodeId, Topology

MAX_ROWS = 4096
MAX_LINES = 1_000_000
MAX_CELLS = 200_000
"""Characters of one line."""

Row = tuple[int, list[str]]

_BETWEEN = re.compile(r"\s*[,;]\s*|\s+")
_QUOTED = re.compile(r'(?<![^\s,;])"((?:[^"]|"")*)"(?![^\s,;])')
"""A cell in quotes, as CSV writes it."""
_NUMBER = re.compile(r"[+-]?[0-9.]+([eE][+-]?[0-9]+)?|[0-9]+/[0-9]+|-|[xX]")
_NAME = re.compile(r"[{,]\s?['\"]([^'\"]{1,60})['\"]:")
_ZERO = re.compile(r"0{1,9}(\.0{1,30})?([eE]\+00)?")
_NOTHING = frozenset({"", "-", "x", "X"})


def numbered_rows(text: str, attribute: str | None = None) -> Iterator[Row]:
    r"""Yield the number of every line and its cells, without comments and empty lines.

    Cells are set apart by commas, semicolons or blanks, and may stand in double quotes; a
    networkx dictionary is one cell, its ``capacity``, else its ``bandwidth``, or none.  Where an
    attribute is named it is taken instead, and must be there.

    >>> list(numbered_rows("a, b # note\n\n1\t2 {'capacity': 3}"))
    [(1, ['a', 'b']), (3, ['1', '2', '3'])]

    Raises:
        InvalidTopology: There are more than a million such lines, or one of more than 200,000
            characters.
    """
    count = 0
    for number, content in enumerate(text.split("\n"), 1):
        bare = content.partition("#")[0].strip()
        if not bare:
            continue
        count += 1
        if count > MAX_LINES:
            raise wrong(line(number), f"must be among the first {MAX_LINES} lines of the table")
        if len(bare) > MAX_CELLS:
            raise wrong(line(number), f"must have at most {MAX_CELLS} characters")
        if "{" in bare:
            bare = _plain(bare, attribute, line(number))
        yield number, _cells(bare) if '"' in bare else _BETWEEN.split(bare)


def _cells(content: str) -> list[str]:
    r"""Return the cells of a line, some of them in quotes.

    >>> _cells('"host 1", "the ""left"" one";,2')
    ['host 1', 'the "left" one', '', '2']
    """
    cells = [""]
    for index, part in enumerate(_QUOTED.split(content)):
        if index % 2:
            cells[-1] = part.replace('""', '"')
        else:
            first, *others = _BETWEEN.split(part)
            cells[-1] += first
            cells += others
    return cells


def _plain(content: str, attribute: str | None, place: str) -> str:
    """Put the capacity of a networkx dictionary, or nothing, in its place."""
    head, _, dictionary = content.partition("{")
    if not dictionary.rstrip().endswith("}"):
        return content
    names = CAPACITIES if attribute is None else (attribute,)
    patterns = (rf"['\"]{re.escape(name)}['\"]\s*:\s*['\"]?([^,'\"}}\s]{{1,60}})" for name in names)
    match = next(filter(None, (re.search(each, dictionary) for each in patterns)), None)
    if match is None and attribute is not None:
        raise wrong(place, f"must have the attribute {attribute[:50]!r}: it is the capacity")
    return f"{head.rstrip(', ;')} {match[1] if match else ''}".rstrip()


def unread_attributes(text: str) -> dict[str, str]:
    """Return the names in networkx dictionaries that are read only if the user names them.

    >>> unread_attributes("a b {'weight': 3}")
    {'weight': ''}
    """
    return dict.fromkeys((name for name in _NAME.findall(text) if name not in CAPACITIES), "")


def looks_like_matrix(rows: list[Row]) -> bool:
    r"""Whether rows are a square with an empty diagonal, most of whose cells are numbers.

    >>> [looks_like_matrix(list(numbered_rows(text))) for text in ("0 1\n1 0", "0 1\n1 2\n2 0")]
    [True, False]
    """
    names, body = _header(rows)
    widths = {len(cells) for _, cells in body}
    shift = max(widths, default=0) - len(body)
    if len(widths) != 1 or shift not in (0, 1) or (shift == 1 and names is None):
        return False
    if names is not None and len(names) - len(body) not in (0, 1):
        return False
    diagonal = (cells[index + shift] for index, (_, cells) in enumerate(body))
    cells = [cell for _, row in body for cell in row[shift:]]
    numbers = sum(_NUMBER.fullmatch(cell) is not None for cell in cells)
    return 2 * numbers > len(cells) and all(
        cell in _NOTHING or _ZERO.fullmatch(cell) for cell in diagonal
    )


def matrix(text: str, *, attributes: Attributes = PLAIN) -> Topology:
    r"""Return the topology of an adjacency matrix: row i, column j is the link from i to j.

    Cells are exact numbers (``12.5``, ``25/2``) set apart by commas, semicolons or blanks;
    0, ``-`` or ``x`` is no link, and the diagonal holds only these.  The first line may
    name the nodes, and then each row may begin with its name; without names nodes are 0,
    1, ….  At most 4096 rows.

    >>> matrix("0 25\n12.5 0").links
    (Link(source=0, target=1, capacity=25), Link(source=1, target=0, capacity=Fraction(25, 2)))
    >>> matrix(",a,b\na,0,1\nb,1,0").nodes
    ('a', 'b')
    """
    # One row more than is allowed, and a heading.
    names, rows = _header(list(islice(numbered_rows(text), MAX_ROWS + 2)))
    if not 1 <= len(rows) <= MAX_ROWS:
        raise wrong("", f"a matrix must have from 1 to {MAX_ROWS} rows")
    if names is not None and len(names) == len(rows) + 1:
        names = names[1:]
    if names is not None and len(names) != len(rows):
        raise wrong(line(rows[0][0]), f"must name as many nodes as there are rows: {len(rows)}")
    nodes: Sequence[NodeId] = range(len(rows)) if names is None else names
    draft = GraphDraft(attributes, directed=True, default=True, kinds=False)
    for (number, _), node in zip(rows, nodes, strict=True):
        draft.node(node, line(number))
    for index, (number, cells) in enumerate(rows):
        if names is not None and len(cells) == len(rows) + 1 and cells[0] == names[index]:
            cells = cells[1:]
        _read_row(draft, nodes, index, cells, line(number))
    return draft.build()


def _header(rows: list[Row]) -> tuple[list[str] | None, list[Row]]:
    if not rows:
        return None, rows
    first = rows[0][1]
    named = not all(_NUMBER.fullmatch(cell) for cell in first)
    shorter = len(rows) > 1 and len(rows[1][1]) == len(first) + 1
    return (first, rows[1:]) if named or shorter else (None, rows)


def _read_row(
    draft: GraphDraft, nodes: Sequence[NodeId], index: int, cells: list[str], place: str
) -> None:
    if len(cells) != len(nodes):
        raise wrong(place, f"must have {len(nodes)} cells, one for each row; it has {len(cells)}")
    for column, cell in enumerate(cells):
        value = Fraction(0) if cell in _NOTHING else capacity(cell, place)
        if not value:
            continue
        if column == index:
            raise wrong(place, "the diagonal must be 0: no link joins a node to itself")
        draft.edge(nodes[index], nodes[column], place, {"capacity": value})
