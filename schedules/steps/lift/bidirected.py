"""Lift allgathers on a graph and on its transpose to the union of both.

Half of every shard follows the schedule on the graph and half that on the transpose, at the same
time: twice the links carry half as much each.  Let L(t) and L'(t) be the loads of the steps of
the two schedules, in shards per link.  The bandwidth is at most 2 d / N times the sum of
max(L(t), L'(t)) / 2 where no link of the graph has a partner in the other direction.  Partnered
links carry both halves over fewer ports.  The bandwidth may then be up to twice this sum, and
breadth-first broadcast on the union may cost less.
"""

from itertools import zip_longest
from math import lcm

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.model.schedule import StepSchedule
from topoloom.schedules.steps.bfb import parallel_index
from topoloom.schedules.steps.send_arrays import allgather_from_sends, require_send_limit, sends
from topoloom.synth.topology.topology import Topology

_NO_SENDS = sends(*(np.zeros(0, np.int64) for _ in range(6)))


def lift(there: StepSchedule, back: StepSchedule, whole: Topology) -> StepSchedule:
    """Return the allgather on ``whole``, from one on a graph and one on its transpose."""
    require_send_limit(sum(len(step) for part in (there, back) for step in part.steps))
    half = lcm(there.chunks_per_shard, back.chunks_per_shard)
    steps = []
    for pair in zip_longest(there.steps, back.steps, fillvalue=_NO_SENDS):
        pieces = []
        for part, step, offset in zip((there, back), pair, (0, half), strict=True):
            grain = half // part.chunks_per_shard
            pieces.append(_renamed(step, whole, grain, offset))
        steps.append(pieces)
    return allgather_from_sends(whole.node_count, 2 * half, steps)


def _renamed(step: NDArray[np.void], whole: Topology, grain: int, offset: int) -> NDArray[np.void]:
    """Return sends with chunks ``grain`` times as fine, over the same links of ``whole``.

    Parallel links keep their index; a link that was single may have parallel links in ``whole``.
    """
    keys = whole.sources.astype(np.int64) * whole.node_count + whole.targets
    pair = step["source"].astype(np.int64) * whole.node_count + step["target"]
    link = np.searchsorted(keys, pair) + np.maximum(step["link"], 0)
    return sends(
        step["source"],
        step["target"],
        step["shard"],
        step["first"] * grain + offset,
        step["count"] * grain,
        parallel_index(whole)[link],
    )
