"""Messages of one hop each: one pass in program order yields every time.

All times are ticks.  A *queue* sends one message at a time, in program order: it is a
link, or the links of a node that share a channel.  Piece p of a message is number
``message * pieces + p``.
"""

from typing import Any

from numba import njit
from numpy.typing import NDArray

LIMIT = 1 << 62


@njit(cache=True, nogil=True)
def run_direct(
    link: NDArray[Any],
    queue: NDArray[Any],
    duration: NDArray[Any],
    latency: NDArray[Any],
    starts: NDArray[Any],
    need_start: NDArray[Any],
    needs: NDArray[Any],
    first: NDArray[Any],
    count: NDArray[Any],
    pieces: int,
    synchronous: bool,
    staggered: bool,
    free: NDArray[Any],
    busy: NDArray[Any],
    arrival: NDArray[Any],
) -> int:  # pragma: no cover
    """Run messages of one hop each.

    In program order no message waits for a later one, so one pass yields every time: a message
    starts once its queue is free and its dependencies have arrived, or with ``synchronous``
    once the previous round has ended.

    Args:
        link, queue, duration, latency, first, count: Arrays of int64, by message.
        starts, need_start, needs: As in `messages.Messages`.
        pieces: Number of pieces of every message; ``duration`` is that of one piece.
        staggered: Round r holds piece r - v of each message of level v, by level; else all of level
            r.
        free (array of int64, by queue): Zeros; holds when each queue was free last.
        busy (array of int64, by link): Zeros; holds for how long each link was busy.
        arrival (array of int64, messages * pieces): Holds when each piece arrived; may be empty if
            ``synchronous``.

    Returns:
        The last arrival, or -1 where a time passes `LIMIT`.
    """
    levels = len(starts) - 1
    rounds = levels + pieces - 1 if staggered else levels
    barrier = 0
    last = 0
    for turn in range(rounds):
        top = min(turn, levels - 1)
        low = max(0, turn - pieces + 1) if staggered else turn
        for level in range(low, top + 1):
            begin_piece = turn - level if staggered else 0
            end_piece = begin_piece + 1 if staggered else pieces
            for message in range(starts[level], starts[level + 1]):
                for piece in range(begin_piece, end_piece):
                    begin = max(barrier, free[queue[message]])
                    if not synchronous:
                        for at in range(need_start[message], need_start[message + 1]):
                            begin = max(
                                begin,
                                _there(arrival, needs[at], message, piece, pieces, first, count),
                            )
                    finish = begin + duration[message]
                    if finish > LIMIT - latency[message]:
                        return -1
                    arrived = finish + latency[message]
                    free[queue[message]] = finish
                    busy[link[message]] += duration[message]
                    last = max(last, arrived)
                    if not synchronous:
                        arrival[message * pieces + piece] = arrived
        if synchronous:
            barrier = last
    return last


@njit(cache=True, nogil=True, inline="always")
def _there(arrival, need, message, piece, pieces, first, count):  # pragma: no cover
    """Return when the part of ``need`` that this piece holds has arrived; 0 if it holds none.

    The piece covers chunks [begin, end) / pieces; piece q of ``need`` covers
    [first * pieces + q * count, ... + count) / pieces.  Pieces of one message arrive in
    order, so the last one that overlaps counts.
    """
    begin = first[message] * pieces + count[message] * piece
    end = begin + count[message]
    other = first[need] * pieces
    if end <= other or begin >= other + count[need] * pieces:
        return 0
    last = min(pieces - 1, (end - other - 1) // count[need])
    return arrival[need * pieces + last]
