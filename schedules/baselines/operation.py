"""A collective with its size and link speeds, and times of steps in the alpha-beta model."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from types import MappingProxyType

from topoloom.schedules.model.schedule import Collective


@dataclass(frozen=True, slots=True)
class Operation:
    """A collective with its size and the speed of links.

    ``size_bytes`` is the output of an allgather, the input of a reduce-scatter, the buffer of an
    allreduce; ``bytes_per_second`` is the maximum rate of one host.  Every message occupies its
    link for ``overhead_seconds`` in addition to its bytes, and every chunk of it for
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
        """The cost of a message of one chunk in addition to its bytes and latency."""
        return self.overhead_seconds + self.chunk_seconds

    @property
    def transfer_seconds(self) -> Fraction:
        """M / B: the unit of T_B."""
        return self.size_bytes / self.bytes_per_second


@dataclass(frozen=True, slots=True)
class Baseline:
    """A baseline's time; ``chunks`` is its number of pipeline pieces.

    ``assumption`` states hardware beyond cables between the hosts, if any.
    """

    name: str
    seconds: Fraction
    steps: int
    chunks: int
    assumption: str = ""


PASSES: Mapping[Collective, int] = MappingProxyType(
    {Collective.ALLGATHER: 1, Collective.REDUCE_SCATTER: 1, Collective.ALLREDUCE: 2}
)
"""Number of allgather-like passes of collectives; other collectives have none."""


def passes(collective: Collective) -> int:
    """Return the number of passes of a collective, at least 1."""
    return PASSES.get(collective, 1)


def seconds(
    steps: int, bandwidth: Fraction, operation: Operation, chunks: Fraction | int = 0
) -> Fraction:
    """Return steps * (alpha + overhead) + chunks * chunk + bandwidth * M / B.

    ``chunks`` is the sum over steps of the most chunks on a link.

    >>> work = Operation(Collective.ALLGATHER, 1000, Fraction(10**6), Fraction(1, 10**5))
    >>> seconds(2, Fraction(3, 4), work)
    Fraction(77, 100000)
    """
    fixed = steps * (operation.alpha_seconds + operation.overhead_seconds)
    return fixed + chunks * operation.chunk_seconds + bandwidth * operation.transfer_seconds


def bound_seconds(steps: int, bandwidth: Fraction, operation: Operation) -> Fraction:
    """Return a lower bound on the time of any schedule, from the bounds of one pass.

    In every step some link carries at least one chunk.
    """
    count = passes(operation.collective)
    return seconds(count * steps, count * bandwidth, operation, count * steps)


def all_to_all_baseline(
    name: str, hops: int, bandwidth: Fraction, operation: Operation, links: Fraction
) -> Baseline:
    """Return an all-to-all with the costs of its latency and its busiest link, without waiting.

    ``links`` is N times a link's share of B: a message carries at most one block, so the busiest
    link has at least bandwidth * links messages.
    """
    messages = max(hops, ceil(bandwidth * links))
    fixed = hops * operation.alpha_seconds + messages * operation.message_seconds
    return Baseline(name, fixed + bandwidth * operation.transfer_seconds, hops, 1)


def step_baseline(
    name: str,
    nodes: int,
    steps: int,
    bandwidth: Fraction,
    operation: Operation,
    chunks: Fraction | int,
) -> Baseline:
    """Return the baseline with the given steps and T_B of an allgather.

    An allreduce makes two passes over shards, or one pass over whole buffers: half the steps, and N
    times the bytes of an allgather.  The faster of both counts.  ``chunks`` is the sum over the
    steps of a pass of the most chunks on a link.

    >>> from dataclasses import replace
    >>> work = Operation(Collective.ALLREDUCE, 1000, Fraction(10**6), Fraction(1, 10**5))
    >>> ring = step_baseline("ring", 4, 2, Fraction(3, 4), work, 2)
    >>> ring.seconds, ring.steps
    (Fraction(77, 50000), 4)
    >>> step_baseline("ring", 4, 2, Fraction(3, 4), replace(work, size_bytes=1), 2).steps
    2
    """
    found = pass_baseline(name, steps, bandwidth, operation, chunks)
    if operation.collective is not Collective.ALLREDUCE:
        return found
    once = Baseline(name, seconds(steps, nodes * bandwidth, operation, chunks), steps, 1)
    return faster(found, once)


def pass_baseline(
    name: str, steps: int, bandwidth: Fraction, operation: Operation, chunks: Fraction | int
) -> Baseline:
    """Return the baseline that makes the usual passes over shards, as in `step_baseline`."""
    count = passes(operation.collective)
    taken = seconds(count * steps, count * bandwidth, operation, count * chunks)
    return Baseline(name, taken, count * steps, 1)


def faster(*found: Baseline) -> Baseline:
    """Return the baseline of least time; ties go to the fewest steps."""
    return min(found, key=lambda one: (one.seconds, one.steps))
