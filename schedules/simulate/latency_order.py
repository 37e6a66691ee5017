"""The program order of messages where links have their own latencies.

By levels alone a message that comes over two short hops would wait, on a link that both take, for a
message of the level before that comes over one long hop.  So the level of a message is counted in
rounds of time instead: from the latencies on its way, and from one round of transmission for each
level.  With equal latencies this is the order of the levels.
"""

from fractions import Fraction

import numpy as np
from numba import njit

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.simulate.clock import MAX_TICKS, Network, raise_no_clock
from topoloom.schedules.simulate.messages import Ints, Messages


def link_seconds(messages: Messages, network: Network) -> tuple[Fraction, ...]:
    """Return the latency of every link, or the one latency of all hops.

    Raises:
        NoSchedule: The network leaves the latency to links that state none.
    """
    if network.alpha_seconds is not None:
        return (network.alpha_seconds,)
    if not messages.latencies:
        raise NoSchedule("/alpha_seconds", "must be given: the topology states no latencies")
    return messages.latencies


def in_order_of_latency(
    messages: Messages, latencies: Ints, durations: Ints, chunks: int
) -> tuple[Messages, Ints]:
    """Return the messages in their order with latencies, and the hops in their new order.

    Args:
        latencies, durations (arrays of int64, by hop): Ticks of the hop, and of one piece on the
            link.
        chunks: Number of pieces of every message.

    Let a be the least latency of a message, and D the longest sum of latencies along needs, at
    least h a for h levels.  A message at level v is due at the least of two times: v a and the
    latencies above a on its way; and D without the latencies from it to the end.  Both grow along
    needs by at least a latency, so without transmission no message leaves after it is due.

    All pieces occupy the busiest link for T, in R = h + P - 1 rounds of T / R.  A message that is
    due at L begins in round floor((L + v T / R) / (a + T / R)), which is v for equal latencies.
    Within a round messages are in order of L.  Where a and T are 0, the order is that of L and v.
    """
    paths = np.add.reduceat(np.append(latencies, 0), messages.hop_start[:-1])
    is_sent = np.diff(messages.hop_start) > 0
    paths[~is_sent] = 0
    levels = np.repeat(np.arange(len(messages.starts) - 1), np.diff(messages.starts))
    least = int(paths[is_sent].min(initial=MAX_TICKS)) if paths.any() else 0
    if 2 * len(messages.starts) * int(paths.max(initial=0)) > MAX_TICKS:
        raise_no_clock()
    due = _due(paths, levels, least, messages.need_start, messages.needs)
    turns = _turns(messages, levels, least, due, durations, chunks)
    order = np.lexsort((due, turns))
    hop_start, hops = _gathered(messages.hop_start, order)
    need_start, needs = _gathered(messages.need_start, order)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    ordered = messages._replace(
        units=[messages.units[at] for at in order.tolist()],
        hop_start=hop_start,
        hops=messages.hops[hops],
        starts=_starts(turns[order], chunks),
        need_start=need_start,
        needs=place[messages.needs[needs]],
        first_chunk=messages.first_chunk[order],
        chunk_count=messages.chunk_count[order],
        opens=messages.opens[order],
    )
    return ordered, hops


@njit(cache=True, nogil=True)
def _due(
    paths: Ints, levels: Ints, least: int, need_start: Ints, needs: Ints
) -> Ints:  # pragma: no cover
    """Return when each message is due without transmission, in ticks."""
    extra = np.zeros(len(paths), np.int64)
    rest = paths.copy()
    for message in range(len(paths)):
        for at in range(need_start[message], need_start[message + 1]):
            need = needs[at]
            extra[message] = max(extra[message], extra[need] + paths[need] - least)
    for message in range(len(paths) - 1, -1, -1):
        for at in range(need_start[message], need_start[message + 1]):
            need = needs[at]
            rest[need] = max(rest[need], paths[need] + rest[message])
    last = 0
    for message in range(len(paths)):
        last = max(last, rest[message], (levels[message] + 1) * least)
    return np.minimum(last - rest, levels * least + extra)


def _turns(
    messages: Messages, levels: Ints, least: int, due: Ints, durations: Ints, chunks: int
) -> Ints:
    """Return the round of the first piece of each message."""
    load = np.zeros(len(messages.capacities), np.int64)
    np.add.at(load, messages.hops, durations)
    rounds, busy = len(messages.starts) - 2 + chunks, chunks * int(load.max(initial=0))
    each = busy + rounds * least
    if not each:
        return np.unique(due, return_inverse=True)[1] * len(messages.starts) + levels
    if int(due.max(initial=0)) * rounds + int(levels.max(initial=0)) * busy <= MAX_TICKS:
        return (due * rounds + levels * busy) // each
    pairs = zip(due.tolist(), levels.tolist(), strict=True)
    return np.array([(late * rounds + level * busy) // each for late, level in pairs], np.int64)


def _gathered(starts: Ints, order: Ints) -> tuple[Ints, Ints]:
    """Return the starts of rows in another order, and the places of their entries before."""
    sizes = np.diff(starts)[order]
    found = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    return found, np.repeat(starts[:-1][order] - found[:-1], sizes) + np.arange(found[-1])


def _starts(turns: Ints, chunks: int) -> Ints:
    """Return the first message of each round, and one past the last; ``turns`` is sorted.

    A gap of more rounds than pieces changes nothing, and is closed.
    """
    gaps = np.minimum(np.diff(turns, prepend=turns[:1]), chunks)
    closed = np.cumsum(gaps)
    return np.searchsorted(closed, np.arange(closed.max(initial=-1) + 2))
