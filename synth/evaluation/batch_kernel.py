"""Kernel that measures breadth-first broadcast towards many destinations in parallel.

A search towards one destination accesses memory at random.  Here 64 searches advance together:
a row of 64 bytes holds the masks of one node for all of them, so one link costs one cache line
and two instructions.  Requires at most 8 links into a node, as masks are bytes; pays for small
diameters only, as every step scans all links.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.evaluation.bfs_broadcast import InLinks
from topoloom.synth.evaluation.load_balance import better
from topoloom.synth.kernels.scalars import BYTE_ONES, int64

LANES = 64
"""Destinations of a batch: the bytes of one cache line."""

# Measured: 1024 nodes of 4 links, 7 steps, 7 us a destination instead of 26; of 8 links and 5
# steps 9 instead of 46; 1000 nodes of 2 links, 13 steps, 11 instead of 18; a torus of 36 steps
# 40 instead of 15.
MAX_BATCHED_STEPS = 16
"""Largest diameter at which batches pay."""

TOO_FAR = -2
"""Result for a diameter that does not fit into a byte."""

_FARTHEST = 250
_ALL = np.uint8(255)


class OutLinks(NamedTuple):
    """The links out of node v have the heads ``target[start[v]:start[v + 1]]``."""

    start: NDArray[np.int64]
    target: NDArray[np.int64]


def out_links(links: InLinks) -> OutLinks:
    """Return the links grouped by source."""
    nodes = len(links.start) - 1
    targets = np.repeat(np.arange(nodes), np.diff(links.start))
    start = np.searchsorted(np.sort(links.source), np.arange(nodes + 1))
    return OutLinks(start, targets[np.argsort(links.source, kind="stable")])


@njit(cache=True, nogil=True)
def measure_batch(
    links: Any, out: Any, goals: Any, degree: int, numerators: Any, denominators: Any
) -> int:
    """Raise the largest load of every step to that of the destinations ``goals``, at most `LANES`.

    Like `synth.evaluation.range_kernel.measure_range`, for links of capacity 1, at most ``degree``
    <= 8 into a node.  Returns `TOO_FAR` without a change if a distance exceeds a byte.
    O(steps * (links + nodes) * LANES) byte operations, 32 at once, and O(nodes * LANES) to count
    masks once at the end, as counting does not vectorize.
    """
    nodes = len(links.start) - 1
    came = np.zeros((nodes, LANES), np.uint8)
    comes = np.zeros((nodes, LANES), np.uint8)
    # A mask arrives in one step, so 0 means not yet; destinations and unused lanes start nonzero.
    mask = np.zeros((nodes, LANES), np.uint8)
    level = np.zeros((nodes, LANES), np.uint8)
    mask[:, len(goals) :] = 1
    for lane in range(len(goals)):
        goal = goals[lane]
        mask[goal, lane] = 1
        for place in range(links.start[goal], links.start[goal + 1]):
            if links.source[place] != goal:
                came[links.source[place], lane] |= np.uint8(1 << (place - links.start[goal]))
    open_nodes, steps = 0, 1
    for node in range(nodes):
        open_nodes += _arrive(came[node], mask[node], level[node]) & 1
    while open_nodes > 0:
        open_nodes, arrived = 0, 0
        for node in range(nodes):
            found = _pull(came, out, node, comes[node], mask[node], level[node])
            open_nodes += found & 1
            arrived |= found
        if arrived < 2:
            return -1
        if steps == _FARTHEST:
            return TOO_FAR
        came, comes = comes, came
        steps += 1
    _raise(_counted(mask, level, steps, degree), numerators, denominators)
    return steps


@njit(cache=True, nogil=True)
def _pull(came: Any, out: Any, node: int, here: Any, mask: Any, level: Any) -> int:
    """Merge the masks of a node's successors where the node has none; see `_arrive`."""
    some = False
    for lane in range(LANES):
        here[lane] = 0
        some |= mask[lane] == 0
    if not some:
        return 0
    for place in range(out.start[node], out.start[node + 1]):
        there = came[out.target[place]]
        for lane in range(LANES):
            here[lane] |= there[lane]
    for lane in range(LANES):
        here[lane] &= _ALL if mask[lane] == 0 else np.uint8(0)
    return _arrive(here, mask, level)


@njit(cache=True, nogil=True)
def _arrive(here: Any, mask: Any, level: Any) -> int:
    """Record masks and steps; return 1 if some are missing, plus 2 if any arrived."""
    some, missing = np.uint8(0), False
    for lane in range(LANES):
        level[lane] += mask[lane] == 0
        mask[lane] |= here[lane]
        some |= here[lane]
        missing |= mask[lane] == 0
    return int(missing) + (2 if some else 0)


@njit(cache=True, nogil=True)
def _counted(mask: Any, level: Any, steps: int, degree: int) -> Any:
    """Return the number of masks within every set of links, (steps + 1, 2**degree, LANES)."""
    table = np.zeros((steps + 1, 1 << degree, LANES), np.int32)
    for node in range(len(mask)):
        for lane in range(LANES):
            table[level[node, lane], mask[node, lane], lane] += 1
    for step in range(1, steps + 1):
        for link in range(degree):
            bit = 1 << link
            for links in range(1 << degree):
                if links & bit:
                    for lane in range(LANES):
                        table[step, links, lane] += table[step, links ^ bit, lane]
    return table


@njit(cache=True, nogil=True)
def _raise(table: Any, numerators: Any, denominators: Any) -> None:
    """Raise the largest load of every step to that of the heaviest set of links."""
    for step in range(1, table.shape[0]):
        for links in range(1, table.shape[1]):
            top = int64(0)
            for lane in range(LANES):
                top = max(top, int64(table[step, links, lane]))
            if better(top, BYTE_ONES[links], numerators[step], denominators[step]):
                numerators[step], denominators[step] = top, BYTE_ONES[links]
