"""Write schedule/1, the JSON format of schedules, also as a stream.

The document names nodes by their ids.  The order of ranks is that of the topology, which the
document names by its digest.  `read` reads the document; `binary` is the compact form for
databases.
"""

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from topoloom.schedules.errors import InvalidSchedule
from topoloom.schedules.formats.schedule.program import OPS
from topoloom.schedules.model.schedule import (
    NO_LINK,
    RouteSchedule,
    Schedule,
    SequenceSchedule,
    StepSchedule,
    TreeSchedule,
)
from topoloom.schedules.model.tree_table import TreeTable, tree_table

_SENDS_PER_PIECE = 8192


def write(schedule: Schedule) -> Iterator[str]:
    """Yield the text of the schedule/1 document in pieces of bounded size.

    The parts of a sequence are whole documents themselves.  ``link`` is omitted for single links.
    About a microsecond per send.

    >>> from topoloom.schedules.model.schedule import Collective
    >>> "".join(write(StepSchedule(Collective.ALLGATHER, "sha256:0", (0,), 1, ())))[:45]
    '{"schema": "schedule/1", "kind": "steps", "co'
    """
    yield json.dumps(_head(schedule))[:-1]
    if isinstance(schedule, SequenceSchedule):
        yield ', "parts": ['
        for index, part in enumerate(schedule.parts):
            yield ", " if index else ""
            yield from write(part)
    elif isinstance(schedule, TreeSchedule):
        yield ', "trees": ['
        for index, text in enumerate(_tree_texts(tree_table(schedule.trees))):
            yield ", " if index else ""
            yield text
    elif isinstance(schedule, RouteSchedule):
        yield ', "routes": ['
        yield from _routes_text(schedule)
    else:
        yield ', "steps": ['
        names = [json.dumps(rank) for rank in schedule.ranks]
        for index, step in enumerate(schedule.steps):
            yield ", [" if index else "["
            for start in range(0, len(step), _SENDS_PER_PIECE):
                yield ", " if start else ""
                yield _sends_text(names, step[start : start + _SENDS_PER_PIECE])
            yield "]"
    yield "]}"


def _tree_texts(table: TreeTable) -> Iterator[str]:
    """Yield the trees, joined from texts of nodes: two million edges take half a second."""
    if not np.diff(table.starts).all():
        for tree in table:
            yield json.dumps({"root": tree.root, "weight": tree.weight, "edges": tree.edges})
        return
    names = [json.dumps(name) for name in table.names]
    # A node inside its edge, first, last, and both.
    forms = ("{}, ", "[{}, ", "{}], ", "[{}], ")
    texts = np.array([form.format(name) for form in forms for name in names], object)
    for block in table.blocks():
        firsts = table.firsts[block.start : block.stop + 1]
        starts = table.starts[firsts[0] : firsts[-1] + 1]
        nodes, starts = table.nodes[starts[0] : starts[-1]], starts - starts[0]
        form = np.zeros(len(nodes), np.int64)
        form[starts[:-1]] += 1
        form[starts[1:] - 1] += 2
        told, ends = texts[form * len(names) + nodes], starts[firsts - firsts[0]].tolist()
        own = zip(table.roots[block].tolist(), table.weights[block].tolist(), strict=True)
        for (root, weight), (low, high) in zip(own, pairwise(ends), strict=True):
            edges = "".join(told[low:high].tolist())[:-2]
            yield f'{{"root": {names[root]}, "weight": {weight}, "edges": [{edges}]}}'


def _routes_text(schedule: RouteSchedule) -> Iterator[str]:
    """Yield the routes in batches: a million routes take a few seconds."""
    names: dict[Any, str] = {}
    told: list[str] = []
    between = ""
    for route in schedule.routes:
        for node in route.path:
            if node not in names:
                names[node] = json.dumps(node)
        path = ", ".join([names[node] for node in route.path])
        told.append(f'{{"path": [{path}], "weight": {route.weight}}}')
        if len(told) == _SENDS_PER_PIECE:
            yield between + ", ".join(told)
            told.clear()
            between = ", "
    if told:
        yield between + ", ".join(told)


def _head(schedule: Schedule) -> dict[str, Any]:
    head: dict[str, Any] = {"schema": "schedule/1", "kind": "sequence"}
    common = {"collective": str(schedule.collective), "topology": schedule.topology}
    if isinstance(schedule, StepSchedule):
        _require_ranks(schedule)
        return head | {"kind": "steps"} | common | {"chunks_per_shard": schedule.chunks_per_shard}
    if isinstance(schedule, TreeSchedule):
        total = {"trees_per_root": schedule.trees_per_root}
        return head | {"kind": "trees"} | common | total | _division(schedule)
    if isinstance(schedule, RouteSchedule):
        units = {"units_per_pair": schedule.units_per_pair}
        return head | {"kind": "routes"} | common | units | _participants(schedule)
    return head | common | ({"together": True} if schedule.together else {})


def _division(schedule: TreeSchedule) -> dict[str, Any]:
    """Return shards and idle nodes, unless all compute nodes have equal shards."""
    division: dict[str, Any] = {}
    if schedule.collective.has_root:
        if schedule.root is None:
            raise InvalidSchedule("/root", "must be the only rank with a shard, of size 1")
        division["root"] = schedule.root
    elif schedule.shards:
        pairs = zip(schedule.ranks, schedule.shards, strict=True)
        division["shards"] = [{"rank": rank, "size": size} for rank, size in pairs if size]
    return division | _participants(schedule)


def _participants(schedule: TreeSchedule | RouteSchedule) -> dict[str, Any]:
    return {"participants": list(schedule.ranks)} if schedule.idle else {}


def _require_ranks(schedule: StepSchedule) -> None:
    for index, step in enumerate(schedule.steps):
        for field in ("source", "target", "shard"):
            if len(step) and not 0 <= step[field].min() <= step[field].max() < len(schedule.ranks):
                raise InvalidSchedule(f"/steps/{index}", f"every {field} must be a rank")
        if len(step) and step["op"].max() >= len(OPS):
            raise InvalidSchedule(f"/steps/{index}", "every op must be copy or reduce")


def _sends_text(names: list[str], sends: Any) -> str:
    return ", ".join(
        [
            f'{{"source": {names[source]}, "target": {names[target]}, "shard": {names[shard]}, '
            f'"first": {first}, "count": {count}, "op": "{OPS[op]}"'
            + ("}" if link == NO_LINK else f', "link": {link}}}')
            for source, target, shard, first, count, link, op in sends.tolist()
        ]
    )
