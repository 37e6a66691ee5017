"""Messages of a collective in rings: those of each step, and the rings over the hosts.

A collective of n ranks runs n - 1 steps, an allreduce 2 (n - 1), in each channel on its own.  In
each step a rank sends one chunk of each loop over its data to the next rank, in slices; from the
second step on it sends what it received one step before.
"""

from dataclasses import dataclass
from enum import IntEnum
from math import ceil

from topoloom.schedules.model.schedule import Collective

LINE_BYTES = {"simple": (1, 1), "ll": (2, 1), "ll128": (16, 15)}
"""Protocol -> bytes on the wire for each byte of data, as numerator and denominator."""

_LEAST_PART = 32
_ALIGNED = 16


class Work(IntEnum):
    """Work of a rank on a chunk between its receipt and the next send."""

    NOTHING = 0
    REDUCTION = 1
    REDUCTION_AND_COPY = 2
    COPY = 3


@dataclass(frozen=True, slots=True)
class Channel:
    """One ring of a collective.

    ``sharing`` has for each rank, in the order of the ring, 0 if its hop stays in the host, else
    the number of channels that share its interface to the network; it is reduced to its shortest
    period.  ``messages`` are the bytes of one step on the wire, in order.
    """

    sharing: tuple[int, ...]
    messages: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RingCollective:
    """A collective; equal collectives have equal times at every latency and bandwidth."""

    collective: Collective
    ranks: int
    channels: tuple[Channel, ...]

    @property
    def steps(self) -> int:
        """The number of sends of a rank, for each message of a step.

        >>> RingCollective(Collective.ALLREDUCE, 4, ()).steps
        6
        """
        return (self.ranks - 1) * (1 + (self.collective is Collective.ALLREDUCE))

    def work(self) -> tuple[Work, ...]:
        """Return the work before each send, and after the last receipt: ``steps`` + 1 entries.

        An allgather copies its own data first: it is out of place.
        """
        last = self.ranks - 1
        if self.collective is Collective.ALLGATHER:
            return (*[Work.COPY] * last, Work.NOTHING)
        reduced = (Work.NOTHING, *[Work.REDUCTION] * (last - 1), Work.REDUCTION_AND_COPY)
        if self.collective is Collective.REDUCE_SCATTER:
            return reduced
        return (*reduced, *[Work.COPY] * (last - 1), Work.NOTHING)


def shortest_period(ring: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shortest part whose repetition is the ring; O(n x divisors of n).

    Ranks at equal places of the part send and receive at equal times, by rotation.

    >>> shortest_period((1, 0, 1, 0)), shortest_period((2, 1, 0))
    ((1, 0), (2, 1, 0))
    """
    count = len(ring)
    for period in range(1, count + 1):
        if count % period == 0 and ring[:period] * (count // period) == ring:
            return ring[:period]
    raise AssertionError("a ring has at least one rank")


def step_messages(
    collective: Collective, ranks: int, work: int, chunk: int, slices: int, protocol: str
) -> tuple[int, ...]:
    """Return the bytes of the messages of one step of a channel.

    Args:
        work: Bytes of the channel: the whole buffer of an allreduce, the part of one rank
            otherwise.
        chunk: Most bytes of a chunk.
        slices: Parts of a chunk in the protocol ``simple``, each at least 1/32 of the most; the
            others send whole chunks.

    >>> step_messages(Collective.ALLREDUCE, 4, 4096, 1024, 2, "simple")
    (512, 512)
    >>> step_messages(Collective.ALLGATHER, 4, 1536, 1024, 1, "ll")
    (2048, 1024)
    """
    parts = ranks if collective is Collective.ALLREDUCE else 1
    found: list[int] = []
    for done in range(0, work, parts * chunk):
        size = ceil(min(parts * chunk, work - done) / parts)
        if protocol == "simple":
            found += _sliced(size, ceil(chunk / slices), slices)
        else:
            more, less = LINE_BYTES[protocol]
            found.append(ceil(size * more / less))
    return tuple(found)


def _sliced(size: int, most: int, slices: int) -> list[int]:
    """Return the slices of a chunk, aligned to 16 bytes.

    >>> _sliced(100, 64, 2), _sliced(3, 64, 2), _sliced(2048, 65536, 2)
    ([64, 36], [3], [2048])
    """
    part = max(ceil(size / (_ALIGNED * slices)) * _ALIGNED, most // _LEAST_PART)
    return [min(part, size - at) for at in range(0, size, part)]
