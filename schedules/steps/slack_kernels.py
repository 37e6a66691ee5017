"""The kernel that divides one orbit's arrivals among the links into its nodes, in whole chunks."""

from typing import Any

import numpy as np
from numba import njit

from topoloom.synth.evaluation.load_balance import spread
from topoloom.synth.kernels.scalars import int64

COLUMNS = ("step", "root", "node", "place", "first", "count")
"""Columns of a buffer row: chunks [first, first + count) of the piece in row ``root`` of the
slack schedule reach ``node`` over its link ``place``."""


@njit(cache=True, nogil=True)
def arrivals(
    problem: Any, label: Any, group: int, chunks: int, limits: Any, memory: Any, buffer: Any
) -> int:
    """Write the arrivals at the nodes of a group to the int64 ``buffer``; return the row count.

    ``limits[kind, step, k]`` chunks over link k suffice in a step.  A piece has ``chunks``
    chunks.  The buffer has a row per cell, plus one per step, mask and link.
    """
    members, tail = problem.members[group], problem.tail
    (count, _), degree = label.shape, tail.shape[1]
    size = len(members) * count
    # Cells sort by step and mask; cells with equal keys are adjacent.
    key = np.empty(size, np.int64)
    for row in range(count):
        for index in range(len(members)):
            node, mask = members[index], 0
            for k in range(degree):
                if tail[node, k] >= 0 and label[row, tail[node, k]] < label[row, node]:
                    mask |= 1 << k
            key[row * len(members) + index] = (np.int64(label[row, node]) << degree) + mask
    order = np.argsort(key, kind="mergesort")
    starts = np.empty((1 << degree) + 1, np.int64)
    masks = np.empty(1 << degree, np.int64)
    rows, low = int64(0), 0
    while low < size:
        step = key[order[low]] >> degree
        groups, high = 0, low
        while high < size and key[order[high]] >> degree == step:
            if high == low or key[order[high]] != key[order[high - 1]]:
                starts[groups] = high
                masks[groups] = key[order[high]] & ((1 << degree) - 1)
                groups += 1
            high += 1
        starts[groups] = high
        if step > 0:
            memory.supplies[:groups] = (starts[1 : groups + 1] - starts[:groups]) * chunks
            memory.limits[:degree] = limits[problem.kind[group], step]
            spread(masks, memory.supplies, groups, memory.limits, degree, memory)
            for one in range(groups):
                cells = order[starts[one] : starts[one + 1]]
                rows = _cut(members, step, chunks, cells, memory.flow[one], buffer, rows)
        low = high
    return rows


@njit(cache=True, nogil=True)
def _cut(
    members: Any, step: int, chunks: int, cells: Any, flow: Any, buffer: Any, rows: int
) -> int:
    """Lay the pieces of the cells end to end and cut them where a link's share ends."""
    link, share = -1, 0
    for cell in cells:
        first = 0
        while first < chunks:
            while share == 0:
                link += 1
                share = flow[link]
            count = min(share, chunks - first)
            row = buffer[rows]
            row[0], row[1], row[2] = step, cell // len(members), members[cell % len(members)]
            row[3], row[4], row[5] = link, first, count
            rows += 1
            first += count
            share -= count
    return rows
