"""Messages through switches: events in order of time.

Times, queues and pieces are as in `single_hop`.  A heap entry is a request of a piece for its
next link at a time, or its arrival.  Entries of equal time are ordered by piece, then by program
order.
"""

from typing import Any, NamedTuple

from numba import njit
from numpy.typing import NDArray

from topoloom.schedules.simulate.single_hop import LIMIT
from topoloom.synth.kernels.scalars import int64

ASKS, ARRIVES = 0, 1


class MessageState(NamedTuple):
    """Messages and their state; arrays of int64 unless stated otherwise."""

    hop_start: NDArray[Any]
    """First hop by message, and one past the last."""
    hops: NDArray[Any]
    """Link by hop."""
    duration: NDArray[Any]
    """Ticks of one piece on the link, by hop."""
    owner: NDArray[Any]
    """Message by hop."""
    queue: NDArray[Any]
    """Queue by message."""
    levels: NDArray[Any]
    """Level by message: its piece p is in round level + p."""
    queue_start: NDArray[Any]
    queued: NDArray[Any]
    """Messages by queue, in program order."""
    follow_start: NDArray[Any]
    follow: NDArray[Any]
    """The messages that wait for each message."""
    pending: NDArray[Any]
    """int32, by piece: number of pending arrivals."""
    free: NDArray[Any]
    """Time at which each queue, then each link behind a switch, becomes free; initially zero."""
    busy: NDArray[Any]
    """Busy time of each link; initially zero."""
    turn: NDArray[Any]
    """By queue, its current round; initially zero."""
    place: NDArray[Any]
    """By queue, its position in ``queued``; initially ``queue_start`` without its last entry."""
    times: NDArray[Any]
    keys: NDArray[Any]
    """The heap, with capacity for one entry of each piece."""


@njit(cache=True, nogil=True)
def run_switched(
    traffic: MessageState, pieces: int, alpha: int, synchronous: bool
) -> tuple[int, int, int]:  # pragma: no cover
    """Run messages of any number of hops.

    A message leaves its node in program order: by round, then by level, then as listed.
    Switches serve requests in order of arrival, and cut through: hop k starts at the
    earliest time at which it neither starts nor ends before hop k - 1.  Each link is thus busy
    for exactly its bytes.  With ``synchronous`` round r waits for all of round r - 1 instead of
    single messages.

    Returns
    -------
    last : int
        The last arrival, or -1 where a time passes `LIMIT`.
    arrived, events : int
        Pieces that arrived: all, unless some wait for each other.  Entries taken from
        the heap.
    """
    queues, hops = len(traffic.place), len(traffic.hops)
    rounds = traffic.levels.max() + pieces if hops else 0
    until = 1 if synchronous else rounds
    size = now = last = arrived = events = int64(0)
    while True:
        for lane in range(queues):
            size = _release(traffic, lane, now, until, pieces, alpha, synchronous, size)
            if size < 0:
                return -1, arrived, events
        while size > 0:
            now, key = traffic.times[0], traffic.keys[0]
            size = _pop(traffic, size)
            events += 1
            piece, hop = (key >> 1) // hops, (key >> 1) % hops
            if key & 1 == ASKS:
                size = _send(traffic, hop, piece, now, queues + traffic.hops[hop], alpha, size)
            else:
                last = now
                arrived += 1
                message = traffic.owner[hop]
                for at in range(traffic.follow_start[message], traffic.follow_start[message + 1]):
                    later = traffic.follow[at]
                    traffic.pending[later * pieces + piece] -= 1
                    if size >= 0 and not synchronous:
                        lane = traffic.queue[later]
                        size = _release(traffic, lane, now, until, pieces, alpha, synchronous, size)
            if size < 0:
                return -1, arrived, events
        if until >= rounds:
            return last, arrived, events
        until += 1


@njit(cache=True, nogil=True)
def _release(traffic, lane, now, until, pieces, alpha, synchronous, size):  # pragma: no cover
    """Send what a queue may send now; return the size of the heap, or -1 past the limit."""
    begin, end = traffic.queue_start[lane], traffic.queue_start[lane + 1]
    while begin < end and traffic.turn[lane] < until:
        if traffic.place[lane] == end:
            traffic.place[lane] = begin
            traffic.turn[lane] += 1
            continue
        message = traffic.queued[traffic.place[lane]]
        piece = traffic.turn[lane] - traffic.levels[message]
        if 0 <= piece < pieces:
            if not synchronous and traffic.pending[message * pieces + piece] > 0:
                break
            size = _send(traffic, traffic.hop_start[message], piece, now, lane, alpha, size)
            if size < 0:
                break
        traffic.place[lane] += 1
    return size


@njit(cache=True, nogil=True)
def _send(traffic, hop, piece, now, gate, alpha, size):  # pragma: no cover
    """Put one piece on a link; return the new size of the heap, or -1 past the limit."""
    times, keys, hops = traffic.times, traffic.keys, traffic.hops
    begin = max(now, traffic.free[gate])
    finish = begin + traffic.duration[hop]
    if finish > LIMIT - alpha:
        return -1
    traffic.free[gate] = finish
    traffic.busy[hops[hop]] += traffic.duration[hop]
    if hop + 1 < traffic.hop_start[traffic.owner[hop] + 1]:
        time = max(begin, finish - traffic.duration[hop + 1])
        key = 2 * (piece * len(hops) + hop + 1) + ASKS
    else:
        time = finish + alpha
        key = 2 * (piece * len(hops) + hop) + ARRIVES
    at = size
    while at > 0:
        up = (at - 1) >> 1
        if times[up] < time or (times[up] == time and keys[up] < key):
            break
        times[at], keys[at] = times[up], keys[up]
        at = up
    times[at], keys[at] = time, key
    return size + 1


@njit(cache=True, nogil=True)
def _pop(traffic, size):  # pragma: no cover
    """Remove the first entry, which the caller has read; return the new size."""
    times, keys = traffic.times, traffic.keys
    size -= 1
    time, key = times[size], keys[size]
    at = 0
    while True:
        down = 2 * at + 1
        if down >= size:
            break
        right = down + 1
        if right < size and (
            times[right] < times[down] or (times[right] == times[down] and keys[right] < keys[down])
        ):
            down = right
        if time < times[down] or (time == times[down] and key < keys[down]):
            break
        times[at], keys[at] = times[down], keys[down]
        at = down
    times[at], keys[at] = time, key
    return size
