"""Ticks of messages for any size and number of pieces, from tables of a network.

All transmissions are multiples of one time that is proportional to the size of a piece, and all
latencies and costs of messages are multiples of one fixed time.  The clock of a simulation divides
both.  So the tables hold whole numbers, and a simulation multiplies them.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.simulate.clock import MAX_TICKS, Clock, Network, clock_of, raise_no_clock
from topoloom.schedules.simulate.latency_order import link_seconds
from topoloom.schedules.simulate.messages import Messages

Ints = NDArray[np.int64]


class MessageTicks:
    """Tables of messages on a network.

    Raises:
        NoSchedule: The network leaves the latency to links that state none.
        TooLarge: A latency exceeds `MAX_TICKS`.
    """

    def __init__(self, messages: Messages, network: Network) -> None:
        self._messages, self._network = messages, network
        latencies = link_seconds(messages, network)
        self._fixed = _unit({*latencies, network.overhead_seconds, network.chunk_seconds})
        self._overhead = _multiple(network.overhead_seconds, self._fixed)
        self._chunk = _multiple(network.chunk_seconds, self._fixed)
        of_link = [_multiple(one, self._fixed) for one in latencies]
        self._most_latency = max(of_link, default=0)
        if self._most_latency > MAX_TICKS:
            raise_no_clock()
        self._latencies = self._by_hop(np.array(of_link, np.int64))
        used = {messages.capacities[link] for link in np.unique(messages.hops).tolist()}
        inverse = {capacity: Fraction(1) / capacity for capacity in used}
        self._sending = _unit(set(inverse.values()))
        rates = {capacity: _multiple(one, self._sending) for capacity, one in inverse.items()}
        self._slowest = max(rates.values(), default=0)
        self._largest = max(messages.units, default=0) * self._slowest
        self._units = np.zeros(len(messages.hops), np.int64)
        if self._largest <= MAX_TICKS:
            by_link = np.array([rates.get(one, 0) for one in messages.capacities], np.int64)
            units = np.array(messages.units if self._largest else [0] * len(messages.units))
            each = np.repeat(units.astype(np.int64), np.diff(messages.hop_start))
            self._units = each * by_link[messages.hops]

    def at(self, size_bytes: int, chunks: int) -> tuple[Clock, Ints, Ints]:
        """Return the clock, and by hop the ticks of one piece on the link and of the latency.

        The latency is from the end of a piece on the link to its end at the next node.

        Raises:
            TooLarge: A time exceeds `MAX_TICKS`.
        """
        messages = self._messages
        part = messages.unit * size_bytes / (self._network.unit_bytes_per_second * chunks)
        clock = clock_of((self._fixed, part * self._sending))
        fixed, sending = clock.ticks(self._fixed), clock.ticks(part * self._sending)
        overhead, chunk = self._overhead * fixed, self._chunk * fixed
        cut = -(-messages.chunk_count // chunks)
        most = overhead + chunk * int(cut.max(initial=0))
        longest = max(self._slowest * sending, self._most_latency * fixed, overhead, chunk)
        if longest > MAX_TICKS or self._largest * sending > MAX_TICKS - most:
            raise_no_clock()
        durations = self._units * sending
        moved = np.diff(messages.hop_start) > 0
        first = messages.hop_start[:-1][moved]
        durations[first] += (overhead * messages.opens + chunk * cut)[moved]
        return clock, durations, self._latencies * fixed

    def _by_hop(self, latencies: Ints) -> Ints:
        """Return the latencies by hop; the one latency of all hops counts on the last link."""
        messages = self._messages
        if self._network.alpha_seconds is None:
            return latencies[messages.hops]
        found = np.zeros(len(messages.hops), np.int64)
        found[messages.hop_start[1:][np.diff(messages.hop_start) > 0] - 1] = latencies[0]
        return found


def _unit(times: set[Fraction]) -> Fraction:
    """Return the largest time that divides all times; 0 if all are 0."""
    return clock_of(times).tick if any(times) else Fraction(0)


def _multiple(time: Fraction, unit: Fraction) -> int:
    return (time / unit).numerator if unit else 0
