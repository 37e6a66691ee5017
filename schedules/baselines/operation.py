"""What is run: a collective on so many bytes, and what the alpha-beta model says of steps."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from schedules.model import Collective

__all__ = ["PASSES", "Baseline", "Operation", "bound_seconds", "in_steps", "passes", "seconds"]


@dataclass(frozen=True, slots=True)
class Operation:
    """A collective on so many bytes, and how fast links are.

    ``size_bytes`` is the output of an allgather, the input of a reduce-scatter, the
    buffer of an allreduce; ``bytes_per_second`` is what one host sends at most.
    """

    collective: Collective
    size_bytes: int
    bytes_per_second: Fraction
    alpha_seconds: Fraction

    @property
    def transfer_seconds(self) -> Fraction:
        """M / B: the unit in which T_B is counted."""
        return self.size_bytes / self.bytes_per_second


@dataclass(frozen=True, slots=True)
class Baseline:
    """A baseline's time; ``chunks`` is how finely it pipelines.

    ``assumption`` is what it has beyond cables between the hosts, if anything.
    """

    name: str
    seconds: Fraction
    steps: int
    chunks: int
    assumption: str = ""


PASSES: Mapping[Collective, int] = MappingProxyType(
    {Collective.ALLGATHER: 1, Collective.REDUCE_SCATTER: 1, Collective.ALLREDUCE: 2}
)
"""How many allgather-like passes collectives make; the others make none."""


def passes(collective: Collective) -> int:
    """Return how many passes a collective makes, at least 1."""
    return PASSES.get(collective, 1)


def seconds(steps: int, bandwidth: Fraction, operation: Operation) -> Fraction:
    """Return steps * alpha + bandwidth * M / B.

    >>> work = Operation(Collective.ALLGATHER, 1000, Fraction(10**6), Fraction(1, 10**5))
    >>> seconds(2, Fraction(3, 4), work)
    Fraction(77, 100000)
    """
    return steps * operation.alpha_seconds + bandwidth * operation.transfer_seconds


def bound_seconds(steps: int, bandwidth: Fraction, operation: Operation) -> Fraction:
    """Return the time no schedule of as many passes can beat, from the bounds of one."""
    count = passes(operation.collective)
    return seconds(count * steps, count * bandwidth, operation)


def in_steps(name: str, steps: int, bandwidth: Fraction, operation: Operation) -> Baseline:
    """Return the baseline whose every pass takes so many steps and so much T_B.

    >>> work = Operation(Collective.ALLREDUCE, 1000, Fraction(10**6), Fraction(1, 10**5))
    >>> ring = in_steps("ring", 2, Fraction(3, 4), work)
    >>> ring.seconds, ring.steps
    (Fraction(77, 50000), 4)
    """
    taken = bound_seconds(steps, bandwidth, operation)
    return Baseline(name, taken, passes(operation.collective) * steps, 1)
