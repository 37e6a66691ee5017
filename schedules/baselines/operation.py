"""What is run: a collective on so many bytes, and what the alpha-beta model says of steps."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from types import MappingProxyType

from topoloom.schedules.model.schedule import Collective

__all__ = [
    "PASSES",
    "Baseline",
    "Operation",
    "bound_seconds",
    "exchanged",
    "in_steps",
    "passes",
    "seconds",
]


@dataclass(frozen=True, slots=True)
class Operation:
    """A collective on so many bytes, and how fast links are.

    ``size_bytes`` is the output of an allgather, the input of a reduce-scatter, the
    buffer of an allreduce; ``bytes_per_second`` is what one host sends at most.  Every message
    keeps its link busy for ``overhead_seconds`` beside its bytes, and every chunk of it for
    ``chunk_seconds``.
    """

    collective: Collective
    size_bytes: int
    bytes_per_second: Fraction
    alpha_seconds: Fraction
    overhead_seconds: Fraction = Fraction(0)
    chunk_seconds: Fraction = Fraction(0)

    @property
    def message_seconds(self) -> Fraction:
        """What a message of one chunk costs beside its bytes and its latency."""
        return self.overhead_seconds + self.chunk_seconds

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


def seconds(
    steps: int, bandwidth: Fraction, operation: Operation, chunks: Fraction | int = 0
) -> Fraction:
    """Return steps * (alpha + overhead) + chunks * chunk + bandwidth * M / B.

    ``chunks`` are those of the link that carries most in each step.

    >>> work = Operation(Collective.ALLGATHER, 1000, Fraction(10**6), Fraction(1, 10**5))
    >>> seconds(2, Fraction(3, 4), work)
    Fraction(77, 100000)
    """
    fixed = steps * (operation.alpha_seconds + operation.overhead_seconds)
    return fixed + chunks * operation.chunk_seconds + bandwidth * operation.transfer_seconds


def bound_seconds(steps: int, bandwidth: Fraction, operation: Operation) -> Fraction:
    """Return the time no schedule of as many passes can beat, from the bounds of one.

    In every step some link carries a chunk at least.
    """
    count = passes(operation.collective)
    return seconds(count * steps, count * bandwidth, operation, count * steps)


def exchanged(
    name: str, hops: int, bandwidth: Fraction, operation: Operation, links: Fraction
) -> Baseline:
    """Return an all-to-all that bills its latency and its busiest link, and no waiting.

    ``links`` are N shares of M / B over what a link takes for one: every message carries a block
    at most, so the busiest link has at least bandwidth * links messages.
    """
    messages = max(hops, ceil(bandwidth * links))
    fixed = hops * operation.alpha_seconds + messages * operation.message_seconds
    return Baseline(name, fixed + bandwidth * operation.transfer_seconds, hops, 1)


def in_steps(
    name: str, steps: int, bandwidth: Fraction, operation: Operation, chunks: Fraction | int
) -> Baseline:
    """Return the baseline whose every pass takes so many steps and so much T_B.

    ``chunks`` is the sum over the steps of a pass of the most chunks on a link.

    >>> work = Operation(Collective.ALLREDUCE, 1000, Fraction(10**6), Fraction(1, 10**5))
    >>> ring = in_steps("ring", 2, Fraction(3, 4), work, 2)
    >>> ring.seconds, ring.steps
    (Fraction(77, 50000), 4)
    """
    count = passes(operation.collective)
    taken = seconds(count * steps, count * bandwidth, operation, count * chunks)
    return Baseline(name, taken, count * steps, 1)
