"""Lift an allgather on G to the degree expansion of G by n.

Copy i of node v is v_i; a link u -> v of G becomes u_i -> v_j for all i and j.

*Sends of G.*  When G sends chunks of the shard of v from w to x, w_i sends the same chunks
of the shard of v_i to every x_j.  Every x_j holds the same chunks of every v_i as x holds of v
in G; v_i holds its own shard.  Each link carries as much as its link of G.

*Copies.*  Every rank still lacks the shards of the n - 1 other copies of its node.  Once all
neighbors with a link into v hold the shard of v in G, for every v, their copies hold the shards of
all v_i.  In the next step these shards are laid end to end and cut into equal shares for the n d
links into v_i: a load of (n - 1) / (n d) on each link.

*Cost.*  bandwidth(G) + (n - 1) / (n N) for every regular G.  With two-way links the neighbors
of v hold its shard after the first step of a breadth-first broadcast: the copies arrive in the
second step, and there are max(steps(G), 2) steps.  On other graphs the copies arrive at the latest
in the step after the last of G.
"""

from math import gcd, lcm

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.model.schedule import StepSchedule
from topoloom.schedules.steps.bfb import parallel_index
from topoloom.schedules.steps.send_arrays import (
    allgather_from_sends,
    arrivals,
    require_send_limit,
    sends,
)
from topoloom.synth.topology.topology import Topology


def lift(base: StepSchedule, topology: Topology, factor: int) -> StepSchedule:
    """Return the allgather on the expansion of the base topology by ``factor``, at least 2."""
    nodes, degrees = topology.node_count, sorted(set(topology.in_degrees.tolist()))
    copies = topology.link_count * factor**2 + nodes * factor**2
    require_send_limit(factor**2 * sum(len(step) for step in base.steps) + copies)
    # Each link into v_i takes C (n - 1) / (n d) chunks, a whole number.
    grain = lcm(
        *(factor * d // gcd(factor * d, base.chunks_per_shard * (factor - 1)) for d in degrees)
    )
    chunks = base.chunks_per_shard * grain
    meeting = 1 + int(arrivals(base).step[topology.sources, topology.targets].max())
    copy = np.arange(factor) * nodes
    steps: list[list[NDArray[np.void]]] = [[] for _ in range(max(len(base.steps), meeting))]
    for number, step in enumerate(base.steps):
        across = {name: step[name][:, None, None] for name in step.dtype.names or ()}
        made = sends(
            across["source"] + copy[:, None],
            across["target"] + copy,
            across["shard"] + copy[:, None],
            across["first"] * grain,
            across["count"] * grain,
            across["link"],
        )
        steps[number].append(made)
    steps[meeting - 1] += [_copies(topology, degree, factor, chunks) for degree in degrees]
    return allgather_from_sends(nodes * factor, chunks, steps)


def _copies(topology: Topology, degree: int, factor: int, chunks: int) -> NDArray[np.void]:
    """Return the sends of the shards of the other copies to every copy of a node.

    The nodes have in-degree ``degree`` in the base graph.
    """
    by_target = np.argsort(topology.targets, kind="stable")
    at = topology.in_degrees[topology.targets[by_target]] == degree
    entering = by_target[at].reshape(-1, degree)
    share = chunks * (factor - 1) // (factor * degree)
    cuts = np.union1d(np.arange(factor * degree + 1) * share, np.arange(factor) * chunks)
    low, lane = cuts[:-1], cuts[:-1] // share
    copy, other = np.arange(factor)[:, None], low // chunks
    links = entering[:, None, lane // factor]
    node = topology.targets[entering[:, :1]].astype(np.int64)[:, :, None]
    return sends(
        topology.sources[links] + topology.node_count * (lane % factor),
        node + topology.node_count * copy,
        # The other copies, in order.
        node + topology.node_count * (other + (other >= copy)),
        low % chunks,
        np.diff(cuts),
        parallel_index(topology)[links],
    )
