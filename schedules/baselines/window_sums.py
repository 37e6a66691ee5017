"""Allreduce in one pass through a switch by sums of windows of hosts.

References:
    Bruck and Ho, "Efficient global combine operations in multi-port message-passing systems",
    Parallel Processing Letters 3(4), 1993; recursive doubling is the case of one partner and N =
    2^k.
"""

from collections.abc import Iterator
from fractions import Fraction

from topoloom.schedules.baselines.operation import Baseline, Operation, faster, seconds


def time(name: str, nodes: int, most: int, operation: Operation) -> Baseline:
    """Return the least time with k = 1 to ``most`` partners: ceil(log_(k+1) N) steps.

    The partners share the ports of a host.  Every partner sends one buffer, whatever the number of
    contributions in the buffer.

    >>> from topoloom.schedules.model.schedule import Collective
    >>> work = Operation(Collective.ALLREDUCE, 12, Fraction(4), Fraction(10))
    >>> time("windows", 12, 4, work).seconds, time("windows", 12, 1, work).seconds
    (Fraction(38, 1), Fraction(52, 1))
    """
    return faster(*(_time(name, nodes, partners, operation) for partners in range(1, most + 1)))


def _time(name: str, nodes: int, partners: int, operation: Operation) -> Baseline:
    steps = sum(1 for _ in _windows(nodes, partners))
    return Baseline(name, seconds(steps, Fraction(steps * partners), operation, steps), steps, 1)


def _windows(nodes: int, partners: int) -> Iterator[list[tuple[int, bool]]]:
    """Yield, by step, the distance of every partner, and whether its own contribution is included.

    Before a step every host holds the sum of the g hosts behind it.  With the digit a of N - 1 in
    base k + 1, a partners send windows of g + 1 hosts, themselves included, and k - a partners send
    windows of g.  The windows follow one another, so g becomes (k + 1) g + a, and finally N - 1.

    >>> list(_windows(6, 2))
    [[(1, True)], [(2, True), (4, True)]]
    """
    digits, rest = [], nodes - 1
    while rest:
        rest, digit = divmod(rest, partners + 1)
        digits.append(digit)
    held = 0
    for digit in reversed(digits):
        begin, step = held + 1, list[tuple[int, bool]]()
        for partner in range(partners if held else digit):
            inclusive = partner < digit
            step.append((begin if inclusive else begin - 1, inclusive))
            begin += held + inclusive
        yield step
        held = begin - 1
