"""Messages through switches: events in order of time.

Times, queues and pieces are as in `single_hop`.  An event is a request of a piece for its next link
at a time, or its arrival.  Events of equal time are ordered by piece, then by program order.

The arrivals from one queue, or from a link behind a switch, are a *stream*: their times never
decrease.  So are its requests, each between the start and the end of its transmission.  A linked
list holds a stream, and the heap holds the first event of each.
"""

from typing import Any, NamedTuple

from numpy.typing import NDArray

from topoloom.schedules.simulate.single_hop import LIMIT
from topoloom.synth.kernels.scalars import int64
from topoloom.synth.kernels.uncounted import inlined, uncounted

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
    """int32, by piece, then by message: number of pending arrivals."""
    free: NDArray[Any]
    """Time at which each queue, then each link behind a switch, becomes free; initially zero."""
    busy: NDArray[Any]
    """Busy time of each link; initially zero."""
    turn: NDArray[Any]
    """By queue, its current round; initially zero."""
    place: NDArray[Any]
    """By queue, its position in ``queued``; initially ``queue_start`` without its last entry."""
    heap: NDArray[Any]
    """Time, rank among equal times, and stream of the first event of each stream, by row."""
    first: NDArray[Any]
    last: NDArray[Any]
    """Slot of the first event of each stream, or -1, and of its last event."""
    slots: NDArray[Any]
    """Time, hop, piece, and slot of the next event (or -1), by row: one event of each piece."""
    unused: NDArray[Any]
    """First slot that became free, or -1, and number of slots ever used; initially (-1, 0)."""


@uncounted
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
        Pieces that arrived: all, unless some wait for each other.  Events that happened.
    """
    queues, count = len(traffic.place), len(traffic.queue)
    levels = int64(0)
    for message in range(count):
        levels = max(levels, traffic.levels[message])
    rounds = levels + pieces if count else 0
    until = 1 if synchronous else rounds
    size = now = last = arrived = events = int64(0)
    while True:
        for lane in range(queues):
            size = _release(traffic, lane, now, until, pieces, alpha, synchronous, size)
            if size < 0:
                return -1, arrived, events
        while size > 0:
            now, stream = traffic.heap[0, 0], traffic.heap[0, 2]
            slot = traffic.first[stream]
            hop, piece = traffic.slots[slot, 1], traffic.slots[slot, 2]
            size = _take(traffic, stream, size)
            events += 1
            if stream & 1 == ASKS:
                size = _send(traffic, hop, piece, now, queues + traffic.hops[hop], alpha, size)
            else:
                last = now
                arrived += 1
                message = traffic.owner[hop]
                for at in range(traffic.follow_start[message], traffic.follow_start[message + 1]):
                    later = traffic.follow[at]
                    traffic.pending[piece * count + later] -= 1
                    ready = traffic.pending[piece * count + later] == 0
                    if size >= 0 and ready and not synchronous:
                        lane = traffic.queue[later]
                        size = _release(traffic, lane, now, until, pieces, alpha, synchronous, size)
            if size < 0:
                return -1, arrived, events
        if until >= rounds:
            return last, arrived, events
        until += 1


@inlined
def _release(traffic, lane, now, until, pieces, alpha, synchronous, size):  # pragma: no cover
    """Send what a queue may send now; return the size of the heap, or -1 past the limit."""
    begin, end, count = traffic.queue_start[lane], traffic.queue_start[lane + 1], len(traffic.queue)
    while begin < end and traffic.turn[lane] < until:
        if traffic.place[lane] == end:
            traffic.place[lane] = begin
            traffic.turn[lane] += 1
            continue
        message = traffic.queued[traffic.place[lane]]
        piece = traffic.turn[lane] - traffic.levels[message]
        if 0 <= piece < pieces:
            if not synchronous and traffic.pending[piece * count + message] > 0:
                break
            size = _send(traffic, traffic.hop_start[message], piece, now, lane, alpha, size)
            if size < 0:
                break
        traffic.place[lane] += 1
    return size


@inlined
def _send(traffic, hop, piece, now, gate, alpha, size):  # pragma: no cover
    """Put one piece on a link; return the new size of the heap, or -1 past the limit."""
    begin = max(now, traffic.free[gate])
    finish = begin + traffic.duration[hop]
    if finish > LIMIT - alpha:
        size = -1
    else:
        traffic.free[gate] = finish
        traffic.busy[traffic.hops[hop]] += traffic.duration[hop]
        time, kind, after = finish + alpha, ARRIVES, hop
        if hop + 1 < traffic.hop_start[traffic.owner[hop] + 1]:
            time, kind, after = max(begin, finish - traffic.duration[hop + 1]), ASKS, hop + 1
        size = _add(traffic, 2 * gate + kind, time, after, piece, size)
    return size


@inlined
def _add(traffic, stream, time, hop, piece, size):  # pragma: no cover
    """Add the last event of a stream; return the new size of the heap."""
    slots, unused, slot = traffic.slots, traffic.unused, traffic.unused[0]
    if slot < 0:
        slot = unused[1]
        unused[1] += 1
    else:
        unused[0] = slots[slot, 3]
    slots[slot, 0], slots[slot, 1], slots[slot, 2], slots[slot, 3] = time, hop, piece, -1
    if traffic.first[stream] >= 0:
        slots[traffic.last[stream], 3] = slot
    else:
        traffic.first[stream] = slot
        heap, rank, at = traffic.heap, piece * len(traffic.hops) + hop, size
        while at > 0:
            up = (at - 1) >> 1
            if heap[up, 0] < time or (heap[up, 0] == time and heap[up, 1] < rank):
                break
            heap[at, 0], heap[at, 1], heap[at, 2] = heap[up, 0], heap[up, 1], heap[up, 2]
            at = up
        heap[at, 0], heap[at, 1], heap[at, 2] = time, rank, stream
        size += 1
    traffic.last[stream] = slot
    return size


@inlined
def _take(traffic, stream, size):  # pragma: no cover
    """Remove the first event of the heap, which is of ``stream``; return the new size."""
    heap, slots, slot = traffic.heap, traffic.slots, traffic.first[stream]
    later = slots[slot, 3]
    slots[slot, 3], traffic.unused[0] = traffic.unused[0], slot
    traffic.first[stream] = later
    if later >= 0:
        time, rank = slots[later, 0], slots[later, 2] * len(traffic.hops) + slots[later, 1]
    else:
        size -= 1
        time, rank, stream = heap[size, 0], heap[size, 1], heap[size, 2]
    at = 0
    while True:
        down = 2 * at + 1
        if down >= size:
            break
        right = down + 1
        if right < size and (
            heap[right, 0] < heap[down, 0]
            or (heap[right, 0] == heap[down, 0] and heap[right, 1] < heap[down, 1])
        ):
            down = right
        if time < heap[down, 0] or (time == heap[down, 0] and rank < heap[down, 1]):
            break
        heap[at, 0], heap[at, 1], heap[at, 2] = heap[down, 0], heap[down, 1], heap[down, 2]
        at = down
    heap[at, 0], heap[at, 1], heap[at, 2] = time, rank, stream
    return size
