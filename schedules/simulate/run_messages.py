"""Run messages: convert times to ticks, assign links to queues, and select the event loop."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import InvalidSchedule, TooLarge
from topoloom.schedules.simulate.clock import Network, raise_no_clock
from topoloom.schedules.simulate.latency_order import in_order_of_latency
from topoloom.schedules.simulate.message_ticks import MessageTicks
from topoloom.schedules.simulate.messages import Messages
from topoloom.schedules.simulate.multi_hop import MessageState, run_switched
from topoloom.schedules.simulate.single_hop import run_direct

MAX_MESSAGES = 1 << 25
"""Maximum number of pieces of messages in a simulation."""


@dataclass(frozen=True, slots=True)
class Simulation:
    """The result of a simulation; times are exact.

    ``chunks`` is the number of pieces of each message (the maximum over the parts of a sequence),
    ``messages`` the number of pieces sent from rank to rank, ``events`` the number of transmissions
    of a piece on a link.  ``busy_seconds`` is the time for which each link carries data, in the
    order of ``Topology.links``.
    """

    seconds: Fraction
    chunks: int
    messages: int
    events: int
    busy_seconds: tuple[Fraction, ...]

    @property
    def busiest(self) -> Fraction:
        """The largest utilization of any link; 0 if the total time is 0.

        >>> half = Simulation(Fraction(2), 1, 1, 1, (Fraction(1), Fraction(0)))
        >>> half.busiest, half.mean
        (Fraction(1, 2), Fraction(1, 4))
        """
        most = max(self.busy_seconds, default=Fraction(0))
        return most / self.seconds if self.seconds else Fraction(0)

    @property
    def mean(self) -> Fraction:
        """The mean utilization over all links."""
        whole = self.seconds * len(self.busy_seconds)
        return sum(self.busy_seconds, Fraction(0)) / whole if whole else Fraction(0)


def run_messages(
    messages: Messages,
    network: Network,
    size_bytes: int,
    chunks: int,
    synchronous: bool,
    ticks: MessageTicks | None = None,
) -> Simulation:
    """Run messages, each cut into ``chunks`` pieces; ``ticks`` are tables of the same messages."""
    pieces = len(messages.units) * chunks
    if pieces > MAX_MESSAGES:
        raise TooLarge("/chunks", f"{pieces} pieces of messages; at most {MAX_MESSAGES}")
    clock, durations, latencies = (ticks or MessageTicks(messages, network)).at(size_bytes, chunks)
    if network.alpha_seconds is None and not synchronous:
        messages, hops = in_order_of_latency(messages, latencies, durations, chunks)
        latencies, durations = latencies[hops], durations[hops]
    direct = len(messages.hops) == len(messages.units)
    loop = _run_direct if direct else _run_switched
    last, busy = loop(messages, network, durations, latencies, chunks, synchronous)
    if last < 0:
        raise_no_clock()
    times = {each: clock.seconds(each) for each in np.unique(busy).tolist()}
    return Simulation(
        clock.seconds(last),
        chunks,
        pieces,
        len(messages.hops) * chunks,
        tuple(times[each] for each in busy[messages.link_of].tolist()),
    )


def _queues(messages: Messages, channels: int | None) -> NDArray[np.int64]:
    """Return the queue of each link: its own, or that of its channel."""
    links = np.arange(len(messages.sources))
    if channels is None:
        return links
    order = np.argsort(messages.sources, kind="stable")
    sorted_sources = messages.sources[order]
    rank = np.empty(len(links), np.int64)
    rank[order] = links - np.searchsorted(sorted_sources, sorted_sources)
    _, queues = np.unique(
        np.stack([messages.sources, rank % channels]), axis=1, return_inverse=True
    )
    return queues.reshape(-1)


def _run_direct(
    messages: Messages,
    network: Network,
    durations: NDArray[np.int64],
    latencies: NDArray[np.int64],
    chunks: int,
    synchronous: bool,
) -> tuple[int, NDArray[np.int64]]:
    links = len(messages.capacities)
    busy = np.zeros(links, np.int64)
    last = run_direct(
        messages.hops,
        _queues(messages, network.channels)[messages.hops],
        durations,
        latencies,
        messages.starts,
        messages.need_start,
        messages.needs,
        messages.first_chunk,
        messages.chunk_count,
        chunks,
        synchronous,
        messages.staggered,
        np.zeros(links, np.int64),
        busy,
        np.zeros(0 if synchronous else len(messages.units) * chunks, np.int64),
    )
    return last, busy


def _run_switched(
    messages: Messages,
    network: Network,
    durations: NDArray[np.int64],
    latencies: NDArray[np.int64],
    chunks: int,
    synchronous: bool,
) -> tuple[int, NDArray[np.int64]]:
    links, count = len(messages.capacities), len(messages.units)
    levels = np.repeat(np.arange(len(messages.starts) - 1), np.diff(messages.starts))
    queue = _queues(messages, network.channels)[messages.hops[messages.hop_start[:-1]]]
    queued = np.argsort(queue, kind="stable")
    queue_start = np.searchsorted(queue[queued], np.arange(links + 1))
    needed_by = np.repeat(np.arange(count), np.diff(messages.need_start))
    follow = np.argsort(messages.needs, kind="stable")
    pending = np.tile(np.diff(messages.need_start).astype(np.int32), chunks)
    busy = np.zeros(links, np.int64)
    traffic = MessageState(
        messages.hop_start,
        messages.hops,
        durations,
        latencies,
        np.repeat(np.arange(count), np.diff(messages.hop_start)),
        queue,
        levels,
        queue_start,
        queued,
        np.searchsorted(messages.needs[follow], np.arange(count + 1)),
        needed_by[follow],
        pending,
        np.zeros(count * chunks, np.int64),
        np.zeros(2 * links, np.int64),
        busy,
        np.zeros(links, np.int64),
        queue_start[:-1].copy(),
        np.empty(links, np.int64),
        np.zeros(links, np.int64),
        np.empty((2 * links, 3), np.int64),
        np.full(2 * links, -1),
        np.full(2 * links, -1),
        np.empty((count * chunks, 4), np.int64),
        np.array([0, 0, 0, -1, 0]),
    )
    last, arrived, _ = run_switched(traffic, chunks, synchronous)
    if last >= 0 and arrived < count * chunks:
        raise InvalidSchedule("/trees", "some edges wait for each other")
    return last, busy
