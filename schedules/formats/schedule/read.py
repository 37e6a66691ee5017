"""Reading schedule/1: from untrusted JSON to a `Schedule`, or one clear error.

What is read has the right types, names only nodes of the topology and stays within
the limits below.  Whether it *works* is for `schedules.verify` to say.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedules.errors import InvalidSchedule, UnknownCollective
from schedules.model import (
    NO_LINK,
    SEND,
    Collective,
    Route,
    RouteSchedule,
    Schedule,
    SequenceSchedule,
    StepSchedule,
    Tree,
    TreeSchedule,
)
from synth.topology import NodeId, Topology

__all__ = ["MAX_EDGES", "MAX_INTEGER", "MAX_SENDS", "MAX_STEPS", "OPS", "from_document"]

OPS = ("copy", "reduce")
MAX_INTEGER = 2**31 - 1
MAX_WEIGHT = 2**62
MAX_STEPS = 1_000_000
MAX_SENDS = 20_000_000
MAX_EDGES = 20_000_000
MAX_PARTS = 16
MAX_PATH = 256

_OP_CODES = {name: code for code, name in enumerate(OPS)}


def from_document(document: Any, topology: Topology) -> Schedule:
    """Return the schedule that a schedule/1 document describes.

    Parameters
    ----------
    document
        The parsed JSON; unknown keys are ignored.
    topology : Topology
        Gives the order of the ranks.  Its digest is not compared here; the checker
        reports a document that names another one.

    Raises
    ------
    InvalidSchedule
        Naming the offending place by JSON pointer and the rule it breaks.

    Examples
    --------
    >>> pair = Topology("ab", [("a", "b"), ("b", "a")])
    >>> send = {"source": "a", "target": "b", "shard": "a", "first": 0, "count": 1, "op": "copy"}
    >>> document = {"schema": "schedule/1", "kind": "steps", "collective": "allgather",
    ...             "topology": pair.digest, "chunks_per_shard": 1, "steps": [[send]]}
    >>> from_document(document, pair).steps[0].tolist()
    [(0, 1, 0, 0, 1, -1, 0)]
    >>> send["target"] = "c"
    >>> from_document(document, pair)
    Traceback (most recent call last):
    ...
    schedules.errors.InvalidSchedule: /steps/0/0/target: must be the id of a compute node
    """
    if not isinstance(document, dict):
        raise InvalidSchedule("", "must be a JSON object with schema schedule/1")
    if document.get("schema") != "schedule/1":
        raise InvalidSchedule("/schema", 'must be "schedule/1"')
    if document.get("kind") == "routes":
        return _routes(document, topology)
    if document.get("kind") != "sequence":
        return _single(document, topology, "")
    parts = _list(document, "parts", MAX_PARTS, "")
    return SequenceSchedule(
        _collective(document, ""),
        _topology(document, ""),
        tuple(_single(part, topology, f"/parts/{index}") for index, part in enumerate(parts)),
    )


def _single(document: Any, topology: Topology, place: str) -> StepSchedule | TreeSchedule:
    if not isinstance(document, dict):
        raise InvalidSchedule(place, "must be an object")
    readers = {"steps": _steps, "trees": _trees}
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in readers:
        kinds = '"steps" or "trees"' if place else '"steps", "trees", "routes" or "sequence"'
        raise InvalidSchedule(f"{place}/kind", f"must be {kinds}")
    return readers[kind](document, topology, place)


def _steps(document: dict[str, Any], topology: Topology, place: str) -> StepSchedule:
    chunks = _integer(document, "chunks_per_shard", place)
    steps = _list(document, "steps", MAX_STEPS, place)
    codes = {node: rank for rank, node in enumerate(topology.compute_nodes)}
    total = 0
    arrays = []
    for index, sends in enumerate(steps):
        if not isinstance(sends, list):
            raise InvalidSchedule(f"{place}/steps/{index}", "must be a list")
        total += len(sends)
        if total > MAX_SENDS:
            raise InvalidSchedule(f"{place}/steps", f"must have at most {MAX_SENDS} sends in all")
        arrays.append(_sends(sends, codes, f"{place}/steps/{index}"))
    return StepSchedule(
        _collective(document, place),
        _topology(document, place),
        topology.compute_nodes,
        chunks,
        tuple(arrays),
    )


def _sends(sends: list[Any], codes: dict[NodeId, int], place: str) -> NDArray[Any]:
    """Read one step column by column; only a column that fails is searched send by send."""
    for index, send in enumerate(sends):
        if not isinstance(send, dict):
            raise InvalidSchedule(f"{place}/{index}", "must be an object")
    array = np.zeros(len(sends), dtype=SEND)
    for field in ("source", "target", "shard"):
        column = [send.get(field) for send in sends]
        rule = "must be the id of a compute node"
        # Types first: True and 1.0 would pass for the id 1.
        if not set(map(type, column)) <= {int, str} or not codes.keys() >= set(column):
            _blame(column, lambda v: type(v) in (int, str) and v in codes, place, field, rule)
        array[field] = [codes[node] for node in column]
    column = [send.get("op") for send in sends]
    if not set(map(type, column)) <= {str} or not _OP_CODES.keys() >= set(column):
        _blame(column, lambda v: v in OPS, place, "op", 'must be "copy" or "reduce"')
    array["op"] = [_OP_CODES[name] for name in column]
    for field, least, default in (("first", 0, None), ("count", 1, None), ("link", 0, 0)):
        column = [send.get(field, default) for send in sends]
        if set(map(type, column)) - {int} or (
            column and not least <= min(column) <= max(column) <= MAX_INTEGER
        ):
            rule = f"must be an integer from {least} to {MAX_INTEGER}"
            _blame(column, partial(_is_integer, least=least), place, field, rule)
        array[field] = column
    array["link"][["link" not in send for send in sends]] = NO_LINK
    return array


def _blame(
    column: list[Any], fine: Callable[[Any], bool], place: str, field: str, rule: str
) -> None:
    for index, value in enumerate(column):
        if not fine(value):
            raise InvalidSchedule(f"{place}/{index}/{field}", rule)


def _trees(document: dict[str, Any], topology: Topology, place: str) -> TreeSchedule:
    total = _integer(document, "trees_per_root", place, MAX_WEIGHT)
    trees = _list(document, "trees", MAX_EDGES, place)
    left = MAX_EDGES
    made = []
    for index, tree in enumerate(trees):
        here = f"{place}/trees/{index}"
        if not isinstance(tree, dict):
            raise InvalidSchedule(here, "must be an object with root, weight and edges")
        root = tree.get("root")
        if type(root) not in (int, str) or root not in topology.position:
            raise InvalidSchedule(f"{here}/root", "must be the id of a node")
        edges = _list(tree, "edges", left, here)
        left -= len(edges)
        paths = tuple(_edge(edge, topology, here, at) for at, edge in enumerate(edges))
        made.append(Tree(root, _integer(tree, "weight", here, MAX_WEIGHT), paths))
    collective = _collective(document, place)
    ranks = topology.compute_nodes
    if "participants" in document:
        ranks = _participants(document, topology, place)
    taking_part = set(ranks)
    return TreeSchedule(
        collective,
        _topology(document, place),
        ranks,
        total,
        tuple(made),
        shards=_shards(document, collective, ranks, place),
        idle=tuple(node for node in topology.compute_nodes if node not in taking_part),
    )


def _routes(document: dict[str, Any], topology: Topology) -> RouteSchedule:
    routes = _list(document, "routes", MAX_EDGES, "")
    made, left = [], MAX_EDGES
    for index, route in enumerate(routes):
        here = f"/routes/{index}"
        if not isinstance(route, dict):
            raise InvalidSchedule(here, "must be an object with path and weight")
        path = _path(route.get("path"), topology, f"{here}/path")
        left -= len(path)
        if left < 0:
            raise InvalidSchedule("/routes", f"must pass at most {MAX_EDGES} nodes in all")
        made.append(Route(path, _integer(route, "weight", here, MAX_WEIGHT)))
    units = _integer(document, "units_per_pair", "", MAX_WEIGHT)
    return RouteSchedule(
        _collective(document, ""),
        _topology(document, ""),
        topology.compute_nodes,
        units,
        tuple(made),
    )


def _participants(document: dict[str, Any], topology: Topology, place: str) -> tuple[NodeId, ...]:
    named = _list(document, "participants", len(topology.compute_nodes), place)
    chosen: set[NodeId] = set()
    for index, node in enumerate(named):
        here = f"{place}/participants/{index}"
        if type(node) not in (int, str) or node not in topology.position:
            raise InvalidSchedule(here, "must be the id of a compute node")
        if node in topology.switches or node in chosen:
            raise InvalidSchedule(here, "must be a compute node, named once")
        chosen.add(node)
    if not chosen:
        raise InvalidSchedule(f"{place}/participants", "must name a compute node")
    return tuple(node for node in topology.compute_nodes if node in chosen)


def _shards(
    document: dict[str, Any], collective: Collective, ranks: tuple[NodeId, ...], place: str
) -> tuple[int, ...]:
    """Return the sizes of the shards, or nothing where the document says nothing of them."""
    if collective.has_root:
        return _sizes([(_rank(document, "root", ranks, place), 1)], ranks)
    if "shards" not in document:
        return ()
    found: dict[NodeId, int] = {}
    for index, shard in enumerate(_list(document, "shards", len(ranks), place)):
        here = f"{place}/shards/{index}"
        if not isinstance(shard, dict):
            raise InvalidSchedule(here, "must be an object with rank and size")
        rank = _rank(shard, "rank", ranks, here)
        if rank in found:
            raise InvalidSchedule(f"{here}/rank", "must not be named twice")
        found[rank] = _integer(shard, "size", here, MAX_WEIGHT)
    if not found:
        raise InvalidSchedule(f"{place}/shards", "must hold the shard of a rank")
    return _sizes(list(found.items()), ranks)


def _sizes(shards: list[tuple[NodeId, int]], ranks: tuple[NodeId, ...]) -> tuple[int, ...]:
    sizes = dict.fromkeys(ranks, 0) | dict(shards)
    return tuple(sizes.values())


def _rank(holder: dict[str, Any], key: str, ranks: tuple[NodeId, ...], place: str) -> NodeId:
    value = holder.get(key)
    if type(value) not in (int, str) or value not in ranks:
        raise InvalidSchedule(f"{place}/{key}", "must be the id of a rank")
    return value


def _edge(edge: Any, topology: Topology, place: str, index: int) -> tuple[NodeId, ...]:
    return _path(edge, topology, f"{place}/edges/{index}")


def _path(path: Any, topology: Topology, place: str) -> tuple[NodeId, ...]:
    if not isinstance(path, list) or not 2 <= len(path) <= MAX_PATH:
        raise InvalidSchedule(place, f"must be a list of 2 to {MAX_PATH} node ids")
    for at, node in enumerate(path):
        if type(node) not in (int, str) or node not in topology.position:
            raise InvalidSchedule(f"{place}/{at}", "must be the id of a node")
    return tuple(path)


def _is_integer(value: Any, least: int, most: int = MAX_INTEGER) -> bool:
    return type(value) is int and least <= value <= most


def _integer(document: dict[str, Any], key: str, place: str, most: int = MAX_INTEGER) -> int:
    value = document.get(key)
    if not isinstance(value, int) or not _is_integer(value, 1, most):
        raise InvalidSchedule(f"{place}/{key}", f"must be an integer from 1 to {most}")
    return value


def _list(document: dict[str, Any], key: str, most: int, place: str) -> list[Any]:
    value = document.get(key)
    if not isinstance(value, list):
        raise InvalidSchedule(f"{place}/{key}", "must be a list")
    if len(value) > most:
        raise InvalidSchedule(f"{place}/{key}", f"must have at most {most} entries")
    return value


def _collective(document: dict[str, Any], place: str) -> Collective:
    value = document.get("collective")
    try:
        return Collective.of(value if isinstance(value, str) else "")
    except UnknownCollective as error:
        raise InvalidSchedule(f"{place}/collective", error.rule) from None


def _topology(document: dict[str, Any], place: str) -> str:
    value = document.get("topology")
    if not isinstance(value, str) or len(value) > 200:
        raise InvalidSchedule(f"{place}/topology", "must be a digest, a text such as sha256:...")
    return value
