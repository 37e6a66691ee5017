"""Tree schedules in lock step: the exact time as a function of the number of pieces."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, pairwise
from math import isqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import TreeSchedule
from topoloom.schedules.simulate.clock import Clock, Network, clock_of, raise_no_clock
from topoloom.schedules.simulate.closed_form import MAX_PIPELINE_CHUNKS
from topoloom.schedules.simulate.latency_order import link_seconds
from topoloom.schedules.simulate.messages import Messages, messages_of
from topoloom.synth.topology.topology import Topology

_Windows: TypeAlias = Sequence[Sequence[Fraction]] | Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class Lockstep:
    """The cost of a forest in lock step, for one size.

    Every tree is cut into P pieces; in round r piece p crosses the edges at depth r - p.
    A round takes alpha and the time of its busiest link.  Where links have their own latencies, a
    round takes the largest latency of its hops instead, which makes times upper bounds.

    ``window_seconds[v][w]`` is the transmission time of all bytes of the edges at depths v to
    v + w on their busiest link.  ``window_messages[v][w]`` is the most messages of these edges on
    one link; each takes ``message_seconds`` in addition to its bytes.  Where messages take time,
    times are upper bounds, exact if one link has the most of both.

    ``window_latencies[v][w]`` is the largest latency of a hop at depths v to v + w, and
    ``alpha_seconds`` that of all hops; empty where every hop takes ``alpha_seconds``.
    ``empty_seconds`` replaces the latencies of trees in one piece, if given.
    """

    alpha_seconds: Fraction
    depth: int
    window_seconds: tuple[tuple[Fraction, ...], ...]
    message_seconds: Fraction = Fraction(0)
    window_messages: tuple[tuple[int, ...], ...] = ()
    window_latencies: tuple[tuple[Fraction, ...], ...] = ()
    empty_seconds: Fraction | None = None

    @property
    def transfer_seconds(self) -> Fraction:
        """T, the transmission time of all bytes on the busiest link."""
        return self.window_seconds[0][-1] if self.depth else Fraction(0)

    def scaled(self, factor: int) -> "Lockstep":
        """Return the cost for ``factor`` times as many bytes."""
        rows = tuple(tuple(time * factor for time in row) for row in self.window_seconds)
        return replace(self, window_seconds=rows)

    def latency_seconds(self, chunks: int) -> Fraction:
        """Return the time of zero bytes: the latencies of all rounds, and the messages."""
        if not self.depth:
            return Fraction(0)
        fixed = (self.depth + chunks - 1) * self.alpha_seconds
        if self.window_latencies:
            fixed = _over_rounds(self.window_latencies, chunks)
        if chunks == 1 and self.empty_seconds is not None:
            fixed = self.empty_seconds
        if self.message_seconds:
            fixed += self.message_seconds * _over_rounds(self.window_messages, chunks)
        return fixed

    def seconds(self, chunks: int) -> Fraction:
        """Return the time with P = ``chunks`` pieces; at least 1.

        There are h + P - 1 rounds.  Round r moves 1/P of the bytes of the depths from
        max(0, r - P + 1) to min(r, h - 1).

        >>> chain = Lockstep(Fraction(1), 2, ((Fraction(8), Fraction(8)), (Fraction(8),)))
        >>> [chain.seconds(chunks) for chunks in (1, 2, 4, 8)]
        [Fraction(18, 1), Fraction(15, 1), Fraction(15, 1), Fraction(18, 1)]
        """
        if chunks < 1:
            raise NoSchedule("/chunks", "must be at least 1")
        if not self.depth:
            return Fraction(0)
        return self.latency_seconds(chunks) + _over_rounds(self.window_seconds, chunks) / chunks

    def best_chunks(self, most: int = MAX_PIPELINE_CHUNKS) -> int:
        """Return the number of pieces of least time, at most ``most``; ties go to the least."""
        tried = self.chunks_to_try(most)
        return min(tried, key=lambda chunks: (self.seconds(chunks), chunks))

    def chunks_to_try(self, most: int = MAX_PIPELINE_CHUNKS) -> set[int]:
        """Return numbers of pieces that include the best; above the largest the time only grows.

        With A the time of all rounds before and after the full ones, and m the messages of a
        full round, the time for P >= h is a constant + P (alpha + m ``message_seconds``) +
        (A - (h - 1) T) / P.  It is convex in P, so the best integer is next to the root of
        (A - (h - 1) T) / (alpha + m ``message_seconds``), or h; each P < h is a candidate.
        """
        depth, alpha = self.depth, self.alpha_seconds
        if self.message_seconds and depth:
            alpha += self.message_seconds * self.window_messages[0][-1]
        tried = {1, *range(1, min(depth, most) + 1)}
        if 1 <= depth <= most:
            slope = _ramps(self.window_seconds) - (depth - 1) * self.transfer_seconds
            if slope > 0:
                root = isqrt(int(slope / alpha)) if alpha else most
                tried |= {min(max(near, depth), most) for near in (root, root + 1)}
        return tried


def _over_rounds(
    windows: Sequence[Sequence[Fraction]] | Sequence[Sequence[int]], chunks: int
) -> Fraction:
    """Return the sum over all rounds of the value of the depths in the round."""
    depth = len(windows)
    if chunks >= depth:
        return _ramps(windows) + (chunks - depth + 1) * Fraction(windows[0][-1])
    ends = ((max(0, r - chunks + 1), min(r, depth - 1)) for r in range(depth + chunks - 1))
    return Fraction(sum(windows[low][top - low] for low, top in ends))


def _ramps(windows: _Windows) -> Fraction:
    """Return the sum over all rounds that do not include every depth."""
    return Fraction(sum((*windows[0][:-1], *(row[-1] for row in windows[1:]))))


def lockstep(
    schedule: TreeSchedule, topology: Topology, network: Network, *, size_bytes: int
) -> Lockstep:
    """Return the cost of a forest in lock step, independent of channels.

    Without switches a synchronous `simulate` takes exactly this time, or less where messages take
    time (see `Lockstep`).  With switches this is a lower bound: a link may have to wait for the
    previous link.

    O(h^2 links + edges) for trees of depth h.

    Raises:
        InvalidSchedule: An edge uses a missing link, or edges do not follow one another.
        NoSchedule: The size is negative.
    """
    if size_bytes < 0:
        raise NoSchedule("/size_bytes", "must not be negative")
    return lockstep_of(messages_of(schedule, topology), network, size_bytes)


def lockstep_of(messages: Messages, network: Network, size_bytes: int) -> Lockstep:
    """Return the cost of trees in lock step, from their messages."""
    scale = messages.unit * size_bytes / network.unit_bytes_per_second
    clock, loads = _loads(messages)
    rows = tuple(
        tuple(scale * clock.seconds(most) for most in window) for window in _windows(loads)
    )
    each, counts = network.overhead_seconds + network.chunk_seconds, ()
    if each:
        counts = _windows(_counts(messages))
    alpha = network.alpha_seconds
    rounds = Lockstep(alpha or Fraction(0), len(loads), rows, each, counts)
    return rounds if alpha is not None else with_latencies(rounds, _by_level(messages, network))


def _by_level(messages: Messages, network: Network) -> list[Fraction]:
    """Return the largest latency of a message of each level."""
    by_link, hops = link_seconds(messages, network), messages.hops.tolist()
    by_hop = [
        sum((by_link[link] for link in hops[begin:end]), Fraction(0))
        for begin, end in pairwise(messages.hop_start.tolist())
    ]
    return [
        max(by_hop[begin:end], default=Fraction(0))
        for begin, end in pairwise(messages.starts.tolist())
    ]


def with_latencies(rounds: Lockstep, by_level: Sequence[Fraction]) -> Lockstep:
    """Return the cost of trees with the largest latency of each level."""
    windows = tuple(tuple(accumulate(by_level[low:], max)) for low in range(len(by_level)))
    return replace(
        rounds, alpha_seconds=max(by_level, default=Fraction(0)), window_latencies=windows
    )


def _windows(loads: NDArray[np.int64]) -> tuple[tuple[int, ...], ...]:
    """Return, by first and last level of a window, the largest sum of these levels on a link."""
    sums = np.zeros((len(loads) + 1, loads.shape[1]), np.int64)
    np.cumsum(loads, axis=0, out=sums[1:])
    return tuple(
        tuple(int((sums[top] - sums[low]).max()) for top in range(low + 1, len(sums)))
        for low in range(len(loads))
    )


def _counts(messages: Messages) -> NDArray[np.int64]:
    """Return the number of messages that start on each link, by level."""
    levels = np.repeat(np.arange(len(messages.starts) - 1), np.diff(messages.starts))
    counts = np.zeros((len(messages.starts) - 1, len(messages.capacities)), np.int64)
    np.add.at(counts, (levels, messages.hops[messages.hop_start[:-1]]), 1)
    return counts


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
