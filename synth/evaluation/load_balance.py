"""Optimal distribution of arriving shards over the links into a node.

At one destination and one step, shards arrive over the links into the destination.  A shard may
use certain links only; these form its *mask*, one bit per link.  Shards of equal mask are
interchangeable.  Two exact kernels:

`spread` distributes the shards of every mask over links within given capacities, or returns a
set of links that proves this impossible.

`heaviest` returns the least possible load per unit of capacity of the most loaded link, max over
sets S of links of (shards whose mask lies in S) / (capacity of S).

Both use the memory of `scratch`; all integers are int64.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Integers = NDArray[np.int64]


class Balance(NamedTuple):
    """Working memory for at most ``rows`` masks over at most ``degree`` links."""

    flow: NDArray[np.int64]
    """(rows, degree): shards of each mask on each link; the result of `spread`."""
    room: Integers
    """(degree,): remaining capacity of each link."""
    came_from: Integers
    """(degree,): the previous link of an augmenting path, -1 at its start."""
    moved_mask: Integers
    """(degree,): the mask that moves from ``came_from`` to this link."""
    queue: Integers
    """(degree,)"""
    limits: Integers
    """(degree,): scaled capacities that `heaviest` passes to `spread`."""
    supplies: Integers
    """(rows,): scaled supplies that `heaviest` passes to `spread`."""


def scratch(rows: int, degree: int) -> Balance:
    """Return working memory; ``rows`` is the largest number of distinct masks."""
    room, came_from, moved, queue, limits = np.zeros((5, degree), np.int64)
    flow, supplies = np.zeros((rows, degree), np.int64), np.zeros(rows, np.int64)
    return Balance(flow, room, came_from, moved, queue, limits, supplies)


@njit(cache=True, nogil=True)
def better(numerator: int, denominator: int, other: Any, than: Any) -> bool:
    """Return whether numerator / denominator > other / than; all denominators are positive."""
    return numerator * than > other * denominator


@njit(cache=True, nogil=True)
def spread(masks: Any, supplies: Any, count: int, limits: Any, degree: int, memory: Any) -> int:
    """Distribute ``supplies[i]`` units of mask i over its links, at most ``limits[k]`` on k.

    Returns 0 on success; ``memory.flow[i, k]`` is then the amount of mask i on link k.
    Otherwise returns a set S of links, as a mask, such that the supplies of the masks within S
    exceed the limits of S together.

    Augmenting paths: a mask whose links are full moves other masks to links with room.  S is the
    set of links reached from a stuck mask: every mask with flow on S lies within S, as its other
    links would have been reached too.  Integral input gives integral flow.
    """
    flow, room = memory.flow, memory.room
    for link in range(degree):
        room[link] = limits[link]
    for row in range(count):
        left = supplies[row]
        for link in range(degree):
            flow[row, link] = 0
        # The link with the most room first: few splits and even loads.
        while left > 0:
            widest = -1
            for link in range(degree):
                usable = masks[row] >> link & 1 and room[link] > 0
                if usable and (widest < 0 or room[link] > room[widest]):
                    widest = link
            if widest < 0:
                break
            amount = min(left, room[widest])
            flow[row, widest] += amount
            room[widest] -= amount
            left -= amount
        while left > 0:
            reached, free = _reach(masks, row, degree, memory)
            if free < 0:
                return reached
            left -= _push(row, free, left, memory)
    return 0


@njit(cache=True, nogil=True)
def _reach(masks: Any, row: int, degree: int, memory: Any) -> tuple[int, int]:
    """Return the links reached from mask ``row``, and one of them with room, or -1."""
    flow, room, queue = memory.flow, memory.room, memory.queue
    reached, filled = 0, 0
    for link in range(degree):
        if masks[row] >> link & 1:
            reached |= 1 << link
            memory.came_from[link] = -1
            memory.moved_mask[link] = row
            queue[filled] = link
            filled += 1
    index = 0
    while index < filled:
        here = queue[index]
        index += 1
        for other in range(row + 1):
            if flow[other, here] == 0 or masks[other] & ~reached == 0:
                continue
            for link in range(degree):
                if (masks[other] & ~reached) >> link & 1:
                    reached |= 1 << link
                    memory.came_from[link] = here
                    memory.moved_mask[link] = other
                    if room[link] > 0:
                        return reached, link
                    queue[filled] = link
                    filled += 1
    return reached, -1


@njit(cache=True, nogil=True)
def _push(row: int, free: int, left: int, memory: Any) -> int:
    """Move the largest possible amount along the path that ends at ``free``; return the amount."""
    flow, came_from, moved = memory.flow, memory.came_from, memory.moved_mask
    amount = min(left, memory.room[free])
    link = free
    while came_from[link] >= 0:
        amount = min(amount, flow[moved[link], came_from[link]])
        link = came_from[link]
    memory.room[free] -= amount
    link = free
    while link >= 0:
        flow[moved[link], link] += amount
        before = came_from[link]
        if before >= 0:
            flow[moved[link], before] -= amount
        link = before
    return amount


@njit(cache=True, nogil=True)
def heaviest(
    masks: Any,
    counts: Any,
    rows: int,
    capacity: Any,
    degree: int,
    numerator: int,
    denominator: int,
    memory: Any,
) -> tuple[int, int]:
    """Return the larger of numerator / denominator and the largest load, as a pair.

    Newton's method (Dinkelbach): if loads of numerator / denominator suffice, they are the
    maximum.  Otherwise the set S that `spread` returns has a larger load, the next value.  The
    values grow and belong to finitely many sets, so the loop terminates.
    """
    while True:
        for link in range(degree):
            memory.limits[link] = capacity[link] * numerator
        for row in range(rows):
            memory.supplies[row] = counts[row] * denominator
        stuck = spread(masks, memory.supplies, rows, memory.limits, degree, memory)
        if stuck == 0:
            return numerator, denominator
        numerator, denominator = 0, 0
        for row in range(rows):
            if masks[row] & ~stuck == 0:
                numerator += counts[row]
        for link in range(degree):
            if stuck >> link & 1:
                denominator += capacity[link]
