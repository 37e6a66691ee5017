"""Infer a topology from a schedule's own sends, to run the schedule without a topology file."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from topoloom.schedules.errors import InvalidSchedule
from topoloom.synth.topology.topology import NodeId, Topology


def infer_topology(document: Any) -> Topology:
    """Return a topology of the ranks and switches that a schedule/1 document names.

    The ends of every send and edge are ranks, numbers before texts, each sorted; inner nodes of an
    edge are switches.  A link joins the ends of each send or hop.  Entries that break a rule of the
    format are skipped: reading the document reports them.

    Raises:
        InvalidSchedule: The document sends nothing.

    >>> trees = [{"root": "a", "weight": 1, "edges": [["a", "switch", "b"]]}]
    >>> infer_topology({"trees": trees}).compute_nodes
    ('a', 'b')
    """
    paths = set(_paths(document))
    ranks = {end for path in paths for end in (path[0], path[-1])}
    inside = {node for path in paths for node in path[1:-1]} - ranks
    if not ranks:
        raise InvalidSchedule("", "must hold a send or an edge that names ranks")
    hops = {hop for path in paths for hop in pairwise(path) if hop[0] != hop[1]}
    return Topology([*_sorted(ranks), *_sorted(inside)], hops, switches=inside)


def _paths(document: Any) -> Iterator[tuple[NodeId, ...]]:
    if not isinstance(document, dict):
        return
    for part in _list(document.get("parts")):
        yield from _paths(part)
    for step in _list(document.get("steps")):
        for send in _list(step):
            if isinstance(send, dict):
                yield from _path([send.get("source"), send.get("target")])
    for tree in _list(document.get("trees")):
        for edge in _list(tree.get("edges") if isinstance(tree, dict) else None):
            yield from _path(_list(edge))


def _path(nodes: list[Any]) -> Iterator[tuple[NodeId, ...]]:
    if len(nodes) > 1 and set(map(type, nodes)) <= {int, str}:
        yield tuple(nodes)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _sorted(nodes: Iterable[NodeId]) -> list[NodeId]:
    return sorted(nodes, key=lambda node: (isinstance(node, str), node))
