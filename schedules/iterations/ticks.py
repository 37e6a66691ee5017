"""The clock of an iteration, in whole ticks.

The tick divides the duration of every operation that runs alone, and 5,040 ticks or more make a
femtosecond.
"""

from collections.abc import Sequence
from math import lcm

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.iterations.operations import Operation

TICKS_PER_SECOND = 5040 * 10**15
"""Least ticks of a second.  5,040 is divisible by 1 to 10: even shares of few are exact."""


def in_ticks(operations: Sequence[Operation]) -> tuple[int, list[tuple[int, int]]]:
    """Return the ticks of a second, and the ticks of every operation: seconds, transfer.

    Raises:
        NoSchedule: A time is negative.
    """
    times = {id(time): time for one in operations for time in (one.seconds, one.transfer)}
    found = lcm(*{time.denominator for time in times.values()})
    second = found * -(-TICKS_PER_SECOND // found // 5040) * 5040
    known = {key: time.numerator * (second // time.denominator) for key, time in times.items()}
    ticks = [(known[id(one.seconds)], known[id(one.transfer)]) for one in operations]
    for index, pair in enumerate(ticks):
        if min(pair) < 0:
            raise NoSchedule(f"/operations/{index}", "must not take negative time")
    return second, ticks
