"""Cells of very many roots as bits: a word covers 64 roots, a row all roots of a portion.

A byte for every cell makes a step wait for memory.  With a bit for every cell and open link, one
operation handles 64 cells, and sets of cells are counted by popcounts.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.edge_swaps.work_estimates import WORD
from topoloom.synth.kernels.scalars import ones
from topoloom.synth.slack.problem import Problem

Words = NDArray[np.uint64]

BLOCK = 16
"""Words of two cache lines; rows have a multiple."""


class CellWords(NamedTuple):
    """The state of the cells of N nodes of d links, W words of roots each, before a step."""

    arrived: Words
    """(N, W): cells that arrived before; surplus bits count as arrived."""
    came: Words
    """(N, W): cells that arrived in the last step."""
    opened: Words
    """(N, d, W): cells that have not arrived, and to which the link is open."""
    idle: Words
    """(N, W): cells that have not arrived, and to which no link is open."""
    height: Words
    """(eccentricity + 1, N, W): all cells, those of height 1 or more, 2 or more, and so on.  The
    height of w is the length of the longest continuation of a shortest path from the root
    through w."""


def cell_words(problem: Problem, eccentricity: int) -> CellWords:
    """Return the cells of a problem before the first step.

    O(eccentricity^2 R links / 64).
    """
    (nodes, degree), rows = problem.tail.shape, len(problem.roots)
    words = BLOCK * -(-rows // (BLOCK * WORD))
    arrived, came, idle = np.zeros((3, nodes, words), np.uint64)
    lane = np.arange(rows)
    # Pieces of a shard have one root, and mostly one word.
    bits = np.uint64(1) << (lane % WORD).astype(np.uint64)
    np.bitwise_or.at(came, (problem.roots, lane // WORD), bits)
    surplus: NDArray[np.uint8] = np.ones((words, WORD), np.uint8)
    surplus.reshape(-1)[:rows] = 0
    arrived[:] = came | np.packbits(surplus, axis=1, bitorder="little").view(np.uint64)[:, 0]
    height = np.zeros((eccentricity + 1, nodes, words), np.uint64)
    height[0] = ~np.uint64(0)
    _find_heights(problem, arrived, came, height)
    opened = np.zeros((nodes, degree, words), np.uint64)
    return CellWords(arrived, came, opened, idle, height)


@njit(cache=True, nogil=True)
def _find_heights(problem: Any, arrived: Any, came: Any, height: Any) -> None:
    """Fill in the heights, a block of words at a time."""
    most, nodes, words = len(height) - 1, height.shape[1], height.shape[2]
    layer = np.empty((most + 1, nodes, BLOCK), np.uint64)
    reached = np.empty((nodes, BLOCK), np.uint64)
    for first in range(0, words, BLOCK):
        for node in range(nodes):
            for word in range(BLOCK):
                layer[0, node, word] = came[node, first + word]
                reached[node, word] = arrived[node, first + word]
        for step in range(1, most + 1):
            _advance(problem.tail, layer[step - 1], layer[step], reached)
        for high in range(1, most + 1):
            for step in range(most + 1 - high):
                _raise(problem, layer[step], layer[step + 1], height[high], first)


@njit(cache=True, nogil=True)
def _advance(tail: Any, before: Any, now: Any, reached: Any) -> None:
    """Let every shard reach the nodes one link away that it has not reached."""
    # Not the constant: loops of a constant length are unrolled, and then not vectorized.
    words = np.uint64(now.shape[1])
    for node in range(np.uint64(len(now))):
        for word in range(words):
            now[node, word] = 0
        for k in range(np.uint64(tail.shape[1])):
            if tail[node, k] >= 0:
                there = np.uint64(tail[node, k])
                for word in range(words):
                    now[node, word] |= before[there, word]
        for word in range(words):
            now[node, word] &= ~reached[node, word]
            reached[node, word] |= now[node, word]


@njit(cache=True, nogil=True)
def _raise(problem: Any, layer: Any, behind: Any, high: Any, first: int) -> None:
    """Keep the cells of a distance with a successor that was kept, and add them to ``high``.

    ``behind`` are the cells of the next distance whose height is one less, or more.
    """
    start, head = problem.start, problem.head
    higher = np.empty(BLOCK, np.uint64)
    place, words = np.uint64(first), np.uint64(layer.shape[1])
    for node in range(np.uint64(len(layer))):
        some = np.uint64(0)
        for word in range(words):
            some |= layer[node, word]
        # Few cells of a short distance, or of a large height, are left.
        if some == 0:
            continue
        for word in range(words):
            higher[word] = 0
        for edge in range(start[node], start[node + np.uint64(1)]):
            after = np.uint64(head[edge])
            for word in range(words):
                higher[word] |= behind[after, word]
        for word in range(words):
            layer[node, word] &= higher[word]
            high[node, place + word] |= layer[node, word]


# The functions below run for every node in every step.  They take whole arrays and an index each:
# Numba counts the references to a row that it passes on, which takes as long as the work itself.


@njit(cache=True, nogil=True)
def open_links(
    tail: Any, node: int, arrived: Any, came: Any, opened: Any, idle: Any, able: Any, place: int
) -> bool:
    """Open the links from the cells that came to a node's; return whether any link is open.

    Row ``place`` of ``able`` receives the node's cells with an open link.  No cell of any node may
    have arrived since.
    """
    words = np.uint64(able.shape[1])
    for k in range(tail.shape[1]):
        before = tail[node, k]
        if before >= 0:
            for word in range(words):
                opened[node, k, word] |= came[before, word] & ~arrived[node, word]
    list_able(opened, node, able, place)
    some = np.uint64(0)
    for word in range(words):
        idle[node, word] = ~(arrived[node, word] | able[place, word])
        some |= able[place, word]
    return some != 0


@njit(cache=True, nogil=True)
def list_able(opened: Any, node: int, able: Any, place: int) -> None:
    """Fill in the cells of a node to which a link is open."""
    words = np.uint64(able.shape[1])
    for word in range(words):
        able[place, word] = opened[node, 0, word]
    for k in range(1, opened.shape[1]):
        for word in range(words):
            able[place, word] |= opened[node, k, word]


@njit(cache=True, nogil=True)
def let_arrive(node: int, come: Any, place: int, arrived: Any, came: Any, opened: Any) -> None:
    """Let the cells of a row of ``come``, and no others, arrive at a node."""
    words = np.uint64(come.shape[1])
    for word in range(words):
        came[node, word] = come[place, word]
        arrived[node, word] |= come[place, word]
    for k in range(opened.shape[1]):
        for word in range(words):
            opened[node, k, word] &= ~come[place, word]


@njit(cache=True, nogil=True)
def note_arrivals(node: int, come: Any, place: int, step: int, arrival: Any) -> None:
    """Note the step in row ``node`` of ``arrival``, (N, R), unless it has no columns."""
    for row in range(arrival.shape[1]):
        if come[place, row >> 6] >> np.uint64(row & 63) & np.uint64(1):
            arrival[node, row] = step


@njit(cache=True, nogil=True)
def move_common(source: Any, place: int, wanted: Any, layer: int, row: int, out: Any) -> None:
    """Move the cells of ``wanted[layer, row]`` from ``source`` to ``out``, both at ``place``."""
    for word in range(np.uint64(out.shape[1])):
        out[place, word] = source[place, word] & wanted[layer, row, word]
        source[place, word] ^= out[place, word]


@njit(cache=True, nogil=True)
def unite(opened: Any, node: int, over: Any) -> None:
    """Fill in a node's cells to which some link of every set is open: ``over`` is (2**d, W)."""
    over[0] = 0
    for k in range(opened.shape[1]):
        for links in range(1 << k):
            for word in range(np.uint64(over.shape[1])):
                over[links + (1 << k), word] = over[links, word] | opened[node, k, word]


@njit(cache=True, nogil=True)
def count_sets(some: Any, place: int, over: Any, counts: Any, row: int) -> None:
    """Add to a row of ``counts`` the cells to which no link outside of every set is open."""
    last = len(over) - 1
    for links in range(1, last + 1):
        total = np.uint64(0)
        for word in range(np.uint64(over.shape[1])):
            total += np.uint64(ones(some[place, word] & ~over[last - links, word]))
        counts[row, links] += np.int64(total)
