"""Read schedule/1: from untrusted JSON to a `Schedule`, or one clear error.

A returned schedule has the right types, names only nodes of the topology and stays within the
limits of `program`.  `schedules.verify` checks whether the schedule is valid.
"""

from array import array
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import InvalidSchedule
from topoloom.schedules.formats.schedule import fields
from topoloom.schedules.formats.schedule.program import (
    MAX_EDGES,
    MAX_INTEGER,
    MAX_PARTS,
    MAX_ROUTE_NODES,
    MAX_SENDS,
    MAX_STEPS,
    MAX_WEIGHT,
    OPS,
)
from topoloom.schedules.model.route_table import RouteTable
from topoloom.schedules.model.schedule import (
    NO_LINK,
    SEND,
    Collective,
    RouteSchedule,
    Schedule,
    SequenceSchedule,
    StepSchedule,
    Tree,
    TreeSchedule,
)
from topoloom.synth.topology.topology import NodeId, Topology

_OP_CODES = {name: code for code, name in enumerate(OPS)}


def from_document(document: Any, topology: Topology) -> Schedule:
    """Return the schedule that a schedule/1 document describes.

    Args:
        document: The parsed JSON; unknown keys are ignored.
        topology: Defines the order of the ranks.  Its digest is not compared here; the checker
            reports a document that names another topology.

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
    topoloom.schedules.errors.InvalidSchedule: /steps/0/0/target: must be the id of a compute node
    """
    if not isinstance(document, dict):
        raise InvalidSchedule("", "must be a JSON object with schema schedule/1")
    if document.get("schema") != "schedule/1":
        raise InvalidSchedule("/schema", 'must be "schedule/1"')
    if document.get("kind") == "routes":
        return _routes(document, topology)
    if document.get("kind") != "sequence":
        return _single(document, topology, "")
    parts = fields.entries(document, "parts", MAX_PARTS, "")
    return SequenceSchedule(
        fields.collective(document, ""),
        fields.digest(document, ""),
        tuple(_single(part, topology, f"/parts/{index}") for index, part in enumerate(parts)),
        fields.boolean(document, "together", ""),
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
    chunks = fields.integer(document, "chunks_per_shard", place)
    steps = fields.entries(document, "steps", MAX_STEPS, place)
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
        fields.collective(document, place),
        fields.digest(document, place),
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
        # Types first: True and 1.0 would be accepted as the id 1.
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
            _blame(column, partial(fields.is_integer, least=least), place, field, rule)
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
    total = fields.integer(document, "trees_per_root", place, MAX_WEIGHT)
    trees = fields.entries(document, "trees", MAX_EDGES, place)
    left = MAX_EDGES
    made = []
    for index, tree in enumerate(trees):
        here = f"{place}/trees/{index}"
        if not isinstance(tree, dict):
            raise InvalidSchedule(here, "must be an object with root, weight and edges")
        root = tree.get("root")
        if type(root) not in (int, str) or root not in topology.position:
            raise InvalidSchedule(f"{here}/root", "must be the id of a node")
        edges = fields.entries(tree, "edges", left, here)
        left -= len(edges)
        paths = tuple(
            fields.path(edge, topology, f"{here}/edges/{at}") for at, edge in enumerate(edges)
        )
        made.append(Tree(root, fields.integer(tree, "weight", here, MAX_WEIGHT), paths))
    collective = fields.collective(document, place)
    ranks = topology.compute_nodes
    if "participants" in document:
        ranks = _participants(document, topology, place)
    taking_part = set(ranks)
    return TreeSchedule(
        collective,
        fields.digest(document, place),
        ranks,
        total,
        tuple(made),
        shards=_shards(document, collective, ranks, place),
        idle=tuple(node for node in topology.compute_nodes if node not in taking_part),
    )


def _routes(document: dict[str, Any], topology: Topology) -> RouteSchedule:
    routes = fields.entries(document, "routes", MAX_EDGES, "")
    place, nodes, starts, weights = topology.position, array("i"), array("q", [0]), array("q")
    for index, route in enumerate(routes):
        here = f"/routes/{index}"
        if not isinstance(route, dict):
            raise InvalidSchedule(here, "must be an object with path and weight")
        path = fields.path(route.get("path"), topology, f"{here}/path")
        nodes.extend(place[node] for node in path)
        if len(nodes) > MAX_ROUTE_NODES:
            raise InvalidSchedule("/routes", f"must pass at most {MAX_ROUTE_NODES} nodes in all")
        starts.append(len(nodes))
        weights.append(fields.integer(route, "weight", here, MAX_WEIGHT))
    table = RouteTable(
        topology.nodes,
        np.array(nodes, np.int32),
        np.array(starts, np.int64),
        np.array(weights, np.int64),
    )
    units = fields.integer(document, "units_per_pair", "", MAX_WEIGHT)
    ranks = topology.compute_nodes
    if "participants" in document:
        ranks = _participants(document, topology, "")
    taking_part = set(ranks)
    return RouteSchedule(
        fields.collective(document, ""),
        fields.digest(document, ""),
        ranks,
        units,
        table,
        tuple(node for node in topology.compute_nodes if node not in taking_part),
    )


def _participants(document: dict[str, Any], topology: Topology, place: str) -> tuple[NodeId, ...]:
    named = fields.entries(document, "participants", len(topology.compute_nodes), place)
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
    """Return the sizes of the shards; empty if the document has none."""
    if collective.has_root:
        return _sizes([(fields.rank(document, "root", ranks, place), 1)], ranks)
    if "shards" not in document:
        return ()
    found: dict[NodeId, int] = {}
    for index, shard in enumerate(fields.entries(document, "shards", len(ranks), place)):
        here = f"{place}/shards/{index}"
        if not isinstance(shard, dict):
            raise InvalidSchedule(here, "must be an object with rank and size")
        rank = fields.rank(shard, "rank", ranks, here)
        if rank in found:
            raise InvalidSchedule(f"{here}/rank", "must not be named twice")
        found[rank] = fields.integer(shard, "size", here, MAX_WEIGHT)
    if not found:
        raise InvalidSchedule(f"{place}/shards", "must hold the shard of a rank")
    return _sizes(list(found.items()), ranks)


def _sizes(shards: list[tuple[NodeId, int]], ranks: tuple[NodeId, ...]) -> tuple[int, ...]:
    sizes = dict.fromkeys(ranks, 0) | dict(shards)
    return tuple(sizes.values())
