"""Choose the predecessor cells of a deadline plan: few urgent cells, spread evenly over links.

Among the cells that could arrive a step before a cell that needs a predecessor:

1. an only candidate is chosen;
2. a candidate that serves several cells is chosen at nodes with at most average urgent load;
3. otherwise the candidate at the node with the least urgent load is chosen.

The kernels use the working memory of `synth.slack.deadlines`: 64 roots at once, one bit each.

Profile (1064 nodes of 3 links, one step of 7): rule 3 takes a third of the time, counting by
links a fifth.
"""

from typing import Any

import numpy as np
from numba import njit

from topoloom.synth.kernels.scalars import ones


@njit(cache=True, nogil=True)
def choose_predecessors(
    problem: Any, mask: Any, step: int, first: int, wait: int, shift: int, plans: Any
) -> None:
    """Choose the predecessors of the cells with slack ``wait``, from the latest step back."""
    top = len(plans.level) - 1 - wait
    plans.chosen[top] |= plans.level[top]
    for later in range(top, step, -1):
        _take_only_ones(problem, later, plans)
        _take_serving_several(problem, later, shift, plans)
        _take_least_crowded(problem, later, shift, wait == 0, plans)
        if wait == 0:
            _count(problem, mask, step, first, later - 1, plans)


@njit(cache=True, nogil=True)
def _take_only_ones(problem: Any, later: int, plans: Any) -> None:
    """List the cells without a chosen predecessor, and choose every only candidate."""
    tail, degree = problem.tail, np.uint64(problem.tail.shape[1])
    level, chosen, avoided = (
        plans.level[later - 1],
        plans.chosen[later - 1],
        plans.avoided[later - 1],
    )
    needing, before, wanted = plans.chosen[later], plans.before[later], plans.wanted
    for node in range(np.uint64(len(tail))):
        left = needing[node] & ~before[node]
        if left != 0:
            once = twice = np.uint64(0)
            for k in range(degree):
                if tail[node, k] >= 0:
                    left &= ~chosen[np.uint64(tail[node, k])]
            for k in range(degree):
                if tail[node, k] >= 0:
                    before_node = np.uint64(tail[node, k])
                    could = level[before_node] & ~avoided[before_node] & left
                    twice |= once & could
                    once |= could
            alone = once & ~twice
            for k in range(degree):
                if tail[node, k] >= 0 and alone != 0:
                    before_node = np.uint64(tail[node, k])
                    chosen[before_node] |= alone & level[before_node] & ~avoided[before_node]
            left &= ~alone
        wanted[node] = left


@njit(cache=True, nogil=True)
def _take_serving_several(problem: Any, later: int, shift: int, plans: Any) -> None:
    """Choose predecessors of several cells, at nodes with at most average urgent load."""
    tail, start, head, group = problem.tail, problem.start, problem.head, problem.group
    nodes, degree = np.uint64(tail.shape[0]), np.uint64(tail.shape[1])
    level, chosen, avoided = (
        plans.level[later - 1],
        plans.chosen[later - 1],
        plans.avoided[later - 1],
    )
    wanted, most = plans.wanted, plans.most[later - 1]
    for node in range(nodes):
        if wanted[node] != 0:
            for k in range(degree):
                if tail[node, k] >= 0:
                    wanted[node] &= ~chosen[np.uint64(tail[node, k])]
    total = 0
    for g in range(len(most)):
        total += most[g]
    limit = total // len(most) + 1
    for place in range(nodes):
        node = (place + np.uint64(shift)) % nodes
        if level[node] == 0 or most[np.uint64(group[node])] > limit:
            continue
        able, once, twice = level[node] & ~avoided[node], np.uint64(0), np.uint64(0)
        for edge in range(np.uint64(start[node]), np.uint64(start[node + np.uint64(1)])):
            served = wanted[np.uint64(head[edge])] & able
            twice |= once & served
            once |= served
        if twice != 0:
            chosen[node] |= twice
            for edge in range(np.uint64(start[node]), np.uint64(start[node + np.uint64(1)])):
                wanted[np.uint64(head[edge])] &= ~twice


@njit(cache=True, nogil=True)
def _take_least_crowded(problem: Any, later: int, shift: int, urgent: bool, plans: Any) -> None:
    """Choose remaining predecessors where the urgent load is least; avoided cells last."""
    tail, group, degree = problem.tail, problem.group, problem.tail.shape[1]
    level, chosen, avoided = (
        plans.level[later - 1],
        plans.chosen[later - 1],
        plans.avoided[later - 1],
    )
    most = plans.most[later - 1]
    for node in range(np.uint64(len(tail))):
        left = plans.wanted[node]
        for turn in range(2):
            tried = 0
            while left != 0 and tried + 1 < 1 << degree:
                best = _least(tail[node], tried, (shift + node) % degree, group, most)
                if best < 0:
                    break
                tried |= 1 << best
                before = np.uint64(tail[node, best])
                could = level[before] & left
                if turn == 0:
                    could &= ~avoided[before]
                if could != 0:
                    chosen[before] |= could
                    left &= ~could
                    if urgent:
                        most[np.uint64(group[before])] += ones(could)


@njit(cache=True, nogil=True)
def _least(tails: Any, tried: int, begin: int, group: Any, most: Any) -> int:
    """Return the untried link from the group of least urgent load; ties go by ``begin``."""
    best, fewest, k = -1, 0, begin
    for _ in range(len(tails)):
        if tails[k] >= 0 and not tried >> k & 1:
            many = most[np.uint64(group[np.uint64(tails[k])])]
            if best < 0 or many < fewest:
                best, fewest = k, many
        k += 1
        if k == len(tails):
            k = 0
    return best


@njit(cache=True, nogil=True)
def _count(problem: Any, mask: Any, step: int, first: int, earlier: int, plans: Any) -> None:
    """Count the urgent cells of a step by links and by groups."""
    tail, group, degree = problem.tail, problem.group, problem.tail.shape[1]
    through, most = plans.through[earlier], plans.most[earlier]
    chosen, level = plans.chosen[earlier], plans.level[earlier - 1]
    for node in range(np.uint64(len(tail))):
        urgent = chosen[node]
        g = np.uint64(group[node])
        if urgent != 0 and earlier > step:
            for k in range(np.uint64(degree)):
                if tail[node, k] >= 0:
                    through[g, k] += ones(urgent & level[np.uint64(tail[node, k])])
        lane = 0
        while urgent != 0 and earlier == step:
            if urgent & np.uint64(1):
                for k in range(degree):
                    through[g, k] += mask[node, first + lane] == 1 << k
            urgent >>= np.uint64(1)
            lane += 1
    for g in range(len(most)):
        most[g] = 0
        for k in range(degree):
            most[g] = max(most[g], through[g, k] * degree)
