"""Programs for an all-to-all by routes: received blocks, and forwarded blocks.

Every rank has a block for every other in `DATA`, in the order of ranks, and gets a block from each
in `OUTPUT`.  A block is cut at whole elements by the weights of its routes; its part k crosses the
i-th hop between ranks in round i, and lies in `RELAY` of the ranks between.  All routes run at
once, so a rank's relay has room for all data that it forwards.
"""

from collections import defaultdict
from itertools import pairwise
from typing import TypeAlias

from topoloom.schedules.errors import TooLarge
from topoloom.schedules.execute.limits import MAX_PIECES
from topoloom.schedules.execute.programs.rank_program import (
    DATA,
    OUTPUT,
    RELAY,
    Piece,
    Program,
    Transfer,
    Turn,
)
from topoloom.schedules.model.route_parts import route_parts
from topoloom.schedules.model.schedule import COPY, RouteSchedule

Sent: TypeAlias = dict[tuple[int, int, int], list[tuple[Piece, Piece]]]
"""By round, source and target: places of the data at both ends."""


def programs_of_routes(schedule: RouteSchedule, elements: int) -> tuple[Program, ...]:
    """Return the program of each rank for an all-to-all of ``elements`` per rank.

    Raises:
        InvalidSchedule: A route does not lead from one rank to another, or the weights of a pair's
            routes are too large.
        TooLarge: The routes have more than `limits.MAX_PIECES` hops.

    Blocks that are no whole number of elements are rounded as shards are: block j is elements
    [j E / N, (j + 1) E / N) of a rank's data.  The block from a rank has at most the size of the
    receiver's own block.  O(hops log hops).

    >>> from topoloom.schedules.model.schedule import Collective, Route
    >>> ways = ((0, 1), (0, 1, 2), (1, 2), (1, 2, 0), (2, 0), (2, 0, 1))
    >>> routes = tuple(Route(way, 1) for way in ways)
    >>> ring = RouteSchedule(Collective.ALL_TO_ALL, "sha256:0", (0, 1, 2), 1, routes)
    >>> [program.relay for program in programs_of_routes(ring, 6)]
    [2, 2, 2]
    """
    ranks, unit = len(schedule.ranks), schedule.units_per_pair
    sent: Sent = defaultdict(list)
    relay, hops = [0] * ranks, 0
    for stops, first, past in route_parts(schedule):
        hops += len(stops) - 1
        if hops > MAX_PIECES:
            raise TooLarge("/routes", f"must have at most {MAX_PIECES} hops in all")
        size = block_size(stops[-1], stops[0], ranks, elements)
        low, high = size * first // unit, size * past // unit
        if low < high:
            _follow(stops, (low, high), ranks, elements, relay, sent)
    return tuple(program_of_hops(at, sent, relay[at]) for at in range(ranks))


def block_size(target: int, source: int, ranks: int, elements: int) -> int:
    """Return the elements of the block from one rank to another, as many as fit at both ends."""
    sizes = (elements * (at + 1) // ranks - elements * at // ranks for at in (target, source))
    return min(sizes)


def _follow(
    stops: tuple[int, ...],
    part: tuple[int, int],
    ranks: int,
    elements: int,
    relay: list[int],
    sent: Sent,
) -> None:
    """Append the hops of one part of a block."""
    source, target = stops[0], stops[-1]
    low, high = part
    first = elements * target // ranks
    here = Piece(DATA, first + low, first + high, COPY)
    for number, (near, far) in enumerate(pairwise(stops)):
        if far == target:
            first = elements * source // ranks
            there = Piece(OUTPUT, first + low, first + high, COPY)
        else:
            there = Piece(RELAY, relay[far], relay[far] + high - low, COPY)
            relay[far] += high - low
        sent[number, near, far].append((here, there))
        here = there


def program_of_hops(rank: int, sent: Sent, relay: int) -> Program:
    """Return a rank's program for all hops; it forwards ``relay`` elements."""
    turns: dict[int, tuple[list[Transfer], list[Transfer]]] = {}
    for (number, source, target), pairs in sorted(sent.items()):
        if rank not in (source, target):
            continue
        sends, receives = turns.setdefault(number, ([], []))
        if rank == source:
            sends.append(Transfer(target, _joined([near for near, _ in pairs])))
        else:
            receives.append(Transfer(source, _joined([far for _, far in pairs])))
    made = ((number, Turn(tuple(out), tuple(back))) for number, (out, back) in turns.items())
    return Program(tuple(made), relay)


def _joined(pieces: list[Piece]) -> tuple[Piece, ...]:
    """Join pieces that are adjacent in a buffer."""
    found: list[Piece] = []
    for piece in pieces:
        if found and (found[-1].buffer, found[-1].past) == (piece.buffer, piece.first):
            found[-1] = found[-1]._replace(past=piece.past)
        else:
            found.append(piece)
    return tuple(found)
