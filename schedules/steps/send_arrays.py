"""Arrays of sends, arrival steps and complete schedules: common parts of all lifts."""

from collections.abc import Sequence
from dataclasses import replace
from math import gcd
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import TooLarge
from topoloom.schedules.model.schedule import COPY, SEND, Collective, StepSchedule
from topoloom.schedules.steps.bfb import MAX_CHUNKS, MAX_SENDS
from topoloom.synth.topology.topology import Topology

_NONE = np.zeros(0, SEND)


class Arrivals(NamedTuple):
    """Steps in which shards are complete; see `arrivals`."""

    step: NDArray[np.int64]
    """(rank, shard): the step, from 1, after which the rank holds the shard; 0 for its own."""
    together: bool
    """Whether all chunks of a shard arrive at a rank in the same step."""


def arrivals(schedule: StepSchedule) -> Arrivals:
    """Return the step in which every rank receives the last chunk of every shard; O(sends)."""
    ranks = len(schedule.ranks)
    step, together = np.zeros((ranks, ranks), np.int64), True
    for number, sent in enumerate(schedule.steps, start=1):
        place = sent["target"], sent["shard"]
        together = together and not step[place].any()
        step[place] = number
    return Arrivals(step, together)


def sends(
    source: Any, target: Any, shard: Any, first: Any, count: Any, link: Any
) -> NDArray[np.void]:
    """Return COPY sends as a flat array of dtype `SEND`; the columns are broadcast.

    >>> sends(np.array([[0], [1]]), 2, np.array([3, 4]), 0, 1, -1)["shard"].tolist()
    [3, 4, 3, 4]
    """
    columns = (source, target, shard, first, count, link)
    made = np.zeros(np.broadcast_shapes(*(np.shape(column) for column in columns)), SEND)
    for name, column in zip(SEND.names or (), columns, strict=False):
        made[name] = column
    made["op"] = COPY
    return made.ravel()


def allgather_from_sends(
    nodes: int, chunks: int, steps: Sequence[Sequence[NDArray[np.void]]]
) -> StepSchedule:
    """Return an allgather of ranks 0 .. nodes - 1 from pieces of its steps, not yet normalized.

    Steps without sends are dropped.
    """
    require_chunk_limit(chunks)
    joined = [np.concatenate([_NONE, *pieces]) for pieces in steps]
    filled = tuple(step for step in joined if len(step))
    return StepSchedule(Collective.ALLGATHER, "", tuple(range(nodes)), chunks, filled)


def normalized_schedule(schedule: StepSchedule, topology: Topology) -> StepSchedule:
    """Return the schedule on a topology, with sorted sends and the fewest equivalent chunks."""
    common = schedule.chunks_per_shard
    for step in schedule.steps:
        common = gcd(common, int(np.gcd.reduce(step["first"])), int(np.gcd.reduce(step["count"])))
    chunks, nodes = schedule.chunks_per_shard // common, topology.node_count
    ordered = []
    for step in schedule.steps:
        # A rank receives each chunk once: keys are distinct.  Keys fit 54 bits.
        key = (step["target"].astype(np.int64) * nodes + step["shard"]) * (chunks + 1)
        sent = step[np.argsort(key + step["first"] // common, kind="stable")]
        sent["first"] //= common
        sent["count"] //= common
        ordered.append(sent)
    return replace(
        schedule,
        topology=topology.digest,
        ranks=topology.nodes,
        chunks_per_shard=chunks,
        steps=tuple(ordered),
    )


def require_send_limit(count: int) -> None:
    """Raise TooLarge if a number of sends exceeds the limit."""
    if count > MAX_SENDS:
        raise TooLarge("/topology", f"needs {count} sends; at most {MAX_SENDS}")


def require_chunk_limit(count: int) -> None:
    """Raise TooLarge if a number of chunks per shard exceeds the limit."""
    if count > MAX_CHUNKS:
        raise TooLarge("/topology", f"needs {count} chunks per shard; at most {MAX_CHUNKS}")
