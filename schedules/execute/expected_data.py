"""Expected contents of the buffers before and after a collective.

Elements are 32-bit integers whose sums wrap round, so that a sum does not depend on the order of
its terms and every comparison is exact.  Every rank has a *contribution* to the whole data, a
pseudorandom function of (rank, run, element).  A collective that gathers uses only the rank's own
shard of it; a collective that reduces uses all of it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

ELEMENT = np.dtype(np.uint32)
Elements = NDArray[np.uint32]


class Task(NamedTuple):
    """Precondition and postcondition of a collective at one rank.

    ``bounds``: the bounds of the shards.  ``folds``: the shards are gathered and then added, each
    being the whole contribution of its rank.  ``reduces``: the result is a sum over all ranks.
    ``starts_whole``, ``ends_whole``: the rank holds all data before, after; else its own shard.
    ``exchanges``: an all-to-all, of blocks instead of shards.  ``idle``: ranks that take no part.
    """

    bounds: tuple[int, ...]
    reduces: bool
    starts_whole: bool
    ends_whole: bool
    exchanges: bool = False
    folds: bool = False
    idle: tuple[int, ...] = ()


class Mistake(NamedTuple):
    """Wrong elements of a shard at a rank; ``first`` counts within the shard."""

    rank: int
    shard: int
    wrong: int
    first: int


def contribution(rank: int, run: int, first: int, past: int) -> Elements:
    """Return a rank's contribution to elements [first, past) of the data.

    >>> contribution(3, 0, 0, 3).tolist()
    [2779857502, 1212509835, 4288071723]
    >>> contribution(3, 0, 1, 3).tolist()
    [1212509835, 4288071723]
    """
    # The finalizer of MurmurHash3 over a counter that differs for every rank and run.
    with np.errstate(over="ignore"):
        mixed = np.arange(first, past, dtype=np.uint32) * np.uint32(0x9E3779B1)
        mixed += np.uint32((rank * 0x85EBCA77 + run * 0xC2B2AE3D + 1) % 2**32)
        for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
            mixed ^= mixed >> np.uint32(shift)
            mixed *= np.uint32(factor)
        mixed ^= mixed >> np.uint32(16)
    return mixed


def final_content(task: Task, run: int, shard: int) -> Elements:
    """Return the final content of a shard.

    >>> gather = Task((0, 2, 4), reduces=False, starts_whole=False, ends_whole=True)
    >>> bool((final_content(gather, 0, 1) == contribution(1, 0, 2, 4)).all())
    True
    """
    first, past = task.bounds[shard], task.bounds[shard + 1]
    if not task.reduces:
        return contribution(shard, run, first, past)
    total = np.zeros(past - first, dtype=ELEMENT)
    for rank in set(range(len(task.bounds) - 1)) - set(task.idle):
        total += contribution(rank, run, first, past)
    return total


def block(task: Task, run: int, source: int, target: int) -> Elements:
    """Return the block of one rank for another in an all-to-all, as large as both ends allow."""
    first = task.bounds[target]
    sizes = (task.bounds[at + 1] - task.bounds[at] for at in (source, target))
    return contribution(source, run, first, first + min(sizes))


def initial(task: Task, rank: int, run: int) -> list[Elements]:
    """Return the buffers of a rank before the collective: one, or input and output.

    Elements that the rank does not hold yet are the complement of the expected ones, so that every
    element that does not arrive is wrong.
    """
    if task.exchanges:
        output = ~contribution(rank, run, 0, task.bounds[-1])
        for source in range(len(task.bounds) - 1):
            held = block(task, run, source, rank)
            part = output[task.bounds[source] : task.bounds[source] + len(held)]
            part[:] = held if source == rank else ~held
        return [contribution(rank, run, 0, task.bounds[-1]), output]
    if task.starts_whole:
        return [contribution(rank, run, 0, task.bounds[-1])]
    shards = range(len(task.bounds) - 1)
    found = [
        final_content(task, run, s) if s == rank else ~final_content(task, run, s) for s in shards
    ]
    return [np.concatenate(found)]


def folded_sum(task: Task, buffer: NDArray[Any]) -> NDArray[Any]:
    """Return the sum of all shards in the order of ranks if they are folded; else all data.

    >>> task = Task((0, 2, 4), False, starts_whole=False, ends_whole=True, folds=True)
    >>> folded_sum(task, np.arange(4, dtype=ELEMENT)).tolist()
    [2, 4]
    """
    if not task.folds:
        return buffer
    return buffer.reshape(len(task.bounds) - 1, -1).sum(axis=0, dtype=ELEMENT)


def mistakes(task: Task, rank: int, run: int, buffer: NDArray[Any]) -> list[Mistake]:
    """Return the wrong elements in the last buffer of a rank afterwards, `folded_sum` if required.

    >>> scatter = Task((0, 2, 4), reduces=True, starts_whole=True, ends_whole=False)
    >>> mistakes(scatter, 1, 0, initial(scatter, 1, 0)[0])
    [Mistake(rank=1, shard=1, wrong=2, first=0)]
    """
    if task.folds:
        shards = [final_content(task, run, shard) for shard in range(len(task.bounds) - 1)]
        wrong = np.flatnonzero(buffer != folded_sum(task, np.concatenate(shards)))
        return [Mistake(rank, rank, len(wrong), int(wrong[0]))] if len(wrong) else []
    found = []
    if rank in task.idle:
        return found
    for shard in range(len(task.bounds) - 1) if task.ends_whole else (rank,):
        wanted = (
            block(task, run, shard, rank) if task.exchanges else final_content(task, run, shard)
        )
        held = buffer[task.bounds[shard] : task.bounds[shard] + len(wanted)]
        wrong = np.flatnonzero(held != wanted)
        if len(wrong):
            found.append(Mistake(rank, shard, len(wrong), int(wrong[0])))
    return found
