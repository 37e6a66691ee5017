"""Allreduce in one pass through a switch by sums of windows of hosts.

References:
    Bruck and Ho, "Efficient global combine operations in multi-port message-passing systems",
    Parallel Processing Letters 3(4), 1993; recursive doubling is the case of one partner and N =
    2^k.
"""

from collections.abc import Iterator
from fractions import Fraction

from topoloom.schedules.baselines.baseline_run import BaselineRun
from topoloom.schedules.baselines.operation import Baseline, Operation, faster, seconds
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.model.transcript import Message, Span, Transcript
from topoloom.synth.topology.topology import Topology


def time(name: str, nodes: int, most: int, operation: Operation) -> Baseline:
    """Return the least time with k = 1 to ``most`` partners: ceil(log_(k+1) N) steps.

    The partners share the ports of a host.  Every partner sends one buffer, whatever the number of
    contributions in the buffer.

    >>> work = Operation(Collective.ALLREDUCE, 12, Fraction(4), Fraction(10))
    >>> time("windows", 12, 4, work).seconds, time("windows", 12, 1, work).seconds
    (Fraction(38, 1), Fraction(52, 1))
    """
    return faster(*(_time(name, nodes, partners, operation) for partners in range(1, most + 1)))


def _time(name: str, nodes: int, partners: int, operation: Operation) -> Baseline:
    steps = sum(1 for _ in _windows(nodes, partners))
    return Baseline(name, seconds(steps, Fraction(steps * partners), operation, steps), steps, 1)


def run(nodes: int, degree: int, most: int, operation: Operation) -> BaselineRun:
    """Return the messages, with a link of d / k ports for every pair of partners."""
    partners = min(
        range(1, most + 1), key=lambda partners: _time("", nodes, partners, operation).seconds
    )
    messages: list[Message] = []
    others = [0] * nodes
    brought: list[list[int]] = [[] for _ in others]
    for step in _windows(nodes, partners):
        held, needs = others[:], [tuple(known) for known in brought]
        for distance, inclusive in step:
            for target in range(nodes):
                source = (target + distance) % nodes
                mask = held[source] | (1 << source if inclusive else 0)
                brought[target].append(len(messages))
                others[target] |= mask
                messages.append(Message(source, target, (Span(0, nodes, mask),), needs[source]))
    pairs = {(message.source, message.target) for message in messages}
    width = Fraction(degree, partners)
    topology = Topology(range(nodes), [(source, target, width) for source, target in sorted(pairs)])
    transcript = Transcript(Collective.ALLREDUCE, tuple(range(nodes + 1)), tuple(messages))
    return BaselineRun(topology, transcript)


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
