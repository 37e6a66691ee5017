"""From an allgather on G to one on its line graph.

Nodes of the line graph are the links of G.  Let out(x) and in(x) be the links out of and
into node x of G, d each.

*First step.*  Every link e into x sends its shard to every f in out(x): the shards of in(x)
come in over the d links into f, one each.

*Then as G does.*  The shards of in(v), laid end to end, stand for the shard of v.  When G sends a
part of it from w to x over link e, now e sends that part of them to every f in out(x).
After the first step out(v) holds all shards of in(v), as v holds its own in G; by induction
out(x) holds of them what x holds of the shard of v.  Every link is in in(v) for one v only,
so nothing comes twice, but that f would get its own shard: that send is left out.

A part of the shard of v may stand for the same part of each shard of in(v).  Or they are laid
end to end: C chunks of the shard of v are d shards, so C / gcd(C, d) chunks of each suffice.
The first spreads more evenly what f need not get, and is done unless all links are two-way,
where by the theorem of `synth.recipes.expansions.line_graph` the heaviest links carry all the same.

*Cost.*  One more step, of load 1; every other carries d times as much as in G, among d
times as many ranks: bandwidth(G) + 1 / N.  It is less only where leaving out a rank's own
shard lightens every heaviest link of a step.
"""

from math import gcd
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.model.schedule import NO_LINK, StepSchedule
from topoloom.schedules.steps.send_arrays import require_room, schedule_of, sends
from topoloom.synth.topology.topology import Topology

__all__ = ["lift"]


def lift(base: StepSchedule, forward: Topology, turned: bool) -> StepSchedule:
    """Return the lifted allgather.

    Parameters
    ----------
    base : StepSchedule
        An allgather on ``forward``, or on its transpose if ``turned``.
    forward : Topology
        Regular.  Its links in their order are the nodes of the line graph, whichever way
        they are passed.
    turned : bool
        Lift to the transpose of the line graph, the line graph of the transpose.
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
    require_room(links * degree + degree * sum(len(part.send) for part in parts))
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
    return schedule_of(links, chunks, steps)


class _Parts(NamedTuple):
    """What sends of G carry, as parts of the shards that stand for one of G."""

    send: NDArray[np.intp]
    """Index of the send."""
    place: NDArray[np.intp]
    """Which of the shards laid end to end."""
    first: NDArray[np.int64]
    length: NDArray[np.int64]


def _alike(step: NDArray[Any], degree: int) -> _Parts:
    """Take of each of the ``degree`` shards what every send carries of one."""
    send, place = np.repeat(np.arange(len(step)), degree), np.tile(np.arange(degree), len(step))
    return _Parts(
        send, place, step["first"][send].astype(np.int64), step["count"][send].astype(np.int64)
    )


def _end_to_end(step: NDArray[Any], degree: int, chunks: int, grain: int) -> _Parts:
    """Cut what every send carries where one of the ``degree`` shards ends.

    ``grain`` chunks of them, ``chunks`` each, stand for a chunk of the shard in G.
    """
    ends = np.arange(degree + 1) * chunks
    first = step["first"].astype(np.int64)[:, None] * grain
    last = first + step["count"][:, None] * grain
    low, high = np.maximum(first, ends[:-1]), np.minimum(last, ends[1:])
    send, place = np.nonzero(low < high)
    return _Parts(send, place, low[send, place] - ends[place], high[send, place] - low[send, place])


def _passed(step: NDArray[Any], forward: Topology, turned: bool) -> NDArray[np.int64]:
    """Return which link of ``forward`` every send goes over."""
    ends = (step["target"], step["source"]) if turned else (step["source"], step["target"])
    keys = forward.sources.astype(np.int64) * forward.node_count + forward.targets
    first = np.searchsorted(keys, ends[0].astype(np.int64) * forward.node_count + ends[1])
    return first + np.maximum(step["link"], 0)
