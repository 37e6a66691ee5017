"""The kernel that divides one destination's arrivals among its links, in whole chunks."""

from typing import Any

import numpy as np
from numba import njit

from topoloom.synth.evaluation.bfs_broadcast import towards
from topoloom.synth.evaluation.load_balance import spread
from topoloom.synth.kernels.scalars import int64

COLUMNS = ("step", "source", "target", "shard", "first", "count", "link")
"""Columns of a buffer row; ``link`` indexes ``Topology.links``."""


@njit(cache=True, nogil=True)
def arrivals(
    links: Any, goal: int, chunks: int, limits: Any, found: Any, memory: Any, buffer: Any
) -> int:
    """Write the sends into ``goal`` to the int32 ``buffer``; return their number.

    ``limits[t]`` chunks per link suffice in step t.  The buffer has at least as many rows as
    nodes times links into ``goal``.
    """
    steps = towards(links, goal, found)
    degree = links.start[goal + 1] - links.start[goal]
    rows = int64(0)
    for step in range(1, steps + 1):
        low, high = found.level[step], found.level[step + 1]
        nodes = np.sort(found.order[low:high])
        bits = found.mask[nodes]
        # Sources with equal masks are adjacent and stay in order.
        order = np.argsort(bits, kind="mergesort")
        starts = np.empty(len(order) + 1, np.int64)
        masks = np.empty(len(order), np.int64)
        groups = 0
        for index in range(len(order)):
            if index == 0 or bits[order[index]] != bits[order[index - 1]]:
                starts[groups] = index
                masks[groups] = bits[order[index]]
                groups += 1
        starts[groups] = len(order)
        memory.limits[:degree] = limits[step]
        memory.supplies[:groups] = (starts[1 : groups + 1] - starts[:groups]) * chunks
        spread(masks, memory.supplies, groups, memory.limits, degree, memory)
        for group in range(groups):
            shards = nodes[order[starts[group] : starts[group + 1]]]
            rows = _cut(links, goal, step, chunks, shards, memory.flow[group], buffer, rows)
    return rows


@njit(cache=True, nogil=True)
def _cut(
    links: Any, goal: int, step: int, chunks: int, shards: Any, flow: Any, buffer: Any, rows: int
) -> int:
    """Lay the shards end to end and cut them where a link's share ends.

    Each link with a share adds at most one piece to the number of shards.
    """
    place, degree = 0, links.start[goal + 1] - links.start[goal]
    link, share = -1, 0
    for index in range(len(shards)):
        first = 0
        while first < chunks:
            while share == 0:
                link += 1
                share = flow[link] if link < degree else chunks
            place = links.start[goal] + link
            count = min(share, chunks - first)
            row = buffer[rows]
            row[0], row[1], row[2] = step, links.source[place], goal
            row[3], row[4], row[5] = shards[index], first, count
            row[6] = links.link[place]
            rows += 1
            first += count
            share -= count
    return rows
