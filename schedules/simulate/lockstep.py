"""Tree schedules in lock step: the exact time as a function of the number of pieces."""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from schedules.errors import NoSchedule
from schedules.model import TreeSchedule
from schedules.simulate.clock import Clock, Network, clock_of, raise_no_clock
from schedules.simulate.estimates import MAX_PIPELINE_CHUNKS
from schedules.simulate.messages import Messages, messages_of
from synth.topology import Topology

__all__ = ["Lockstep", "lockstep", "lockstep_of"]


@dataclass(frozen=True, slots=True)
class Lockstep:
    """What a forest costs in lock step, for one size.

    Every tree is cut into P pieces; in round r piece p crosses the edges at depth r - p.
    A round takes alpha and the time of its busiest link.

    ``window_seconds[v][w]`` is how long all bytes of the edges at depths v to v + w take
    on the link that is busiest then.
    """

    alpha_seconds: Fraction
    depth: int
    window_seconds: tuple[tuple[Fraction, ...], ...]

    @property
    def transfer_seconds(self) -> Fraction:
        """T, the time of all bytes on the busiest link."""
        return self.window_seconds[0][-1] if self.depth else Fraction(0)

    def scaled(self, factor: int) -> "Lockstep":
        """Return the same for ``factor`` times as many bytes."""
        rows = tuple(tuple(time * factor for time in row) for row in self.window_seconds)
        return Lockstep(self.alpha_seconds, self.depth, rows)

    def latency_seconds(self, chunks: int) -> Fraction:
        """Return alpha times the number of rounds: the time of no bytes at all."""
        return (self.depth + chunks - 1) * self.alpha_seconds if self.depth else Fraction(0)

    def seconds(self, chunks: int) -> Fraction:
        """Return the time with P = ``chunks`` pieces; at least 1.

        Notes
        -----
        There are h + P - 1 rounds.  Round r moves the depths from max(0, r - P + 1) to
        min(r, h - 1), and one P-th of their bytes.

        >>> chain = Lockstep(Fraction(1), 2, ((Fraction(8), Fraction(8)), (Fraction(8),)))
        >>> [chain.seconds(chunks) for chunks in (1, 2, 4, 8)]
        [Fraction(18, 1), Fraction(15, 1), Fraction(15, 1), Fraction(18, 1)]
        """
        if chunks < 1:
            raise NoSchedule("/chunks", "must be at least 1")
        if not self.depth:
            return Fraction(0)
        if chunks >= self.depth:
            moved = self._ramps() + (chunks - self.depth + 1) * self.transfer_seconds
        else:
            ends = (
                (max(0, r - chunks + 1), min(r, self.depth - 1))
                for r in range(self.depth + chunks - 1)
            )
            moved = sum((self.window_seconds[low][top - low] for low, top in ends), Fraction(0))
        return self.latency_seconds(chunks) + moved / chunks

    def best_chunks(self, most: int = MAX_PIPELINE_CHUNKS) -> int:
        """Return the number of pieces of least time, at most ``most``; of equals the least."""
        tried = self.chunks_to_try(most)
        return min(tried, key=lambda chunks: (self.seconds(chunks), chunks))

    def chunks_to_try(self, most: int = MAX_PIPELINE_CHUNKS) -> set[int]:
        """Return numbers of pieces that hold the best; above the largest the time only grows.

        Notes
        -----
        With A the time of all rounds before and after the full ones, the time for P >= h
        is (h - 1) alpha + T + P alpha + (A - (h - 1) T) / P.  It is convex in P, so the
        best integer is next to the root of (A - (h - 1) T) / alpha, or h; each P < h is
        one of them.
        """
        depth, alpha = self.depth, self.alpha_seconds
        tried = {1, *range(1, min(depth, most) + 1)}
        if 1 <= depth <= most:
            slope = self._ramps() - (depth - 1) * self.transfer_seconds
            if slope > 0:
                root = isqrt(int(slope / alpha)) if alpha else most
                tried |= {min(max(near, depth), most) for near in (root, root + 1)}
        return tried

    def _ramps(self) -> Fraction:
        """Return A, the time of all rounds that do not move every depth."""
        rising = sum(self.window_seconds[0][:-1], Fraction(0))
        return rising + sum((row[-1] for row in self.window_seconds[1:]), Fraction(0))


def lockstep(
    schedule: TreeSchedule, topology: Topology, network: Network, *, size_bytes: int
) -> Lockstep:
    """Return what a forest costs in lock step; overhead and channels do not count.

    Without switches a synchronous `simulate` takes exactly this.  Through switches it is
    a lower bound of it: a link may have to wait for the one before.

    O(h^2 links + edges) for trees of depth h.

    Raises
    ------
    InvalidSchedule
        An edge runs over no link, or edges do not follow one another.
    NoSchedule
        The size is negative.
    """
    if size_bytes < 0:
        raise NoSchedule("/size_bytes", "must not be negative")
    return lockstep_of(messages_of(schedule, topology), network, size_bytes)


def lockstep_of(messages: Messages, network: Network, size_bytes: int) -> Lockstep:
    """Return what trees cost in lock step, from their messages."""
    scale = messages.unit * size_bytes / network.unit_bytes_per_second
    clock, loads = _loads(messages)
    sums = np.zeros((len(loads) + 1, loads.shape[1]), np.int64)
    np.cumsum(loads, axis=0, out=sums[1:])
    rows = [
        tuple(
            scale * clock.seconds(int((sums[top] - sums[low]).max()))
            for top in range(low + 1, len(sums))
        )
        for low in range(len(loads))
    ]
    return Lockstep(network.alpha_seconds, len(loads), tuple(rows))


def _loads(messages: Messages) -> tuple[Clock, NDArray[np.int64]]:
    """Return the units over capacity on each link, by level, in ticks of a clock."""
    clock = clock_of(Fraction(1) / capacity for capacity in messages.capacities)
    rates = [clock.ticks(Fraction(1) / capacity) for capacity in messages.capacities]
    if sum(messages.units) * max(rates, default=0) > 1 << 62:
        raise_no_clock()
    units = np.repeat(np.array(messages.units, np.int64), np.diff(messages.hop_start))
    levels = np.repeat(np.arange(len(messages.starts) - 1), np.diff(messages.starts))
    level = np.repeat(levels, np.diff(messages.hop_start))
    loads = np.zeros((len(messages.starts) - 1, len(messages.capacities)), np.int64)
    np.add.at(loads, (level, messages.hops), units * np.array(rates, np.int64)[messages.hops])
    return clock, loads
