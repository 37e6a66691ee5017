"""Messages through switches: requests for links behind switches in order of time.

Times, queues and pieces are as in `single_hop`.  Once the needs of a piece have known times of
arrival, its queue knows when the piece starts, in any order of computation.  Only a link behind a
switch has to know which piece requests it first.  So all known pieces are sent, then the first
request of all is served, in turns.  No later request can precede it: each follows from a served
one.  Requests of equal time are ordered by piece, then by program order.

The requests of pieces that come over one link are a *stream*: their times never decrease, since
each is the latency of the link after a time between the start and the end of a transmission.  First
links of hops and links behind switches have streams of their own.  A linked list holds a stream,
and the heap holds the first request of each.
"""

from typing import Any, NamedTuple

from numpy.typing import NDArray

from topoloom.schedules.simulate.single_hop import LIMIT
from topoloom.synth.kernels.scalars import int64
from topoloom.synth.kernels.uncounted import inlined, uncounted


class MessageState(NamedTuple):
    """Messages and their state; arrays of int64 unless stated otherwise."""

    hop_start: NDArray[Any]
    """First hop by message, and one past the last."""
    hops: NDArray[Any]
    """Link by hop."""
    duration: NDArray[Any]
    """Ticks of one piece on the link, by hop."""
    latency: NDArray[Any]
    """Ticks from the end of a piece on the link to its end at the next node, by hop."""
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
    """int32, by piece, then by message: number of needs of unknown arrival."""
    ready: NDArray[Any]
    """By piece, then by message: last known arrival of a need; initially zero."""
    free: NDArray[Any]
    """Time at which each queue, then each link behind a switch, becomes free; initially zero."""
    busy: NDArray[Any]
    """Busy time of each link; initially zero."""
    turn: NDArray[Any]
    """By queue, its current round; initially zero."""
    place: NDArray[Any]
    """By queue, its position in ``queued``; initially ``queue_start`` without its last entry."""
    due: NDArray[Any]
    """Queues that may have something to send, as a stack."""
    listed: NDArray[Any]
    """Whether each queue is on the stack; initially zero."""
    heap: NDArray[Any]
    """Time, rank among equal times, and stream of the first request of each stream, by row."""
    first: NDArray[Any]
    last: NDArray[Any]
    """Slot of the first request of each stream, or -1, and of its last request."""
    slots: NDArray[Any]
    """Time, hop, piece, and slot of the next request (or -1), by row: one request of each piece."""
    state: NDArray[Any]
    """Last arrival, sizes of the stack and of the heap, first slot that became free, or -1, and
    number of slots ever used; initially (0, 0, 0, -1, 0)."""


LAST, DUE, HEAP, SPARE, USED = range(5)


@uncounted
def run_switched(
    traffic: MessageState, pieces: int, synchronous: bool
) -> tuple[int, int, int]:  # pragma: no cover
    """Run messages of any number of hops.

    A message leaves its node in program order: by round, then by level, then as listed.
    Switches serve requests in order of arrival, and cut through: hop k starts at the
    earliest time at which it neither starts nor ends before hop k - 1, plus the latency of hop
    k - 1.  Each link is thus busy for exactly its bytes.  With ``synchronous`` round r waits for
    all of round r - 1 instead of single messages.

    Returns:
        last: The last arrival, or -1 where a time passes `LIMIT`.
        arrived, requests: Pieces that arrived: all, unless some wait for each other.  Requests that
            were served.
    """
    queues, state = len(traffic.place), traffic.state
    levels = barrier = arrived = requests = int64(0)
    for message in range(len(traffic.queue)):
        levels = max(levels, traffic.levels[message] + 1)
    rounds = levels + pieces - 1
    until = 1 if synchronous else rounds
    while True:
        for lane in range(queues):
            traffic.due[lane] = lane
            traffic.listed[lane] = 1
        state[DUE] = queues
        while state[DUE] > 0 or state[HEAP] > 0:
            if state[DUE] > 0:
                state[DUE] -= 1
                lane = traffic.due[state[DUE]]
                traffic.listed[lane] = 0
                done = _release(traffic, lane, barrier, until, pieces, not synchronous)
            else:
                now, stream = traffic.heap[0, 0], traffic.heap[0, 2]
                slot = traffic.first[stream]
                hop, piece = traffic.slots[slot, 1], traffic.slots[slot, 2]
                _take(traffic, stream)
                requests += 1
                done = _send(traffic, hop, piece, now, queues + traffic.hops[hop])
            if done < 0:
                return -1, arrived, requests
            arrived += done
        if until >= rounds:
            return state[LAST], arrived, requests
        until += 1
        barrier = state[LAST]


@inlined
def _release(traffic, lane, barrier, until, pieces, waits):  # pragma: no cover
    """Send what a queue may send; return how many pieces arrived, or -1 past the limit."""
    begin, end, count = traffic.queue_start[lane], traffic.queue_start[lane + 1], len(traffic.queue)
    turn, place, done = traffic.turn[lane], traffic.place[lane], 0
    while begin < end and turn < until:
        if place == end:
            place = begin
            turn += 1
            continue
        message = traffic.queued[place]
        piece = turn - traffic.levels[message]
        if 0 <= piece < pieces:
            at = piece * count + message
            if waits and traffic.pending[at] > 0:
                break
            now = max(barrier, traffic.ready[at]) if waits else barrier
            sent = _send(traffic, traffic.hop_start[message], piece, now, lane)
            if sent < 0:
                done = -1
                break
            done += sent
        place += 1
    traffic.turn[lane], traffic.place[lane] = turn, place
    return done


@inlined
def _send(traffic, hop, piece, now, gate):  # pragma: no cover
    """Put one piece on a link; return whether it arrives, or -1 past the limit."""
    begin = max(now, traffic.free[gate])
    finish = begin + traffic.duration[hop]
    message = traffic.owner[hop]
    sent = 0
    if finish > LIMIT - traffic.latency[hop]:
        sent = -1
    else:
        traffic.free[gate] = finish
        traffic.busy[traffic.hops[hop]] += traffic.duration[hop]
        if hop + 1 < traffic.hop_start[message + 1]:
            time = max(begin, finish - traffic.duration[hop + 1]) + traffic.latency[hop]
            stream = traffic.hops[hop] if hop == traffic.hop_start[message] else gate
            _request(traffic, stream, time, hop + 1, piece)
        else:
            sent = 1
            _arrive(traffic, message, piece, finish + traffic.latency[hop])
    return sent


@inlined
def _arrive(traffic, message, piece, time):  # pragma: no cover
    """Let a piece arrive: list the queues of pieces whose needs are all known now."""
    state, count = traffic.state, len(traffic.queue)
    state[LAST] = max(state[LAST], time)
    for at in range(traffic.follow_start[message], traffic.follow_start[message + 1]):
        later = traffic.follow[at]
        where = piece * count + later
        traffic.ready[where] = max(traffic.ready[where], time)
        traffic.pending[where] -= 1
        lane = traffic.queue[later]
        if traffic.pending[where] == 0 and not traffic.listed[lane]:
            traffic.due[state[DUE]] = lane
            traffic.listed[lane] = 1
            state[DUE] += 1


@inlined
def _request(traffic, stream, time, hop, piece):  # pragma: no cover
    """Add the last request of a stream."""
    slots, state, slot = traffic.slots, traffic.state, traffic.state[SPARE]
    if slot < 0:
        slot = state[USED]
        state[USED] += 1
    else:
        state[SPARE] = slots[slot, 3]
    slots[slot, 0], slots[slot, 1], slots[slot, 2], slots[slot, 3] = time, hop, piece, -1
    if traffic.first[stream] >= 0:
        slots[traffic.last[stream], 3] = slot
    else:
        traffic.first[stream] = slot
        heap, rank, at = traffic.heap, piece * len(traffic.hops) + hop, state[HEAP]
        while at > 0:
            up = (at - 1) >> 1
            if heap[up, 0] < time or (heap[up, 0] == time and heap[up, 1] < rank):
                break
            heap[at, 0], heap[at, 1], heap[at, 2] = heap[up, 0], heap[up, 1], heap[up, 2]
            at = up
        heap[at, 0], heap[at, 1], heap[at, 2] = time, rank, stream
        state[HEAP] += 1
    traffic.last[stream] = slot


@inlined
def _take(traffic, stream):  # pragma: no cover
    """Remove the first request of the heap, which is of ``stream``."""
    heap, slots, state, slot = traffic.heap, traffic.slots, traffic.state, traffic.first[stream]
    later = slots[slot, 3]
    slots[slot, 3], state[SPARE] = state[SPARE], slot
    traffic.first[stream] = later
    if later >= 0:
        time, rank = slots[later, 0], slots[later, 2] * len(traffic.hops) + slots[later, 1]
        moved = stream
    else:
        state[HEAP] -= 1
        time, rank, moved = heap[state[HEAP], 0], heap[state[HEAP], 1], heap[state[HEAP], 2]
    size, at = state[HEAP], 0
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
    heap[at, 0], heap[at, 1], heap[at, 2] = time, rank, moved
