"""From an allgather on G to one on its line graph.

Nodes of the line graph are the links of G.  Let out(x) and in(x) be the links out of and
into node x of G, d each.

*First step.*  Every link e into x sends its shard to every f in out(x): the shards of in(x)
come in over the d links into f, one each.

*Then as G does.*  When G sends chunks of the shard of v from w to x over link e, now e sends
the same chunks of the shards of all of in(v) to every f in out(x).  After the first step
out(v) holds the shards of in(v), as v holds its own in G; by induction out(x) holds those
of in(v) from the step on after which x holds that of v.  Every link is in in(v) for one v
only, so nothing comes twice, but that f would get its own shard: that send is left out.

*Cost.*  One more step, of load 1; every other carries d times as much as in G, among d
times as many ranks: bandwidth(G) + 1 / N.  It is less only where leaving out a rank's own
shard lightens every heaviest link of a step.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedules.lift.sends import require_room, schedule_of, sends
from schedules.model import NO_LINK, StepSchedule
from synth.topology import Topology

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
    sizes = [degree * degree * len(step) for step in base.steps]
    require_room(links * degree + sum(sizes))
    leaving = np.arange(links).reshape(nodes, degree)
    entering = np.argsort(forward.targets, kind="stable").reshape(nodes, degree)
    if turned:
        leaving, entering = entering, leaving
    chunks = base.chunks_per_shard
    steps = [
        [sends(entering[:, :, None], leaving[:, None, :], entering[:, :, None], 0, chunks, NO_LINK)]
    ]
    for step in base.steps:
        passed = _passed(step, forward, turned)[:, None, None]
        made = sends(
            passed,
            leaving[step["target"]][:, :, None],
            entering[step["shard"]][:, None, :],
            step["first"][:, None, None],
            step["count"][:, None, None],
            NO_LINK,
        )
        steps.append([made[made["shard"] != made["target"]]])
    return schedule_of(links, chunks, steps)


def _passed(step: NDArray[Any], forward: Topology, turned: bool) -> NDArray[np.int64]:
    """Return which link of ``forward`` every send goes over."""
    ends = (step["target"], step["source"]) if turned else (step["source"], step["target"])
    keys = forward.sources.astype(np.int64) * forward.node_count + forward.targets
    first = np.searchsorted(keys, ends[0].astype(np.int64) * forward.node_count + ends[1])
    return first + np.maximum(step["link"], 0)
