"""A lower bound of the time of an iteration on a network, without a simulation."""

from fractions import Fraction
from math import lcm

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.schedules.iterations.job_plan import JobPlan, Times
from topoloom.schedules.iterations.operations import Order

_BITS = 62
"""Bits of the longest path that the kernel counts."""


class TimeBound:
    """The lower bound of a plan on networks.

    >>> from topoloom.schedules.groups.process_groups import ProcessGroups
    >>> from topoloom.schedules.iterations.communications import FreeNetwork
    >>> from topoloom.schedules.iterations.iteration import layer_seconds
    >>> from topoloom.schedules.iterations.job_operations import job_plan
    >>> from topoloom.schedules.iterations.training_job import Layer, TrainingJob
    >>> layer = Layer("layer", forward_seconds=Fraction(1))
    >>> job = TrainingJob("job", (layer,) * 4, ProcessGroups.parse("pipeline=4"), microbatches=2)
    >>> plan = job_plan(job, layer_seconds(job))
    >>> round(float(TimeBound(plan).seconds(plan.times(FreeNetwork()))), 9)
    15.0
    """

    def __init__(self, plan: JobPlan) -> None:
        self._order, self._classes = _flat(plan.order), plan.classes
        self._counts = np.bincount(plan.classes.of).tolist()

    def seconds(self, times: Times) -> Fraction:
        """Return a time that no simulation with these times is below.

        The larger of two: the longest path of operations that run alone, and the time for which a
        link is used.  A shared link only slows transfers down, so operations start no earlier than
        on the path.  The path counts whole units, of which every operation has at least as many.
        O(operations + links).
        """
        scale = lcm(
            *{time.denominator for one in times.times for time in (one.seconds, one.transfer)}
        )
        seconds = [int(one.seconds * scale) for one in times.times]
        transfers = [int(one.transfer * scale) for one in times.times]
        lengths = [sum(pair) for pair in zip(seconds, transfers, strict=True)]
        total = sum(map(int.__mul__, lengths, self._counts))
        # Units such that all operations in a row are below 2**62.
        up, down = max(0, _BITS - total.bit_length()), max(0, total.bit_length() - _BITS)
        whole = np.array([one << up >> down for one in lengths], np.int64)
        longest = Fraction(int(_longest(*self._order, whole[self._classes.of])) << down, 1 << up)
        sent = [0] * len(times.shares.rows)
        for one, transfer, count in zip(times.times, transfers, self._counts, strict=True):
            if one.row is not None:
                sent[one.row] += transfer * count
        return max(longest, times.shares.least_time(sent)) / scale


def _flat(order: Order) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the counts of an order, and its followers one after another with their ends."""
    ends = np.cumsum([len(some) for some in order.followers])
    followers = np.array([one for some in order.followers for one in some], np.int64)
    return np.array(order.waits, np.int64), ends, followers


@njit(cache=True, nogil=True)
def _longest(
    waits: NDArray[np.int64],
    ends: NDArray[np.int64],
    followers: NDArray[np.int64],
    lengths: NDArray[np.int64],
) -> int:
    """Return the length of the longest path."""
    left, starts = waits.copy(), np.zeros(len(waits), np.int64)
    ready = np.empty(len(waits), np.int64)
    count, longest = 0, 0
    for index in range(len(waits)):
        if left[index] == 0:
            ready[count] = index
            count += 1
    at = 0
    while at < count:
        index = ready[at]
        at += 1
        end = starts[index] + lengths[index]
        longest = max(longest, end)
        for place in range(ends[index - 1] if index else 0, ends[index]):
            other = followers[place]
            starts[other] = max(starts[other], end)
            left[other] -= 1
            if left[other] == 0:
                ready[count] = other
                count += 1
    return int(longest)
