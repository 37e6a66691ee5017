"""Time of a collective in rings at one latency and bandwidth, by its longest path.

A message leaves a rank when the message before it has left the network interface, and when the
rank has received and processed its data, the same message of the step before.  Ranks at equal
places of the shortest period of the ring have equal times, so a ring of thousands of ranks needs as
many times as one period has ranks.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numba import njit

from topoloom.schedules.errors import TooLarge
from topoloom.schedules.network_curves.network import Network
from topoloom.schedules.network_curves.ring_collective import Channel, RingCollective, Work

MAX_MESSAGES = 2 * 10**8
"""Most messages of one period of a ring."""


@dataclass(frozen=True, slots=True)
class PathTime:
    """Nanoseconds of a path: ``fixed`` + ``latencies`` x latency + ``sent`` x time of a byte.

    ``sent`` counts a byte once for each channel that shares the interface.
    """

    fixed: Fraction
    latencies: int
    sent: int

    def at(self, latency: Fraction, per_byte: Fraction) -> Fraction:
        """Return the nanoseconds at a latency and a time of a byte, both in nanoseconds."""
        return self.fixed + self.latencies * latency + self.sent * per_byte


def ring_time(
    work: RingCollective, network: Network, latency: Fraction, per_byte: Fraction
) -> PathTime:
    """Return the longest path of a collective at a latency and a time of a byte.

    O(messages of a step x steps x ranks of a period) for each channel; equal channels count once.

    Raises:
        TooLarge: A channel has more than `MAX_MESSAGES`.

    Two ranks on two hosts exchange 8 bytes at 1 ns per byte and 100 ns of latency:

    >>> from topoloom.schedules.model.schedule import Collective
    >>> pair = RingCollective(Collective.ALLGATHER, 2, (Channel((1,), (8,)),))
    >>> free = Network(Fraction(0), Fraction(0), Fraction(0))
    >>> ring_time(pair, free, Fraction(100), Fraction(1)).at(Fraction(100), Fraction(1))
    Fraction(108, 1)
    """
    if work.ranks < 2:
        return PathTime(Fraction(0), 0, 0)
    paths = (
        _longest(work, one, network, latency, per_byte) for one in dict.fromkeys(work.channels)
    )
    return max(paths, key=lambda path: path.at(latency, per_byte))


def _longest(
    work: RingCollective, channel: Channel, network: Network, latency: Fraction, per_byte: Fraction
) -> PathTime:
    """Return the longest path of one channel."""
    cells = len(channel.sharing) * len(channel.messages) * work.steps
    if cells > MAX_MESSAGES:
        rule = f"must have at most {MAX_MESSAGES} messages in one period of a ring, not {cells}"
        raise TooLarge("/instances", rule)
    kinds = sorted({0, *channel.sharing})
    sending, passing, working = _weights(channel, kinds, network, latency, per_byte)
    unit = lcm(*(weight.denominator for row in (*sending, *passing, *working) for weight in row))
    whole = [
        [[int(weight * unit) for weight in row] for row in rows]
        for rows in (sending, passing, working)
    ]
    most = max(max(map(max, whole[1])) + max(map(max, whole[2])), max(map(max, whole[0])))
    steps = work.steps + 1
    fits = most * (steps * (len(channel.messages) + 1) + 1) < 2**62
    number: Any = np.int64 if fits else object
    kernel: Any = _path_kernel if fits else _path_kernel.py_func
    latencies, sent, fixed = kernel(
        np.array([kinds.index(share) for share in channel.sharing], dtype=np.int64),
        np.array(kinds, dtype=np.int64),
        np.array(channel.messages, dtype=np.int64),
        np.array(work.work(), dtype=np.int64),
        *(np.array(rows, dtype=number) for rows in whole),
    )
    total = Fraction(int(fixed), unit)
    rest = total - int(latencies) * latency - int(sent) * per_byte
    return PathTime(rest, int(latencies), int(sent))


def _weights(
    channel: Channel,
    kinds: list[int],
    network: Network,
    latency: Fraction,
    per_byte: Fraction,
) -> tuple[list[list[Fraction]], list[list[Fraction]], list[list[Fraction]]]:
    """Return the times of messages: in the interface, on the way, and in kernels by `Work`.

    The first two are by kind of hop: 0 stays in the host, others share the interface.
    """
    rates = [network.inside_per_byte, *(kind * per_byte for kind in kinds[1:])]
    delays = [network.inside_latency, *[latency] * (len(kinds) - 1)]
    sending = [[size * rate for size in channel.messages] for rate in rates]
    passing = [
        [2 * network.overhead + delay + time for time in times]
        for delay, times in zip(delays, sending, strict=True)
    ]
    kernels = network.kernels
    reduction = {size: kernels.reduction(size) for size in {*channel.messages}}
    copy = {size: kernels.copy(size) for size in {*channel.messages}}
    of_work = {
        Work.NOTHING: lambda size: 0,
        Work.REDUCTION: lambda size: reduction[size],
        Work.REDUCTION_AND_COPY: lambda size: reduction[size] + copy[size],
        Work.COPY: lambda size: copy[size],
    }
    working = [[Fraction(of_work[one](size)) for size in channel.messages] for one in Work]
    return sending, passing, working


@njit(cache=True)
def _path_kernel(
    kind_of: Any, kinds: Any, sizes: Any, work: Any, sending: Any, passing: Any, working: Any
) -> tuple[int, int, int]:  # pragma: no cover - compiled
    """Return the latencies, the bytes between hosts and the time of the longest path.

    Times are whole numbers of one unit, so equal paths compare equal.
    """
    ranks, count, last = len(kind_of), len(sizes), len(work) - 1
    time = np.zeros((2, ranks, count), dtype=sending.dtype)
    latencies = np.zeros((2, ranks, count), dtype=np.int64)
    sent = np.zeros((2, ranks, count), dtype=np.int64)
    for step in range(last):
        new, old = step % 2, (step + 1) % 2
        for rank in range(ranks):
            before = (rank - 1) % ranks
            for at in range(count):
                # The rank has the data.
                value = working[work[step], at]
                hops, carried = 0, 0
                if step > 0:
                    kind = kind_of[before]
                    value = value + time[old, before, at] + passing[kind, at]
                    hops = latencies[old, before, at] + (kind > 0)
                    carried = sent[old, before, at] + kinds[kind] * sizes[at]
                # The interface is free.
                if step > 0 or at > 0:
                    side = new if at > 0 else old
                    index = (at - 1) % count
                    kind = kind_of[rank]
                    free = time[side, rank, index] + sending[kind, index]
                    if free > value:
                        value = free
                        hops = latencies[side, rank, index]
                        carried = sent[side, rank, index] + kinds[kind] * sizes[index]
                time[new, rank, at] = value
                latencies[new, rank, at] = hops
                sent[new, rank, at] = carried
    new = (last - 1) % 2
    best, best_hops, best_sent = sending[0, 0] * 0, 0, 0
    for rank in range(ranks):
        kind = kind_of[rank]
        for at in range(count):
            value = time[new, rank, at] + passing[kind, at] + working[work[last], at]
            if value > best:
                best = value
                best_hops = latencies[new, rank, at] + (kind > 0)
                best_sent = sent[new, rank, at] + kinds[kind] * sizes[at]
    return best_hops, best_sent, best
