"""Choice of the cells of one step of a greedy slack schedule among very many, 64 at a time.

Cells are ranked: urgent ones first, then those that can wait less, and among these the ones that
more successors need.  What fits together arrives together; only the cells of the first rank that
does not fit are chosen by mask, and few of them one by one.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from topoloom.synth.kernels.scalars import ones
from topoloom.synth.slack.problem import Integers, Problem
from topoloom.synth.slack.root_words import Words, count_sets, move_common, unite


class Step(NamedTuple):
    """A step, its load, and where its choices begin, cyclically."""

    number: int
    left: int
    """Later steps; cells of this height or more are urgent."""
    load: int
    root: int
    node: int


class Group(NamedTuple):
    """Working memory for the M nodes of one group, W words of roots each."""

    rest: Words
    """(M, W): cells that could arrive and are not ranked yet."""
    alike: Words
    """(M, W): cells that can wait equally long, and are not ranked yet."""
    rank: Words
    """(M, W): cells that also as many successors need."""
    come: Words
    """(M, W): chosen cells."""
    need: Words
    """(M, d + 1, W): all cells, those that one successor or more need, two or more, and so on."""
    over: Words
    """(2**d, W): of one node, see `unite`."""
    some: Words
    """(W,): cells of one node and mask."""
    room: Integers
    """(2**d,): cells by set of links that still fit."""
    counts: Integers
    """(1, 2**d): cells by set of links, or by mask."""
    fit: Integers
    """(2**d,): cells by mask that fit."""


def working_memory(problem: Problem, words: int) -> Group:
    """Return the working memory of any group of a problem."""
    size, (degree, sets) = (
        problem.members.shape[1],
        (problem.tail.shape[1], problem.weight.shape[1]),
    )
    rest, alike, rank, come = np.zeros((4, size, words), np.uint64)
    need = np.zeros((size, degree + 1, words), np.uint64)
    over, some = np.zeros((sets, words), np.uint64), np.zeros(words, np.uint64)
    room, fit = np.zeros((2, sets), np.int64)
    return Group(
        rest, alike, rank, come, need, over, some, room, np.zeros((1, sets), np.int64), fit
    )


@njit(cache=True, nogil=True)
def choose(problem: Any, g: int, cells: Any, step: Any, urgent: Any, held: Any, group: Any) -> None:
    """Choose the cells of a group that arrive, and count all that it holds in ``held``."""
    members, room, counts, sets = problem.members, group.room, group.counts, len(group.room)
    height, opened, over = cells.height, cells.opened, group.over
    for links in range(1, sets):
        limit = problem.weight[problem.kind[g], links] * step.load // problem.unit
        held[g, links], room[links] = limit, limit - urgent[g, links]
    # The load lets all urgent cells arrive.
    group.come[:] = 0
    if step.left < len(height):
        for place in range(members.shape[1]):
            move_common(group.rest, place, height, step.left, members[g, place], group.come)
    for high in range(min(step.left, len(height)) - 1, -1, -1):
        counts[:] = 0
        for place in range(members.shape[1]):
            node = members[g, place]
            move_common(group.rest, place, height, high, node, group.alike)
            unite(opened, node, over)
            count_sets(group.alike, place, over, counts, 0)
        if not _all_taken(counts, room, group.come, group.alike):
            _choose_needed(problem, g, cells, step, group)
        # Mostly no link has room then.
        if room[sets - 1] == 0:
            break
    for links in range(1, sets):
        held[g, links] -= room[links]


@njit(cache=True, nogil=True)
def _all_taken(counts: Any, room: Any, come: Any, some: Any) -> bool:
    """Choose all of some cells if these fit, and return whether they do."""
    for links in range(1, len(room)):
        if counts[0, links] > room[links]:
            return False
    for links in range(1, len(room)):
        room[links] -= counts[0, links]
    for place in range(np.uint64(come.shape[0])):
        for word in range(np.uint64(come.shape[1])):
            come[place, word] |= some[place, word]
    return True


@njit(cache=True, nogil=True)
def _choose_needed(problem: Any, g: int, cells: Any, step: Any, group: Any) -> None:
    """Choose from cells that can wait equally long, first those that more successors need."""
    members, room, counts, fit = problem.members, group.room, group.counts, group.fit
    opened, over, rank, come = cells.opened, group.over, group.rank, group.come
    size, sets = members.shape[1], len(room)
    for place in range(size):
        _count_needs(problem.start, problem.head, members[g, place], cells.idle, group.need, place)
    for need in range(group.need.shape[1] - 1, -1, -1):
        counts[:] = 0
        for place in range(size):
            move_common(group.alike, place, group.need, place, need, rank)
            unite(opened, members[g, place], over)
            count_sets(rank, place, over, counts, 0)
        if _all_taken(counts, room, come, rank):
            continue
        _fit(counts, room, fit)
        begin = 0
        while begin < size and members[g, begin] < step.node:
            begin += 1
        for index in range(size):
            place = (begin + index) % size
            node = members[g, place]
            unite(opened, node, over)
            for links in range(1, sets):
                if fit[links] == 0:
                    continue
                if fit[links] == counts[0, links]:
                    _take_all(opened, node, over, rank, place, links, group.some, come)
                else:
                    fit[links] -= _take(
                        opened, node, over, rank, place, links, step.root, fit[links], come
                    )


@njit(cache=True, nogil=True)
def _count_needs(start: Any, head: Any, node: int, idle: Any, need: Any, place: int) -> None:
    """Fill in all cells of a node, those that one successor or more need, two or more, and so on.

    A successor needs a cell if no other link is open to it.
    """
    words = np.uint64(need.shape[2])
    need[place] = 0
    need[place, 0] = ~np.uint64(0)
    for edge in range(start[node], start[node + 1]):
        after = head[edge]
        for count in range(need.shape[1] - 1, 0, -1):
            for word in range(words):
                need[place, count, word] |= need[place, count - 1, word] & idle[after, word]


@njit(cache=True, nogil=True)
def _fit(counts: Any, room: Any, fit: Any) -> None:
    """Replace counts by sets of links with counts by mask; of each fill in how many fit.

    Lower masks come first.  What fits is taken from the room of every set.
    """
    full = len(room) - 1
    bit = 1
    while bit <= full:
        for links in range(full, -1, -1):
            if links & bit:
                counts[0, links] -= counts[0, links ^ bit]
        bit <<= 1
    for links in range(1, full + 1):
        rest = full ^ links
        more, most = rest, counts[0, links]
        while most > 0:
            most = min(most, room[links | more])
            if more == 0:
                break
            more = (more - 1) & rest
        fit[links] = most
        more = rest
        while most > 0:
            room[links | more] -= most
            if more == 0:
                break
            more = (more - 1) & rest


@njit(cache=True, nogil=True)
def _take_all(
    opened: Any, node: int, over: Any, rank: Any, place: int, links: int, some: Any, come: Any
) -> None:
    """Choose all cells of a rank and a mask at a node; ``some`` is overwritten."""
    words = np.uint64(len(some))
    for word in range(words):
        some[word] = rank[place, word] & ~over[len(over) - 1 - links, word]
    for k in range(opened.shape[1]):
        if links >> k & 1:
            for word in range(words):
                some[word] &= opened[node, k, word]
    for word in range(words):
        come[place, word] |= some[word]


@njit(cache=True, nogil=True)
def _take(
    opened: Any,
    node: int,
    over: Any,
    rank: Any,
    place: int,
    links: int,
    first: int,
    most: int,
    come: Any,
) -> int:
    """Choose up to ``most`` cells of a rank and a mask at a node, and return their number."""
    words, word, left = rank.shape[1], first >> 6, most
    later = ~np.uint64(0) << np.uint64(first & 63)
    for turn in range(words + 1):
        some = rank[place, word] & ~over[len(over) - 1 - links, word]
        for k in range(opened.shape[1]):
            if links >> k & 1:
                some &= opened[node, k, word]
        # The first word is cut in two: the roots before the first come last.
        if turn == 0:
            some &= later
        elif turn == words:
            some &= ~later
        number = ones(some)
        while number > left:
            # Without the highest bits, all of the rest fits.
            some ^= _highest(some)
            number -= 1
        come[place, word] |= some
        left -= number
        if left == 0:
            break
        word = word + 1 if word + 1 < words else 0
    return most - left


@njit(cache=True, nogil=True)
def _highest(word: Any) -> Any:
    """Return the highest set bit."""
    for shift in (1, 2, 4, 8, 16, 32):
        word |= word >> np.uint64(shift)
    return word ^ (word >> np.uint64(1))
