"""Whether lines of words can be an edge list: prose, settings and logs are not."""

import re
from collections import Counter
from collections.abc import Container

from topoloom.synth.errors import InvalidTopology
from topoloom.synth.formats.edge_list import below_heading
from topoloom.synth.formats.tables import Row
from topoloom.synth.formats.topology_draft import join, line

_ID = re.compile(r"\w[^\s=(){}\[\]\"'!?<>*&$%^`\\|]{0,199}(?<![.:])|\w")
_NUMBER = re.compile(r"[+-]?[0-9][0-9.]*([eE][+-]?[0-9]+)?(/[0-9]+)?")
_TIME = re.compile(r"[0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?|[0-9]{4}-[0-9]{2}-[0-9]{2}(T.*)?")
_VALUES = frozenset({"yes", "no", "true", "false", "on", "off", "none", "null", "default", "auto"})


def doubt(rows: list[Row], *, whole: bool, data: bool) -> InvalidTopology | None:
    r"""Return the reason why rows are no edge list; None where they look like an edge list.

    Every row must have two plain ids and, if need be, a number.  Two rows must share a node.
    Numbers that could be neighbors throughout, as in an adjacency list, are in doubt.
    Where no row has a number, a topology must be connected, and its ids must look like ids:
    a digit in each, at most two characters, or a node that is both a source and a target.

    Args:
        rows: The rows, a heading ``source target`` included.
        whole: Whether the rows are all rows of the text.
        data: Whether dictionaries of networkx stood in the rows.

    >>> rows = [(1, ["h0", "h1"]), (2, ["h1", "h2"])]
    >>> doubt(rows, whole=True, data=False) is None
    True
    >>> settings = [(1, ["Port", "22"]), (2, ["User", "me"]), (3, ["Group", "me"])]
    >>> print(doubt(settings, whole=True, data=False))
    : must join all nodes
    """
    rows = below_heading(rows)
    if whole and _is_metis([cells for _, cells in rows]):
        return InvalidTopology("", "must not begin with its numbers of nodes and edges, as METIS")
    for number, cells in rows:
        if (rule := _broken_rule(cells)) is not None:
            return InvalidTopology(line(number), rule)
    if data:
        return None
    pairs = [(cells[0], cells[1]) for _, cells in rows]
    uses = Counter(node for pair in pairs for node in {*pair})
    if max(uses.values(), default=0) < 2:
        return InvalidTopology("", "must have a node in two links")
    if any(len(cells) == 3 for _, cells in rows):
        if _lists_neighbours([cells for _, cells in rows], uses):
            rule = "must not be an adjacency list as well, unless --from names the format"
            return InvalidTopology("", rule)
        return None
    if whole and len(join(uses, pairs)) > 1:
        return InvalidTopology("", "must join all nodes")
    crossed = {source for source, _ in pairs} & {target for _, target in pairs}
    if not crossed and not all(len(node) <= 2 or re.search("[0-9]", node) for node in uses):
        return InvalidTopology("", "must have a node that is both a source and a target")
    return None


def _is_metis(rows: list[list[str]]) -> bool:
    """Whether the first row counts the other rows, and the edges that they name twice."""
    counts = [int(cell) for cell in rows[0] if re.fullmatch("[0-9]{1,9}", cell)] if rows else []
    return len(counts) == 2 and counts == [len(rows) - 1, sum(map(len, rows[1:])) / 2]


def _lists_neighbours(rows: list[list[str]], nodes: Container[str]) -> bool:
    """Whether each row can be a node and two neighbors of it."""
    different = all(len(set(cells)) == 3 and cells[2] in nodes for cells in rows)
    return different and len({cells[0] for cells in rows}) == len(rows)


def _broken_rule(cells: list[str]) -> str | None:
    if len(cells) not in (2, 3):
        return "must be source, target and, if need be, capacity"
    for end in cells[:2]:
        if not _ID.fullmatch(end) or _TIME.fullmatch(end) or end.lower() in _VALUES:
            return f"must have plain ids; {end[:50]!r} is none"
    if cells[0] == cells[1]:
        return "must join two different nodes"
    if len(cells) == 3 and not _NUMBER.fullmatch(cells[2]):
        return f"must have a number as its capacity; {cells[2][:50]!r} is none"
    return None
