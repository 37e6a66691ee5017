"""Breadth-first broadcast from many roots, its shards counted by set of links.

A shard reaches a node in the step that equals its distance, over any link from a node one step
nearer.  Bits of a word are roots: the new roots of a node are a few words, those of a set of links
are others, and a count is a popcount.  Measured: 16,381 nodes of 4 links, 9 steps, 0.7 s of CPU
time; `synth.evaluation.batch_kernel`, by bytes, takes 3.2 s.
"""

from math import lcm
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.evaluation.bfs_broadcast import InLinks
from topoloom.synth.kernels.parallel import at_once
from topoloom.synth.kernels.scalars import BYTE_ONES, ones

MAX_DEGREE = 5
"""Largest degree at which this pays beside batches, for destinations that are most nodes.  Measured
with 4,096 nodes of 3 to 6 links."""

FEWEST_NODES = 256
"""Fewest nodes at which this pays."""

_WORDS = 16
"""Words of a row: two cache lines."""
_AT_ONCE = 64 * _WORDS

Integers = NDArray[np.int64]


def largest_loads(
    links: InLinks, goals: Integers, degree: int, most: int, workers: int
) -> tuple[int, Integers, int] | None:
    """Return the longest distance to some destinations, and the largest load of every step there.

    Args:
        links: Of capacity 1, at most ``degree`` <= 8 into a node.
        goals: The destinations.
        degree: The largest degree.
        most: The steps that any distance may take.
        workers: Threads.

    Returns:
        The longest distance, and the loads by step as numerators over one denominator; None if a
        distance is longer than ``most`` or infinite.
    """
    tails, rows = tails_of(links, degree), np.arange(len(links.start) - 1)
    counts = np.zeros((workers, most + 1, len(rows), 1 << degree), np.int32)

    def run(worker: int) -> int:
        return count_shards(tails, rows[worker::workers], rows, counts[worker])

    if min(at_once(run, range(workers), workers)) < 0:
        return None
    # Loads are counts over numbers of links, which all divide one denominator.
    whole = lcm(*range(1, degree + 1))
    weights = whole // BYTE_ONES[1 : 1 << degree]
    loads = (counts.sum(0)[:, goals, 1:].max(1) * weights).max(1)
    longest = int(loads.nonzero()[0].max(initial=0))
    return longest, loads[: longest + 1], whole


def tails_of(links: InLinks, degree: int) -> Integers:
    """Return the tail of link k into each node, (N, degree); -1 without a link k."""
    into = np.diff(links.start)
    tails = np.full((len(into), degree), -1)
    targets = np.repeat(np.arange(len(into)), into)
    tails[targets, np.arange(len(targets)) - links.start[targets]] = links.source
    return tails


@njit(cache=True, nogil=True)
def count_shards(tail: Any, roots: Any, group: Any, counts: Any) -> int:
    """Add the shards of ``roots`` to ``counts``; return the longest distance from any of them.

    Args:
        tail ((N, d) int64): The tail of link k into a node; -1 without a link k.
        roots ((R,) int64): Nodes; a repeated one counts again.
        group ((N,) int64): The row of ``counts`` of a node.
        counts ((steps + 1, G, 2**d) int32): By step and group: the shards at its nodes that can
            enter by no link outside of a set.

    Returns -1 if a distance exceeds the steps of ``counts``, or some node is never reached: the
    counts are then incomplete.  O(steps R N d / 64), and O(R N 2^d / 64) to count.
    """
    nodes, most = len(tail), len(counts) - 1
    longest = 0
    before, now, reached = np.empty((3, nodes, _WORDS), np.uint64)
    for first in range(0, len(roots), _AT_ONCE):
        some = min(_AT_ONCE, len(roots) - first)
        _begin(roots[first : first + some], before, reached)
        left, step = some * (nodes - 1), 0
        while left > 0:
            if step == most:
                return -1
            step += 1
            left -= _advance(tail, group, step, before, now, reached, counts)
            before, now = now, before
        longest = max(longest, step)
    return longest


@njit(cache=True, nogil=True)
def _begin(roots: Any, before: Any, reached: Any) -> None:
    """Let every root, and no other node, hold its own shard; surplus bits count as reached."""
    before[:], reached[:] = 0, 0
    for lane in range(len(roots)):
        before[roots[lane], lane >> 6] |= np.uint64(1) << np.uint64(lane & 63)
    reached[:] = before
    for word in range(_WORDS):
        free = min(64, max(0, len(roots) - 64 * word))
        if free < 64:
            reached[:, word] |= ~np.uint64(0) << np.uint64(free)


@njit(cache=True, nogil=True)
def _advance(
    tail: Any, group: Any, step: int, before: Any, now: Any, reached: Any, counts: Any
) -> int:
    """Move every shard by one link, count the arrivals, and return their number."""
    nodes, degree = tail.shape
    sets = 1 << degree
    total = 0
    over = np.zeros((sets, _WORDS), np.uint64)
    for node in range(nodes):
        here, known = now[node], reached[node]
        for word in range(_WORDS):
            here[word] = 0
        for k in range(degree):
            if tail[node, k] >= 0:
                there = before[tail[node, k]]
                for word in range(_WORDS):
                    here[word] |= there[word]
        some = np.uint64(0)
        for word in range(_WORDS):
            here[word] &= ~known[word]
            known[word] |= here[word]
            some |= here[word]
        if some == 0:
            continue
        by_set = counts[step, group[node]]
        for k in range(degree):
            bit = 1 << k
            if tail[node, k] >= 0:
                there = before[tail[node, k]]
                for links in range(bit):
                    less, more = over[links], over[bit + links]
                    for word in range(_WORDS):
                        more[word] = less[word] | there[word]
            else:
                for links in range(bit):
                    over[bit + links] = over[links]
        arrived = 0
        for links in range(1, sets):
            others, arrived = over[sets - 1 - links], 0
            for word in range(_WORDS):
                arrived += ones(here[word] & ~others[word])
            by_set[links] += arrived
        # The last set holds all links.
        total += arrived
    return total
