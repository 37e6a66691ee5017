"""Search for a placing of nodes on hosts that leaves most links on joined hosts.

Simulated annealing over exchanges of two nodes' hosts, or moves to an empty host.  Half of the
exchanges are aimed: of a link that is not kept one end is brought next to the other.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.kernels.splitmix import xorshift
from topoloom.synth.progress import report_progress
from topoloom.synth.wiring import limits
from topoloom.synth.wiring.placement.graph_isomorphism import Arcs

Integers = NDArray[np.int64]

AT_A_TIME = 200_000
"""Exchanges between two words on how far the search is: some tenths of a second."""

SEED = np.uint64(88172645463325252 + 2654435769)

EMPTY = -1


def kept_arcs(wanted: Arcs, today: NDArray[np.int16], hosts: Integers) -> int:
    """Return how many links of a placing find their hosts joined today."""
    there = today[hosts[wanted.sources], hosts[wanted.targets]]
    return int(np.minimum(there, wanted.counts).sum())


@njit(cache=True, nogil=True)
def _around(node, other, start, near, count, forward, today, at):
    """Return the kept links at a node, those to ``other`` left out."""
    total = 0
    for k in range(start[node], start[node + 1]):
        if near[k] == other:
            continue
        one, two = at[node], at[near[k]]
        there = today[one, two] if forward[k] else today[two, one]
        total += min(there, count[k])
    return total


@njit(cache=True, nogil=True)
def _between(node, other, start, near, count, forward, today, at):
    total = 0
    for k in range(start[node], start[node + 1]):
        if near[k] == other:
            one, two = at[node], at[other]
            there = today[one, two] if forward[k] else today[two, one]
            total += min(there, count[k])
    return total


@njit(cache=True, nogil=True)
def _anneal(
    start, near, count, forward, today, beside, begin,
    at, who, frozen, steps, proposals, best, gains, state,
):  # fmt: skip
    """Go some steps of so many proposals; ``gains`` are the present and the best so far."""
    size, pool = len(at), len(who)
    gain, best_gain = gains[0], gains[1]
    for step in range(steps[0], steps[1]):
        heat = 1.2 * (1.0 - step / proposals) + 1e-3
        state = xorshift(state)
        node = np.int64(state % np.uint64(size))
        state = xorshift(state)
        host = np.int64(state % np.uint64(pool))
        if start[node + 1] > start[node] and (state >> np.uint64(40)) % np.uint64(4) > 0:
            # Aim: next to the host of a neighbour, along a pair of today.
            k = start[node] + np.int64(
                (state >> np.uint64(20)) % np.uint64(start[node + 1] - start[node])
            )
            there = at[near[k]]
            row = there + (pool if forward[k] else 0)
            many = begin[row + 1] - begin[row]
            if many > 0:
                state = xorshift(state)
                host = beside[begin[row] + np.int64(state % np.uint64(many))]
        old = at[node]
        other = who[host]
        if host == old or frozen[node] or (other >= 0 and frozen[other]):
            continue
        before = _around(node, other, start, near, count, forward, today, at)
        before += _between(node, other, start, near, count, forward, today, at) if other >= 0 else 0
        if other >= 0:
            before += _around(other, node, start, near, count, forward, today, at)
            at[other] = old
        at[node] = host
        after = _around(node, other, start, near, count, forward, today, at)
        after += _between(node, other, start, near, count, forward, today, at) if other >= 0 else 0
        if other >= 0:
            after += _around(other, node, start, near, count, forward, today, at)
        change = after - before
        state = xorshift(state)
        chance = np.float64(state >> np.uint64(11)) / 9007199254740992.0
        if change >= 0 or chance < np.exp(change / heat):
            who[host], who[old] = node, other
            gain += change
            if gain > best_gain:
                best_gain = gain
                best[:] = at
        else:
            at[node] = old
            if other >= 0:
                at[other] = host
    gains[:] = gain, best_gain
    return state


def anneal(
    wanted: Arcs, today: NDArray[np.int16], hosts: Integers, frozen: NDArray[np.bool_]
) -> Integers:
    """Return a placing near which none better was found; never worse than the first.

    Args:
        wanted: The links of the topology.
        today (int16 array, shape (pool, pool)): How often each host is joined to each other today.
        hosts: The host of every node to begin with.
        frozen: Nodes that stay.

    Of fixed length and always the same draws: `limits.PROPOSALS_PER_NODE` exchanges per node, each
    O(degree).
    """
    size, pool = wanted.size, len(today)
    ends = np.concatenate([wanted.sources, wanted.targets])
    order = np.argsort(ends, kind="stable")
    near = np.concatenate([wanted.targets, wanted.sources])[order]
    count = np.concatenate([wanted.counts, wanted.counts])[order]
    forward = np.concatenate([np.ones(len(wanted.sources)), np.zeros(len(wanted.sources))])
    start = np.searchsorted(ends[order], np.arange(size + 1))
    # Row h: hosts that h receives from; row pool + h: those that send to it.
    ahead, back = (np.nonzero(matrix) for matrix in (today, today.T))
    beside = np.concatenate([ahead[1], back[1]]).astype(np.int64)
    begin = np.searchsorted(np.concatenate([ahead[0], back[0] + pool]), np.arange(2 * pool + 1))
    who = np.full(pool, EMPTY, np.int64)
    who[hosts] = np.arange(size)
    proposals = min(limits.PROPOSALS_PER_NODE * size, limits.MAX_PROPOSALS)
    at = hosts.astype(np.int64).copy()
    best, gains, state = at.copy(), np.zeros(2, np.int64), SEED
    graph = (
        start.astype(np.int64), near.astype(np.int64), count.astype(np.int64), forward[order] > 0,
        today, beside, begin.astype(np.int64),
    )  # fmt: skip
    for first in range(0, proposals, AT_A_TIME):
        report_progress("choosing hosts", first, proposals)
        steps = first, min(first + AT_A_TIME, proposals)
        found = _anneal(*graph, at, who, frozen, steps, proposals, best, gains, state)
        state = np.uint64(found)
    return best
