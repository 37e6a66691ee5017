"""Schedules as compact bytes, for databases: lossless, no pickle.

Layout: `MAGIC`, then one zlib stream of (length of the header, 4 bytes little
endian; the header, JSON; the arrays named in it, in order, little endian).  Every
column of sends and every list of trees is an array of the narrowest integer type
that holds it.
"""

import json
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import InvalidSchedule
from topoloom.schedules.model.route_table import RouteTable, route_table
from topoloom.schedules.model.schedule import (
    SEND,
    Collective,
    RouteSchedule,
    Schedule,
    SequenceSchedule,
    StepSchedule,
    TreeSchedule,
)
from topoloom.schedules.model.tree_table import TreeTable, tree_table
from topoloom.synth.topology.topology import NodeId

MAGIC = b"topoloom schedule 1\n"
MAX_BYTES = 2**32
_TYPES = ("u1", "i1", "<u2", "<i2", "<u4", "<i4", "<i8")
_FIELDS = SEND.names or ()


def pack(schedule: Schedule) -> bytes:
    """Return the schedule as bytes; `unpack` gives it back.

    Raises:
        InvalidSchedule: A weight does not fit 64 bits.

    >>> from topoloom.schedules.model.schedule import Tree
    >>> trees = (Tree(0, 1, ((0, "s", 1),)), Tree(1, 1, ((1, "s", 0),)))
    >>> schedule = TreeSchedule(Collective.ALLGATHER, "sha256:0", (0, 1), 1, trees)
    >>> unpack(pack(schedule)) == schedule
    True
    """
    arrays: list[NDArray[Any]] = []
    header = _put(schedule, arrays)
    header["arrays"] = [[array.dtype.str, len(array)] for array in arrays]
    text = json.dumps(header).encode()
    packer = zlib.compressobj(1)
    pieces = [MAGIC, packer.compress(len(text).to_bytes(4, "little") + text)]
    pieces += [packer.compress(array.tobytes()) for array in arrays]
    return b"".join([*pieces, packer.flush()])


def unpack(data: bytes) -> Schedule:
    """Return the schedule that `pack` wrote.

    Raises:
        InvalidSchedule: The bytes are not the output of `pack`.
    """
    if not data.startswith(MAGIC):
        raise InvalidSchedule("", "must begin with the mark of a packed schedule")
    unpacker = zlib.decompressobj()
    try:
        raw = unpacker.decompress(data[len(MAGIC) :], MAX_BYTES)
        if not unpacker.eof or unpacker.unused_data:
            raise InvalidSchedule("", "must be one whole packed schedule")
        size = int.from_bytes(raw[:4], "little")
        header = json.loads(raw[4 : 4 + size])
        schedule = _take(header, _arrays(header["arrays"], raw, 4 + size))
    except InvalidSchedule:
        raise
    except (
        zlib.error,
        ArithmeticError,
        AttributeError,
        LookupError,
        RuntimeError,
        TypeError,
        ValueError,
    ) as error:
        # Foreign bytes can break any of the steps above in any of these ways.
        raise InvalidSchedule("", f"must be one whole packed schedule: {error}") from error
    return schedule


def _arrays(shapes: list[list[Any]], raw: bytes, offset: int) -> list[NDArray[Any]]:
    """Return the arrays, last first, so that callers pop them from the end."""
    arrays = []
    for name, count in shapes:
        if name.replace("|", "") not in _TYPES:
            raise InvalidSchedule("", f"{name!r} is not a type of packed arrays")
        array = np.frombuffer(raw, dtype=name, count=count, offset=offset)
        offset += array.nbytes
        arrays.append(array)
    if offset != len(raw):
        raise InvalidSchedule("", "must hold exactly the arrays of its header")
    return arrays[::-1]


def _put(schedule: Schedule, arrays: list[NDArray[Any]]) -> dict[str, Any]:
    head: dict[str, Any] = {"collective": str(schedule.collective), "topology": schedule.topology}
    if isinstance(schedule, SequenceSchedule):
        # Omitted if false, as in schedules from before this member existed.
        head |= {"together": True} if schedule.together else {}
        return {"kind": "sequence", "parts": [_put(part, arrays) for part in schedule.parts]} | head
    head["ranks"] = list(schedule.ranks)
    if isinstance(schedule, StepSchedule):
        sends = np.concatenate([np.zeros(0, dtype=SEND), *schedule.steps])
        arrays.append(_narrow([len(step) for step in schedule.steps]))
        arrays.extend(_narrow(sends[field]) for field in _FIELDS)
        return {"kind": "steps", "chunks_per_shard": schedule.chunks_per_shard} | head
    if isinstance(schedule, RouteSchedule):
        return _put_routes(schedule, arrays) | head
    table = tree_table(schedule.trees)
    lengths = np.diff(table.firsts), np.diff(table.starts)
    columns = (table.roots, table.weights, *lengths, table.nodes)
    arrays.extend(_narrow(column) for column in columns)
    # Omitted if empty, as in schedules from before these members existed.
    division = {"shards": list(schedule.shards), "idle": list(schedule.idle)}
    head |= {name: values for name, values in division.items() if values}
    names = {"nodes": list(table.names)}
    return {"kind": "trees", "trees_per_root": schedule.trees_per_root} | names | head


def _take(header: dict[str, Any], arrays: list[NDArray[Any]]) -> Schedule:
    collective, topology = Collective.of(header["collective"]), header["topology"]
    if header["kind"] == "sequence":
        parts = tuple(_take(part, arrays) for part in header["parts"])
        together = header.get("together", False)
        return SequenceSchedule(collective, topology, parts, together)  # type: ignore[arg-type]
    ranks = tuple(header["ranks"])
    if header["kind"] == "steps":
        ends = np.cumsum(arrays.pop(), dtype=np.int64)
        sends = np.zeros(int(ends[-1]) if len(ends) else 0, dtype=SEND)
        for field in _FIELDS:
            sends[field] = arrays.pop()
        steps = tuple(np.split(sends, ends[:-1])) if len(ends) else ()
        return StepSchedule(collective, topology, ranks, header["chunks_per_shard"], steps)
    if header["kind"] == "routes":
        return _take_routes(header, arrays)
    roots, weights, counts, lengths, path = (arrays.pop() for _ in range(5))
    names = _names(header, roots, path)
    starts = _starts(lengths, len(path))
    trees = TreeTable(names, roots, weights, _starts(counts, len(lengths)), starts, path)
    division = tuple(header.get("shards", ())), tuple(header.get("idle", ()))
    return TreeSchedule(collective, topology, ranks, header["trees_per_root"], trees, *division)


def _put_routes(schedule: RouteSchedule, arrays: list[NDArray[Any]]) -> dict[str, Any]:
    routes = schedule.routes
    names = tuple(dict.fromkeys(node for route in routes for node in route.path))
    if isinstance(routes, RouteTable):
        names = routes.names
    table = route_table(routes, names)
    columns = (table.weights, np.diff(table.starts), table.nodes)
    arrays.extend(_narrow(column) for column in columns)
    idle = {"idle": list(schedule.idle)} if schedule.idle else {}
    units = schedule.units_per_pair
    return {"kind": "routes", "units_per_pair": units, "nodes": list(names)} | idle


def _take_routes(header: dict[str, Any], arrays: list[NDArray[Any]]) -> RouteSchedule:
    weights, lengths, path = (arrays.pop() for _ in range(3))
    names, starts = _names(header, path), _starts(lengths, len(path))
    routes = RouteTable(names, path, starts, weights.astype(np.int64))
    return RouteSchedule(
        Collective.of(header["collective"]),
        header["topology"],
        tuple(header["ranks"]),
        header["units_per_pair"],
        routes,
        tuple(header.get("idle", ())),
    )


def _names(header: dict[str, Any], *used: NDArray[Any]) -> tuple[NodeId, ...]:
    names = tuple(header["nodes"])
    if any(len(one) and not 0 <= one.min() <= one.max() < len(names) for one in used):
        raise InvalidSchedule("", "must name nodes that are there")
    return names


def _starts(lengths: NDArray[Any], whole: int) -> NDArray[np.int64]:
    starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    if (lengths < 0).any() or starts.min() < 0 or starts[-1] != whole:
        raise InvalidSchedule("", "must have the edges and nodes that it counts")
    return starts


def _narrow(values: Any) -> NDArray[Any]:
    try:
        array = np.asarray(values, dtype=np.int64)
    except OverflowError as error:
        raise InvalidSchedule("/trees", "every weight must fit 64 bits") from error
    low, high = (int(array.min()), int(array.max())) if len(array) else (0, 0)
    for name in _TYPES:
        limits = np.iinfo(name)
        if limits.min <= low and high <= limits.max:
            return array.astype(name)
    return array
