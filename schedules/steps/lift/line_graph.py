"""Lift an allgather on G to the line graph of G.

Nodes of the line graph are the links of G.  Let out(x) and in(x) be the links out of and
into node x of G, d each.

*First step.*  Every link e into x sends its shard to every f in out(x): the shards of in(x)
arrive over the d links into f, one each.

*Other steps.*  The shards of in(v), laid end to end, represent the shard of v.  When G sends a
part of the shard from w to x over link e, e sends the same part of them to every f in out(x).
After the first step out(v) holds all shards of in(v), as v holds its own in G.  By induction
out(x) holds the parts that x holds of the shard of v.  Every link is in in(v) for one v only,
so nothing arrives twice, except the shard of f itself: that send is dropped.

A part of the shard of v may represent the same part of each shard of in(v).  Alternatively the
shards lie end to end: C chunks of the shard of v are d shards, so C / gcd(C, d) chunks of each
suffice.  The first mapping spreads the dropped sends more evenly.  It is used unless all links
are two-way; then all heaviest links carry the same load by the theorem of
`synth.recipes.expansions.line_graph`.

*Cost.*  One more step, of load 1; every other step carries d times as much as in G, among d
times as many ranks: bandwidth(G) + 1 / N.  The cost is less only where dropping a rank's own
shard reduces the load of every heaviest link of a step.
"""

from math import gcd
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.model.schedule import NO_LINK, StepSchedule
from topoloom.schedules.steps.send_arrays import allgather_from_sends, require_send_limit, sends
from topoloom.synth.topology.topology import Topology


def lift(base: StepSchedule, forward: Topology, turned: bool) -> StepSchedule:
    """Return the lifted allgather.

    Args:
        base: An allgather on ``forward``, or on its transpose if ``turned``.
        forward: Regular.  Its links, in order and in either direction, are the nodes of the line
            graph.
        turned: Lift to the transpose of the line graph, the line graph of the transpose.
    """
    nodes, degree, links = forward.node_count, forward.degree, forward.link_count
    leaving = np.arange(links).reshape(nodes, degree)
    entering = np.argsort(forward.targets, kind="stable").reshape(nodes, degree)
    if turned:
        leaving, entering = entering, leaving
    chunks = base.chunks_per_shard
    end_to_end = nodes > 2 and forward.is_bidirectional
    if end_to_end:
        chunks //= gcd(chunks, degree)
    steps = [
        [sends(entering[:, :, None], leaving[:, None, :], entering[:, :, None], 0, chunks, NO_LINK)]
    ]
    grain = degree * chunks // base.chunks_per_shard
    parts = [
        _end_to_end(step, degree, chunks, grain) if end_to_end else _alike(step, degree)
        for step in base.steps
    ]
    require_send_limit(links * degree + degree * sum(len(part.send) for part in parts))
    for step, (send, place, first, length) in zip(base.steps, parts, strict=True):
        made = sends(
            _passed(step, forward, turned)[send][:, None],
            leaving[step["target"][send]],
            entering[step["shard"][send], place][:, None],
            first[:, None],
            length[:, None],
            NO_LINK,
        )
        steps.append([made[made["shard"] != made["target"]]])
    return allgather_from_sends(links, chunks, steps)


class _Parts(NamedTuple):
    """The parts of shards in the line graph that a send of G represents."""

    send: NDArray[np.intp]
    """Index of the send in G."""
    place: NDArray[np.intp]
    """Index among the shards laid end to end."""
    first: NDArray[np.int64]
    length: NDArray[np.int64]


def _alike(step: NDArray[Any], degree: int) -> _Parts:
    """Return the same part of each of the ``degree`` shards for every send."""
    send, place = np.repeat(np.arange(len(step)), degree), np.tile(np.arange(degree), len(step))
    return _Parts(
        send, place, step["first"][send].astype(np.int64), step["count"][send].astype(np.int64)
    )


def _end_to_end(step: NDArray[Any], degree: int, chunks: int, grain: int) -> _Parts:
    """Cut the range of every send where one of the ``degree`` shards ends.

    ``grain`` chunks of these shards, ``chunks`` per shard, represent one chunk of the shard in G.
    """
    ends = np.arange(degree + 1) * chunks
    first = step["first"].astype(np.int64)[:, None] * grain
    last = first + step["count"][:, None] * grain
    low, high = np.maximum(first, ends[:-1]), np.minimum(last, ends[1:])
    send, place = np.nonzero(low < high)
    return _Parts(send, place, low[send, place] - ends[place], high[send, place] - low[send, place])


def _passed(step: NDArray[Any], forward: Topology, turned: bool) -> NDArray[np.int64]:
    """Return the link of ``forward`` that every send uses."""
    ends = (step["target"], step["source"]) if turned else (step["source"], step["target"])
    keys = forward.sources.astype(np.int64) * forward.node_count + forward.targets
    first = np.searchsorted(keys, ends[0].astype(np.int64) * forward.node_count + ends[1])
    return first + np.maximum(step["link"], 0)
