"""Split a switch with equivalent neighbors as evenly and as widely as possible."""

from collections.abc import Container

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.schedules.trees import limits
from topoloom.schedules.trees.packing.spanning_trees import golden_order

_TURN = 64
"""The fixed cost of a portion, in visits."""


def even_shares(
    into: dict[int, int],
    onward: dict[int, int],
    portion: int,
    joined: Container[tuple[int, int]],
    only_new: bool = False,
) -> dict[tuple[int, int], int]:
    """Return the units to route past a switch, from each neighbor to each other neighbor.

    Args:
        into, onward: Units that neighbors have into the switch and out of it.
        portion: Shares are multiples of this where possible.  An arc with whole portions of k units
            never forces equal trees of one root apart.
        joined (container of (source, target)): Neighbors with an arc that does not use this switch.
        only_new: Exclude these pairs.

    Returns:
        (source, target) to units, within ``into`` and ``onward``.

    First equal shares for all pairs.  Then portions in rounds, to the target that the source
    reaches least so far, directly or over one more existing arc.  The ports of a host thus spread
    over all boxes, and trees need few hops.  Small portions are combined where rounds would take
    long.

    >>> even_shares(dict.fromkeys(range(3), 3), dict.fromkeys(range(3), 3), 1, set())
    {(0, 1): 1, (0, 2): 2, (1, 0): 2, (1, 2): 1, (2, 0): 1, (2, 1): 2}
    """
    nodes = sorted(into.keys() | onward.keys())
    room_in = np.array([into.get(node, 0) for node in nodes], dtype=np.int64)
    room_out = np.array([onward.get(node, 0) for node in nodes], dtype=np.int64)
    linked = np.array([[(u, t) in joined for t in nodes] for u in nodes], dtype=np.bool_)
    allowed = ~np.eye(len(nodes), dtype=np.bool_)
    if only_new:
        allowed &= ~linked
    shares = _equal_shares(room_in, room_out, allowed, portion)
    reach = linked.astype(np.int64) + np.eye(len(nodes), dtype=np.int64)
    turn = np.argsort(golden_order(len(nodes)))
    looks = int(room_in.sum()) // portion * (len(nodes) + _TURN)
    # A round assigns a whole portion, or exhausts one neighbor.
    portion *= max(1, -(-looks // limits.MAX_SPLITTING_VISITS))
    _hand_out(shares, room_in, room_out, allowed, reach, turn, portion)
    places = zip(*np.nonzero(shares), strict=True)
    return {(nodes[u], nodes[t]): int(shares[u, t]) for u, t in places}


def _equal_shares(
    room_in: NDArray[np.int64],
    room_out: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    portion: int,
) -> NDArray[np.int64]:
    """Give all open pairs equal whole portions while capacities last; updates the capacities."""
    shares = np.zeros(allowed.shape, np.int64)
    while True:
        pairs = allowed & (room_in > 0)[:, None] & (room_out > 0)[None, :]
        rows, columns = pairs.sum(axis=1), pairs.sum(axis=0)
        if not pairs.any():
            return shares
        least = min(
            (room_in[rows > 0] // rows[rows > 0]).min(),
            (room_out[columns > 0] // columns[columns > 0]).min(),
        )
        share = least // portion * portion
        if not share:
            return shares
        shares += share * pairs
        room_in -= share * rows
        room_out -= share * columns


@njit(cache=True, nogil=True)
def _hand_out(shares, room_in, room_out, allowed, reach, turn, portion):
    """Assign the rest in rounds of a portion per source; updates the capacities.

    ``turn`` orders the targets of a source that are covered equally.
    """
    count = len(room_in)
    covered = np.zeros((count, count), np.int64)
    waiting = room_in > 0
    while waiting.any():
        for u in range(count):
            if not waiting[u]:
                continue
            chosen, least = -1, np.int64(0)
            for t in range(count):
                worth = covered[u, t] * count + turn[(t - u) % count]
                if allowed[u, t] and room_out[t] and (chosen < 0 or worth < least):
                    chosen, least = t, worth
            if chosen < 0 or not room_in[u]:
                waiting[u] = False
                continue
            amount = min(portion, room_in[u], room_out[chosen])
            shares[u, chosen] += amount
            room_in[u] -= amount
            room_out[chosen] -= amount
            covered[u] += reach[chosen]
