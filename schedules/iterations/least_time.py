"""A lower bound of the time of an iteration on a network, without a simulation."""

from fractions import Fraction

from topoloom.schedules.iterations.job_operations import Routed
from topoloom.schedules.iterations.operations import Order
from topoloom.schedules.iterations.ticks import in_ticks


def least_seconds(routed: Routed, order: Order) -> Fraction:
    """Return a time that no simulation of the operations is below.

    The larger of two: the longest path of operations that run alone, and the time for which a link
    is used.  A shared link only slows transfers down, so operations start no earlier than on the
    path.  O(operations + links).
    """
    second, ticks = in_ticks(routed.operations)
    starts, waits = [0] * len(ticks), list(order.waits)
    ready = [index for index, count in enumerate(waits) if not count]
    longest = 0
    # The list grows while it is read.
    for index in ready:
        end = starts[index] + sum(ticks[index])
        longest = max(longest, end)
        for other in order.followers[index]:
            starts[other] = max(starts[other], end)
            waits[other] -= 1
            if not waits[other]:
                ready.append(other)
    sent = [0] * len(routed.shares.rows)
    for one, (_, transfer) in zip(routed.operations, ticks, strict=True):
        if one.traffic is not None:
            sent[one.traffic] += transfer
    return max(Fraction(longest), routed.shares.least_time(sent)) / second
